//! Waits between steps.

use std::time::Duration;

use serde_json::{Value, json};
use squall_base::units;

use crate::keys::{self, Chosen, Form, Key, Keys, Of, Quantity, Shape, Time, Union, record};
use crate::yaml::{Node, Reader};

/// A wait between steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Think {
    /// Always the same.
    Fixed(Duration),
    /// Evenly between two times.
    Uniform(Duration, Duration),
    /// Normal distribution, cut at 0.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean.
        mean: Duration,
    },
}

record! {
    /// A normal distribution, cut at 0.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Normal as "a normal distribution" {
        /// Mean.
        #[key(required)]
        pub mean: Duration,
        /// Standard deviation.
        #[key(required)]
        pub sd: Duration,
    }
}

impl Union for Think {
    fn variants() -> Vec<Think> {
        let zero = Duration::ZERO;
        vec![Think::Normal { mean: zero, sd: zero }, Think::Exponential { mean: zero }]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            Think::Normal { mean, sd } => {
                let mut normal = Normal { mean: *mean, sd: *sd };
                let about = "Times of a normal distribution, cut at 0.";
                keys.key::<Of<Normal>>(&mut normal, Key::required("normal", about));
                (*mean, *sd) = (normal.mean, normal.sd);
            }
            Think::Exponential { mean } => {
                let about = "Times of an exponential distribution with this mean.";
                keys.key::<Time>(mean, Key::required("exponential", about));
            }
            // These are written as a text: see `Wait`.
            Think::Fixed(_) | Think::Uniform(..) => {}
        }
    }
}

impl keys::Choice for Think {
    const TITLE: &'static str = "think";
}

/// A time, a range of times, or a distribution.
pub(crate) struct Wait;

impl Form for Wait {
    type Value = Think;
    fn shape() -> Shape {
        let range = Shape::Quantity(Quantity::Range);
        Shape::Either(vec![Time::shape(), range, Chosen::<Think>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Think> {
        if node.is_map() {
            return Chosen::<Think>::read(reader, node);
        }
        let text = reader.constant(node)?;
        let Some((from, to)) = text.value.split_once("..") else {
            return Time::read(reader, node).map(Think::Fixed);
        };
        let parse = |text: &str| units::parse_duration(text.trim());
        let (message, help) = match (parse(from), parse(to)) {
            (Ok(from), Ok(to)) if from <= to => return Some(Think::Uniform(from, to)),
            (Ok(_), Ok(_)) => {
                (format!("invalid range `{}`", text.value), "write the shorter time first: 1s..3s")
            }
            (Err(error), _) | (_, Err(error)) => (error.0, "write a range as 1s..3s"),
        };
        reader.error(text.span, message, help);
        None
    }
    fn print(value: &Think) -> Value {
        match value {
            Think::Fixed(time) => Time::print(time),
            Think::Uniform(from, to) => {
                json!(format!("{}..{}", units::print_duration(*from), units::print_duration(*to)))
            }
            other => Chosen::<Think>::print(other),
        }
    }
}

//! Waits between steps.

use std::time::Duration;

use serde_json::{Value, json};
use squall_base::units;

use super::kind::Kind;
use crate::keys::{self, Chosen, Form, Key, Keys, Of, Quantity, Shape, Time, Union, record};
use crate::nodes::{Node, Reader};
use crate::template::Template;

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

/// A wait as a step has it.
#[derive(Debug, Clone, PartialEq)]
pub enum Thinking {
    /// It stands in the plan.
    Known(Think),
    /// A time or a range of times with expressions, which each user evaluates when it comes there.
    OfUser(Template),
}

impl Default for Thinking {
    fn default() -> Self {
        Thinking::Known(Think::Fixed(Duration::ZERO))
    }
}

impl<S> Kind<S> for Thinking {}

impl Think {
    /// A time, or a range of times.
    ///
    /// # Errors
    /// It is neither: what is wrong, and what helps, if anything is known to.
    pub fn parse(text: &str) -> Result<Think, (String, &'static str)> {
        let parse = |text: &str| units::parse_duration(text.trim());
        let Some((from, to)) = text.split_once("..") else {
            let is_range = ["-", ",", " to "].iter().any(|between| text.contains(between));
            let help = if is_range { "write a range as 1s..3s" } else { "" };
            return parse(text).map(Think::Fixed).map_err(|error| (error.0, help));
        };
        match (parse(from), parse(to)) {
            (Ok(from), Ok(to)) if from <= to => Ok(Think::Uniform(from, to)),
            (Ok(_), Ok(_)) => {
                Err((format!("invalid range `{text}`"), "write the shorter time first: 1s..3s"))
            }
            (Err(error), _) | (_, Err(error)) => Err((error.0, "write a range as 1s..3s")),
        }
    }
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
    type Value = Thinking;
    fn shape() -> Shape {
        let range = Shape::Quantity(Quantity::Range);
        Shape::Either(vec![Time::shape(), range, Chosen::<Think>::shape()])
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Thinking> {
        if node.is_map() {
            return Chosen::<Think>::read(reader, node).map(Thinking::Known);
        }
        let text = reader.text(node)?;
        if text.value.contains("${") {
            return reader.good(Template::parse(&text.value, text.span)).map(Thinking::OfUser);
        }
        match Think::parse(&text.value) {
            Ok(think) => Some(Thinking::Known(think)),
            Err((message, help)) => {
                reader.error(text.span, message, help);
                None
            }
        }
    }
    fn print(value: &Thinking) -> Value {
        match value {
            Thinking::Known(Think::Fixed(time)) => Time::print(time),
            Thinking::Known(Think::Uniform(from, to)) => {
                json!(format!("{}..{}", units::print_duration(*from), units::print_duration(*to)))
            }
            Thinking::Known(other) => Chosen::<Think>::print(other),
            Thinking::OfUser(template) => json!(template.source()),
        }
    }
}

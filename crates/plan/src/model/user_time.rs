//! Times that a plan knows, or that each user makes from its variables.

use std::time::Duration;

use serde_json::{Value, json};

use crate::keys::{Form, Plain, Shape, Time};
use crate::nodes::{Node, Reader};
use crate::template::Template;

/// A time.
#[derive(Debug, Clone, PartialEq)]
pub enum UserTime {
    /// It stands in the plan.
    Known(Duration),
    /// It has expressions: what they come to is looked at when the plan is compiled, if it is known by then, and
    /// otherwise each time that a user needs it.
    OfUser(Template),
}

impl From<Duration> for UserTime {
    fn from(time: Duration) -> UserTime {
        UserTime::Known(time)
    }
}

/// The form of such a time.
pub(crate) struct TimeOfUser;

impl Form for TimeOfUser {
    type Value = UserTime;
    fn shape() -> Shape {
        Time::shape()
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<UserTime> {
        let text = reader.text(node)?;
        if !text.value.contains("${") {
            let time = Time::read(reader, node)?;
            if time.is_zero() {
                let message =
                    format!("a timeout of `{}` is over before anything is done", text.value);
                reader.error(text.span, message, "write a longer one, or leave it out");
            }
            return Some(UserTime::Known(time));
        }
        reader.good(Template::parse(&text.value, text.span)).map(UserTime::OfUser)
    }
    fn print(value: &UserTime) -> Value {
        match value {
            UserTime::Known(time) => Time::print(time),
            UserTime::OfUser(template) => json!(template.source()),
        }
    }
}

impl Plain for UserTime {
    type Form = TimeOfUser;
}

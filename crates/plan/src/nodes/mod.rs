//! What a plan's file holds: nodes with their places, and the reader that notes what is wrong with them. It knows no
//! key and no part of the model.

mod constants;
mod node;
mod quoting;
mod reader;
mod scalar;
mod suggest;

pub(crate) use self::node::Node;
pub(crate) use self::reader::{Reader, Spelling, UNINDENTED};
pub(crate) use self::suggest::as_variable;

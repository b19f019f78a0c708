//! What every crate writes and reads in the same way: quantities with units, chance that can be repeated,
//! hexadecimal, forms, references to characters, what may stand in URLs, lists of allowed hosts, dates. Pure; imports
//! nothing.

mod allow_list;
pub mod calendar;
mod escape;
pub mod form;
pub mod hex;
pub mod html;
pub mod random;
pub mod units;
pub mod uri;

pub use allow_list::AllowList;
pub use escape::{escape_control, escape_json, escape_lines};

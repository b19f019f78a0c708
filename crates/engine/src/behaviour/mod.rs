//! The behaviour of a virtual user: its program, run from where it stands to where it has to wait,
//! again and again. It says what it waits for, and neither the load nor the record knows how it came
//! to that.

mod choices;
mod drive;
mod groups;
mod join;
mod lanes;
mod look;
mod next;
mod operations;
mod others;
mod outcome;
mod resources;
mod stretch;
mod waits;
mod write;

pub(crate) use drive::start;

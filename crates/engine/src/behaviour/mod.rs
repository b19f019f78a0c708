//! The behaviour of virtual users: what decides on a user's steps ([`next::Behaviour`]) runs from where it stands to
//! where it has to wait, and says what for; the driver ([`drive`]) performs it. Neither the load nor the record, nor
//! the driver, knows how a behaviour came to what it asks for. [`program`] is the behaviour of a compiled plan.

mod drive;
mod due;
mod facts;
mod groups;
mod iterations;
mod join;
mod lanes;
mod next;
mod others;
mod outcome;
mod program;
mod requests;
mod resources;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use start::start;

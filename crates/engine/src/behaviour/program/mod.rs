//! A compiled program as a behaviour: a cursor in its operations.

mod choices;
mod interpreter;
mod look;
mod meetings;
mod operations;
mod waits;
mod write;

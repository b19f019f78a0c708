//! A compiled program as a behaviour: a cursor in its operations. What each kind of operation does is its
//! [`interpreter::Run`].

mod choices;
mod data;
mod groups;
mod interpreter;
mod look;
mod loops;
mod meetings;
mod notes;
mod samples;
mod stop;
mod waits;
mod write;

//! A compiled program as a behaviour: a cursor in its operations. What each kind of operation does is its
//! [`interpreter::Run`].

mod data;
mod flow;
mod groups;
mod interpreter;
mod look;
mod samples;
mod script;
mod waits;

//! Experiments whose runs are a script: what is decided when runs fail, when the experiment is interrupted wherever that may
//! be, and when it goes on. Nothing is started.

mod conduct;
mod prepare;
mod scripted;

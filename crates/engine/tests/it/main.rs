//! Whole runs of the engine against a real target: one binary for all, as each would be linked anew.

mod common;
mod endings;
mod own_files;
mod parts;
mod shares;

//! The transport against a real `nats-server`: `cargo nextest run -p squall-fleet --run-ignored only`, with the program on the
//! PATH or in SQUALL_NATS_SERVER. Not among the tests that need nothing but Rust.

mod node;
mod peer;
mod permissions;
mod refused;
mod transport;

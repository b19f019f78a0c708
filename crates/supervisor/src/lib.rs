//! Starts programs, and guarantees that whatever was started is ended and every setting of the kernel is put back: at the end, on
//! an error, when squall is interrupted, and when it is killed.
//!
//! A [`Supervisor`] is a process of its own, `squall supervise`, which is squall's own program. Its standard input is its
//! lifeline: when that ends, however squall may have ended, it ends everything that it has started. What a program leaves
//! behind becomes the supervisor's child (a subreaper), and is ended too. If the supervisor itself is killed, its programs are
//! killed by the kernel (a parent-death signal). squall then ends what these had started, which it knows by a mark in their
//! environment, and puts back the settings in the journal; if squall was killed too, the next supervisor of the same folder does.
//!
//! Linux only: elsewhere a supervisor cannot be started, and says so.

mod client;
mod cpus;
mod error;
mod find;
mod mark;
mod protocol;
#[cfg(target_os = "linux")]
mod server;
#[cfg(not(target_os = "linux"))]
#[path = "no_server.rs"]
mod server;

pub use client::Supervisor;
pub use cpus::CpuSet;
pub use error::Error;
pub use find::find_program;
pub use protocol::{COMMAND, End, Launch, ProgramId, Started};
pub use server::serve;

//! A page that shows a run while it goes on, and lets control it: what the live view in the terminal shows, in a browser;
//! and the runs of a folder with their reports.
//!
//! Who asks the server (`squall_serve`) must know a random token ([`access`]); no file but the reports of the
//! runs' folder is read ([`runs`]). What the page shows is made of what is known of the run ([`picture`], pure) and sent
//! as server-sent events ([`stream`]).

mod access;
mod address;
mod answer;
mod content;
mod ending;
mod page;
mod picture;
mod routes;
mod runs;
mod server;
mod stream;

pub use address::Address;
pub use content::Content;
pub use ending::Report;
pub use runs::Runs;
pub use server::Server;

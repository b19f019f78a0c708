//! A run as people and programs read it: text, JSON, a folder on disk. An output is a pure function
//! of a [`Run`], one file a format; the folder grows while the run goes on.

mod folder;
mod json;
mod limit;
mod live;
mod run;
mod text;
mod units;

pub use folder::{LoadError, RunFolder, load, new_folder};
pub use json::{SCHEMA, json};
pub use limit::{LIMIT_SCHEMA, limit_json, limit_text};
pub use live::{Live, live_line};
pub use run::{Generator, Meta, Run};
pub use text::text;

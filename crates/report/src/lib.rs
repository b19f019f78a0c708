//! A run as people and programs read it: text, JSON, a folder on disk. Each output is a pure function of
//! a [`Run`], one source file per format; only the folder and the [`Recording`] are written while the run
//! is in progress.

mod folder;
mod hlog;
mod json;
mod limit;
mod live;
mod recording;
mod run;
mod text;

pub use folder::{LoadError, RunFolder, load, new_folder};
pub use json::{SCHEMA, json, write_json};
pub use limit::{LIMIT_SCHEMA, level_text, limit_json, limit_text};
pub use live::{Live, live_line};
pub use recording::Recording;
pub use run::{Generator, Meta, Run, SectionResult};
pub use text::text;

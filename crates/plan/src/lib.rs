//! What a test is: the model, its YAML form, templates and expressions, validation. No network.

pub mod diagnostic;
pub mod expr;
pub mod feed_target;
pub mod files;
mod hoist;
mod json;
mod keys;
pub mod model;
mod monitors;
pub mod node_files;
mod nodes;
mod plan_files;
mod plan_secrets;
pub mod secrets;
mod series_selector;
pub mod span;
pub mod template;
mod validate;
pub mod value;
pub mod vars;
mod within_a_node;
pub mod yaml;

pub use plan_files::{FileName, FileUse};
pub use series_selector::SeriesSelector;
pub use within_a_node::holds_within_a_node;

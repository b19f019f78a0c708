//! Plans as YAML: reading with every error that can be found in one go, printing, and the schema.

mod experiment;
mod load;
mod load_shape;
mod print;
mod reference;
mod schema;

pub use self::experiment::{ExperimentErrors, LoadedExperiment, load_experiment, print_experiment};
pub use self::load::{Loaded, PlanErrors, finish, load_str, sort};
pub use self::load_shape::{print_load, read_load};
pub use self::print::{print, value};
pub use self::reference::reference;
pub use self::schema::{experiment_schema, schema};

#[cfg(test)]
mod tests;

//! Plans of Apache JMeter: read as they are, and what of them squall can run. Texts in, values out: no clock, and no
//! I/O but the files that a plan names and whose texts decide what it is. Imports the plan model alone.
//!
//! The way of a plan: XML (bounded, every node with its place), then typed elements
//! ([`Tree`]), then the [`inventory()`]: what each element is, and whether it is supported. Beside it, what a translation
//! into squall's plan model needs: texts split at their `${...}` ([`text`]), what is known before the run
//! ([`Constants`]), and which elements hold for which sampler ([`scope`]).

mod constants;
pub mod elements;
mod error;
pub mod functions;
pub mod inventory;
mod machine;
mod properties;
mod properties_file;
mod readable;
pub mod scope;
mod supported;
pub mod text;
mod translate;
mod tree;
mod xml;

pub use constants::Constants;
pub use error::ReadError;
pub use inventory::{Inventory, Reason, asked_properties, inventory};
pub use machine::Machine;
pub use properties::{Properties, Property, PropertyValue};
pub use properties_file::parse_properties;
pub use readable::simplify;
pub use supported::{Supported, translate_supported};
pub use translate::{Obstacle, Translation, TranslationContext, translate};
pub use tree::{Element, ElementId, Tree};

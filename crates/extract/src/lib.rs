//! Takes values out of responses: regular expressions, boundaries, JSON paths, CSS selectors and
//! XPath. Bytes in, values out: no I/O, no clock, no other squall crate.
//!
//! An [`Extractor`] is compiled once, before the run, and shared by all workers. A [`Documents`]
//! holds one body for all extractors and checks that look at it, so that it is parsed once.
//!
//! Bodies come from servers and may be hostile. Whatever they hold, a search ends after a bounded
//! number of steps, needs memory in proportion to the body, does not recurse deeper than a fixed
//! limit, and gives an [`ExtractError`] where it must give up.

mod between;
mod body;
mod charset;
mod cost;
mod css;
mod cursor;
mod documents;
mod error;
mod extractor;
mod found;
mod fuel;
mod json;
mod limits;
mod links;
mod markup;
mod media_type;
mod regex;
mod resources;
mod well_formed;
mod xpath;

pub use body::Body;
pub use charset::{Charset, decoded};
pub use cost::LONG_BODY;
pub use documents::Documents;
pub use error::{CompileError, ExtractError};
pub use extractor::{Extractor, Spec};
pub use found::{Found, Item, MatchChoice};
pub use limits::{JSON_VALUE_BYTES, Limits};
pub use links::{LINKS_LIMIT, Link};
pub use resources::{
    PageResources, RESOURCES_LIMIT, Resource, ResourceKind, page_cost_estimate, page_resources,
    style_cost_estimate, style_resources,
};

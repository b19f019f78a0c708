//! Tags: names with values, by which rows and metrics of the results are told apart.

use crate::keys::{Names, Templated};
use crate::span::Spanned;
use crate::template::Template;

/// Tags with their values. Those of requests, groups, scenarios and defaults are known before the run; those of
/// a metric may be values of the user.
pub type Tags = Vec<(Spanned<String>, Template)>;

/// Their form.
pub(crate) type Tagged = Names<Templated, true>;

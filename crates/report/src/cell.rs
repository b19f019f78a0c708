//! Columns of tables and what is in them, whatever form a table is written in.

use std::borrow::Cow;

/// What is said where Parquet is asked for, in a build that cannot write it ([`WRITES_PARQUET`]).
pub const NO_PARQUET: &str =
    "this build of squall writes no Parquet: write CSV, or build squall with `--features parquet`";
/// Whether this build writes Parquet.
pub const WRITES_PARQUET: bool = cfg!(feature = "parquet");

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// A whole number from 0.
    Count,
    Number,
    Text,
}

/// A value in a column. One that is not of the column's type counts as none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'c> {
    Empty,
    /// For [`Type::Count`] or [`Type::Number`].
    Count(u64),
    /// For [`Type::Number`].
    Number(f64),
    /// For [`Type::Text`].
    Text(Cow<'c, str>),
}

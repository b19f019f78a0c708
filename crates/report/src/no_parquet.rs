//! In the place of `parquet.rs` where the build is without it: a table that is never begun.

use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

use crate::cell::{Cell, NO_PARQUET, Type};

/// A Parquet file; there is none.
pub(crate) struct Table<W: Write + Send>(Infallible, PhantomData<W>);

impl<W: Write + Send> Table<W> {
    /// Begins no file.
    ///
    /// # Errors
    /// This build writes no Parquet.
    pub fn new(_: W, _: &[(&'static str, Type)]) -> io::Result<Table<W>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, NO_PARQUET))
    }

    /// Nothing has a row.
    pub fn add<'c>(&mut self, _: impl IntoIterator<Item = Cell<'c>>) -> io::Result<()> {
        match self.0 {}
    }

    pub fn finish(self) -> io::Result<()> {
        match self.0 {}
    }
}

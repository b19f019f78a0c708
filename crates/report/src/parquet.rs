//! Tables as Parquet, in groups of rows, so that memory does not grow with the number of rows.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type as Schema;

use crate::cell::{Cell, Type};

/// Rows of a group: with all columns some megabytes.
const GROUP_ROWS: usize = 16_384;

/// A Parquet file that is being written.
pub(crate) struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    /// Rows of the present group.
    rows: usize,
}

/// The cells of a column in the present group.
struct Column {
    /// 1 for each row that has a value, 0 for one that has none.
    levels: Vec<i16>,
    cells: Cells,
}

/// The values of a column that there are.
enum Cells {
    Count(Vec<i64>),
    Number(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl<W: Write + Send> Table<W> {
    /// Begins a file with these columns, of which a row may have none.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W, columns: &[(&'static str, Type)]) -> io::Result<Table<W>> {
        let gzip = Compression::GZIP(GzipLevel::default());
        let properties = WriterProperties::builder()
            .set_compression(gzip)
            .set_created_by(format!("squall version {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = schema(columns).map_err(other)?;
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties));
        let columns = columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(Table { file: file.map_err(other)?, columns, rows: 0 })
    }

    /// Adds a row: a cell for each column, in their order.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add<'c>(&mut self, row: impl IntoIterator<Item = Cell<'c>>) -> io::Result<()> {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            column.add(row.next().unwrap_or(Cell::Empty));
        }
        self.rows += 1;
        if self.rows < GROUP_ROWS { Ok(()) } else { self.write_group().map_err(other) }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_group().map_err(other)?;
        self.file.close().map(drop).map_err(other)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(&mut writer)?;
                writer.close()?;
            }
        }
        group.close().map(drop)
    }
}

impl Column {
    fn new(kind: Type) -> Column {
        let cells = match kind {
            Type::Count => Cells::Count(Vec::new()),
            Type::Number => Cells::Number(Vec::new()),
            Type::Text => Cells::Text(Vec::new()),
        };
        Column { levels: Vec::new(), cells }
    }

    fn add(&mut self, cell: Cell<'_>) {
        let is_there = match (&mut self.cells, cell) {
            // Larger ones are none that anything could have counted.
            (Cells::Count(cells), Cell::Count(count)) => {
                cells.push(i64::try_from(count).unwrap_or(i64::MAX));
                true
            }
            (Cells::Number(cells), Cell::Count(count)) => {
                cells.push(count as f64);
                true
            }
            (Cells::Number(cells), Cell::Number(number)) => {
                cells.push(number);
                true
            }
            (Cells::Text(cells), Cell::Text(text)) => {
                cells.push(ByteArray::from(text.as_ref()));
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(is_there));
    }

    /// Writes its cells, and has none after that.
    fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = std::mem::take(&mut self.levels);
        let levels = Some(levels.as_slice());
        match &mut self.cells {
            Cells::Count(cells) => {
                to.typed::<Int64Type>().write_batch(&std::mem::take(cells), levels, None)?
            }
            Cells::Number(cells) => {
                to.typed::<DoubleType>().write_batch(&std::mem::take(cells), levels, None)?
            }
            Cells::Text(cells) => {
                to.typed::<ByteArrayType>().write_batch(&std::mem::take(cells), levels, None)?
            }
        };
        Ok(())
    }
}

/// The columns, none of which every row has.
fn schema(columns: &[(&'static str, Type)]) -> Result<Schema, ParquetError> {
    let field = |(name, kind): &(&str, Type)| {
        let (physical, logical) = match kind {
            Type::Count => (Physical::INT64, None),
            Type::Number => (Physical::DOUBLE, None),
            Type::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Schema::primitive_type_builder(name, physical);
        let field = field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields: Result<Vec<_>, ParquetError> = columns.iter().map(field).collect();
    Schema::group_type_builder("squall").with_fields(fields?).build()
}

/// The error as one of writing: what the writer itself has met is told as it is.
fn other(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_as_it_is() {
        let mut table = Table::new(Disk(4), &[("a", Type::Count)]).expect("room for its beginning");
        table.add([Cell::Count(1)]).expect("nothing is written yet");
        let error = table.finish().expect_err("there is no room");
        assert_eq!(error.to_string(), io::Error::from(io::ErrorKind::StorageFull).to_string());
    }
}

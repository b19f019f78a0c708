//! Exports as Parquet: the columns of the table, each line a row, in groups of rows so that memory does not grow with
//! the run.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type as Schema;
use serde_json::Value;

use super::table::{COLUMNS, Type, value};

/// Rows of a group: with all columns some megabytes.
const GROUP_ROWS: usize = 16_384;

/// A Parquet file that is being written.
pub(super) struct Table<'w> {
    file: SerializedFileWriter<&'w mut (dyn Write + Send)>,
    columns: Vec<Column>,
    /// Rows of the present group.
    rows: usize,
}

/// The cells of a column in the present group.
struct Column {
    name: &'static str,
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

impl Table<'_> {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: &mut (dyn Write + Send)) -> io::Result<Table<'_>> {
        let gzip = Compression::GZIP(GzipLevel::default());
        let properties = WriterProperties::builder()
            .set_compression(gzip)
            .set_created_by(format!("squall version {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = schema().map_err(other)?;
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties));
        let columns = COLUMNS.iter().map(|(name, kind)| Column::new(name, *kind)).collect();
        Ok(Table { file: file.map_err(other)?, columns, rows: 0 })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, line: &Value) -> io::Result<()> {
        self.columns.iter_mut().for_each(|column| column.add(line));
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
    fn new(name: &'static str, kind: Type) -> Column {
        let cells = match kind {
            Type::Count => Cells::Count(Vec::new()),
            Type::Number => Cells::Number(Vec::new()),
            Type::Text => Cells::Text(Vec::new()),
        };
        Column { name, levels: Vec::new(), cells }
    }

    fn add(&mut self, line: &Value) {
        let value = value(line, self.name);
        let value = value.as_deref();
        let is_there = match &mut self.cells {
            Cells::Count(cells) => {
                let count = value.and_then(Value::as_u64);
                // Larger ones are none that anything could have counted.
                cells.extend(count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)));
                count.is_some()
            }
            Cells::Number(cells) => {
                let number = value.and_then(Value::as_f64);
                cells.extend(number);
                number.is_some()
            }
            Cells::Text(cells) => {
                let text = value.and_then(Value::as_str);
                cells.extend(text.map(ByteArray::from));
                text.is_some()
            }
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

/// The columns, none of which every line has.
fn schema() -> Result<Schema, ParquetError> {
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
    let fields: Result<Vec<_>, ParquetError> = COLUMNS.iter().map(field).collect();
    Schema::group_type_builder("squall").with_fields(fields?).build()
}

fn other(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

//! Parquet files.
use super::{Cell, Field, Kind, Table};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows per group, buffered in memory until the group is written: about 10 MB.
const GROUP_ROWS: usize = 100_000;

/// A Parquet table, written in row groups.
pub struct Parquet<W: Write + Send> {
    to: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

/// Buffered values of a column.
enum Column {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>),
    Number { present: Vec<i16>, values: Vec<f64> },
}

impl Column {
    fn new(kind: Kind) -> Column {
        match kind {
            Kind::Text => Column::Text(Vec::new()),
            Kind::Whole | Kind::Steady => Column::Whole(Vec::new()),
            Kind::Number => Column::Number { present: Vec::new(), values: Vec::new() },
        }
    }
    fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Column::Text(all), Cell::Text(text)) => all.push(ByteArray::from(*text)),
            (Column::Whole(all), Cell::Whole(number)) => all.push(i64::try_from(*number).unwrap_or(i64::MAX)),
            (Column::Number { present, values }, Cell::Number(number)) => {
                present.push(i16::from(number.is_some()));
                values.extend(number);
            }
            // Cells have the type of their column.
            _ => {}
        }
    }
    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        match self {
            Column::Text(all) => {
                column.typed::<ByteArrayType>().write_batch(all, None, None)?;
                all.clear();
            }
            Column::Whole(all) => {
                column.typed::<Int64Type>().write_batch(all, None, None)?;
                all.clear();
            }
            Column::Number { present, values } => {
                column.typed::<DoubleType>().write_batch(values, Some(present), None)?;
                present.clear();
                values.clear();
            }
        }
        column.close()
    }
}

impl<W: Write + Send> Parquet<W> {
    /// Creates a table with these columns.
    ///
    /// # Errors
    /// If the file cannot be started.
    pub fn new(to: W, fields: &[Field<'_>]) -> io::Result<Self> {
        let begin = || {
            let types: Vec<_> = fields.iter().map(|f| Ok(Arc::new(field(f)?))).collect::<Result<_>>()?;
            let schema = Type::group_type_builder("table").with_fields(types).build()?;
            let steady = fields.iter().filter(|field| field.kind == Kind::Steady);
            // Delta encoding needs no dictionary.
            let properties = steady.fold(WriterProperties::builder(), |builder, field| {
                let path = ColumnPath::from(field.name);
                builder
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            });
            let properties = properties.set_compression(Compression::SNAPPY).build();
            SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))
        };
        let file = begin().map_err(unwrapped)?;
        Ok(Parquet { to: file, columns: fields.iter().map(|f| Column::new(f.kind)).collect(), rows: 0 })
    }
    fn group(&mut self) -> Result<()> {
        let mut group = self.to.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        self.rows = 0;
        group.close()?;
        Ok(())
    }
}

impl<W: Write + Send> Table for Parquet<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        self.rows += 1;
        if self.rows < GROUP_ROWS { Ok(()) } else { self.group().map_err(unwrapped) }
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows > 0 {
            self.group().map_err(unwrapped)?;
        }
        self.to.close().map(drop).map_err(unwrapped)
    }
}

fn field(field: &Field<'_>) -> Result<Type> {
    let (physical, logical, repetition) = match field.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        Kind::Whole | Kind::Steady => (Physical::INT64, None, Repetition::REQUIRED),
        Kind::Number => (Physical::DOUBLE, None, Repetition::OPTIONAL),
    };
    Type::primitive_type_builder(field.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

/// The underlying I/O error, if any: a full disk, a closed pipe.
fn unwrapped(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(own) => *own,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

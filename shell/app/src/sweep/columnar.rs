//! The finished table as Parquet, for notebooks: texts for what was set, numbers for what came out.
use super::table::read_rows;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Turns the CSV of a sweep into Parquet. The first `texts` columns and the last are texts, the others numbers; an empty
/// value is a null.
///
/// # Errors
/// Reading, writing, or a value that is no number.
pub fn write_parquet(csv: &Path, to: &Path, texts: usize) -> Result<()> {
    let table = read_rows(csv)?;
    let (names, rows) = table.split_first().ok_or_else(|| ParquetError::General("an empty table".into()))?;
    let is_text = |column: usize| column < texts || column + 1 == names.len();
    let fields = names.iter().enumerate().map(|(at, name)| Ok(Arc::new(field(name, is_text(at))?)));
    let schema = Type::group_type_builder("sweep").with_fields(fields.collect::<Result<_>>()?).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(to)?, Arc::new(schema), properties)?;
    let mut group = writer.next_row_group()?;
    for column in 0..names.len() {
        let values: Vec<&str> = rows.iter().map(|row| row.get(column).map_or("", String::as_str)).collect();
        if is_text(column) { write_texts(&mut group, &values)? } else { write_numbers(&mut group, &values)? }
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn field(name: &str, is_text: bool) -> Result<Type> {
    let physical = if is_text { Physical::BYTE_ARRAY } else { Physical::DOUBLE };
    let logical = is_text.then_some(LogicalType::String);
    let repetition = if is_text { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

fn write_texts<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[&str],
) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let texts: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(*value)).collect();
    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
    column.close()
}

fn write_numbers<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[&str],
) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let present: Vec<i16> = values.iter().map(|value| i16::from(!value.is_empty())).collect();
    let number =
        |value: &&&str| value.parse::<f64>().map_err(|e| ParquetError::General(format!("\"{value}\": {e}")));
    let numbers = values.iter().filter(|value| !value.is_empty()).collect::<Vec<_>>();
    let numbers = numbers.iter().map(number).collect::<Result<Vec<f64>>>()?;
    column.typed::<DoubleType>().write_batch(&numbers, Some(&present), None)?;
    column.close()
}

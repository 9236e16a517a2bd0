//! Writes rows as Parquet, for notebooks: settings as text, results as numbers.
use crate::run::Row;
use crate::table::read_rows;
use fathom_store::table::{Cell, Field, Kind, Parquet, Table};
use std::fs::File;
use std::io::{self, Error, ErrorKind};
use std::num::ParseFloatError;
use std::path::Path;

/// Converts the CSV of a sweep to Parquet. The first `texts` columns and the last one are text, the
/// others numbers. An empty value becomes null.
///
/// # Errors
/// If reading or writing fails, or a value is not a number.
pub fn write_parquet(csv: &Path, to: &Path, texts: usize) -> io::Result<()> {
    let table = read_rows(csv)?;
    let (names, rows) = table.split_first().ok_or_else(|| invalid("an empty table"))?;
    let fields = fields(names, texts);
    let mut writer = Parquet::new(File::create(to)?, &fields)?;
    for row in rows {
        let value = |column: usize| row.get(column).map_or("", String::as_str);
        let cell = |(column, field): (usize, &Field<'_>)| match field.kind {
            Kind::Text => Ok(Cell::Text(value(column))),
            _ => number(value(column)),
        };
        writer.row(&fields.iter().enumerate().map(cell).collect::<io::Result<Vec<_>>>()?)?;
    }
    Box::new(writer).finish()
}

/// The fields of a table with these columns.
fn fields(names: &[String], texts: usize) -> Vec<Field<'_>> {
    let is_text = |column: usize| column < texts || column + 1 == names.len();
    let kind = |column| if is_text(column) { Kind::Text } else { Kind::Number };
    names.iter().enumerate().map(|(column, name)| Field { name, kind: kind(column) }).collect()
}

/// A Parquet file with these rows, as [`write_parquet`] writes them.
pub(crate) fn parquet_of(names: &[String], rows: &[Row]) -> io::Result<Vec<u8>> {
    let texts = rows.first().map_or(0, |row| row.key.len());
    let mut bytes = Vec::new();
    let mut writer = Parquet::new(&mut bytes, &fields(names, texts))?;
    for row in rows {
        let key = row.key.iter().map(|text| Cell::Text(text));
        let measured = row.measured.iter().map(|number| Cell::Number(*number));
        writer.row(&key.chain(measured).chain([Cell::Text(&row.digest)]).collect::<Vec<_>>())?;
    }
    Box::new(writer).finish()?;
    Ok(bytes)
}

fn number(value: &str) -> io::Result<Cell<'_>> {
    if value.is_empty() {
        return Ok(Cell::Number(None));
    }
    let number = value.parse().map_err(|error: ParseFloatError| invalid(&format!("\"{value}\": {error}")))?;
    Ok(Cell::Number(Some(number)))
}

fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

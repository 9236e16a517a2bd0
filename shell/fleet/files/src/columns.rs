//! Reads the columns of a table of windows.
use crate::window::Window;
use fathom_fleet_query::Span;
use fathom_units::WallTime;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum number of rows of a table: an hour of 10,000 series has 60,000.
const MAX_ROWS: i64 = 1_000_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// Passes the windows of a table that begin in a period to `take`. A table comes from a site, so
/// whatever it contains is only an error.
pub(crate) fn each_window(
    file: File,
    span: Span,
    take: &mut dyn FnMut(&Window<'_>),
) -> std::result::Result<(), String> {
    let read = catch_unwind(AssertUnwindSafe(|| read(file, span, take)));
    read.unwrap_or_else(|_| Err(ParquetError::General("damaged".to_owned())))
        .map_err(|error| error.to_string())
}

fn read(file: File, span: Span, take: &mut dyn FnMut(&Window<'_>)) -> Result<()> {
    let reader = SerializedFileReader::new(file)?;
    let rows = reader.metadata().file_metadata().num_rows();
    if !(0..=MAX_ROWS).contains(&rows) {
        return Err(ParquetError::General(format!("larger than the limit of {MAX_ROWS} rows")));
    }
    let names: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .iter()
        .map(|one| one.name().into())
        .collect();
    let place = |name: &str| {
        let found = names.iter().position(|known| known == name);
        found.ok_or_else(|| ParquetError::General(format!("has no {name}")))
    };
    let means = ["rtt_mean_s", "level_mean_bits_per_second", "level_mean_bytes"];
    let means = [place(means[0])?, place(means[1])?, place(means[2])?];
    let places = [place("target")?, place("probe")?, place("from_ms")?, place("rtt_p50_s")?];
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number)?;
        let group = group.as_ref();
        let (targets, probes) = (texts(group, places[0])?, texts(group, places[1])?);
        let (starts, p50s) = (wholes(group, places[2])?, numbers(group, places[3])?);
        let means = [numbers(group, means[0])?, numbers(group, means[1])?, numbers(group, means[2])?];
        let keys = targets.iter().zip(&probes).zip(&starts);
        for (row, key) in keys.enumerate() {
            let ((Some(name), Some(kind)), Some(start)) = key else { continue };
            let from_ms = u64::try_from(*start).unwrap_or_default();
            if span.has(WallTime(from_ms.saturating_mul(NANOS_PER_MILLI))) {
                let mean = means.iter().find_map(|column| column.get(row).copied().flatten());
                let rtt_p50_s = p50s.get(row).copied().flatten();
                let (target, probe) = (text(name)?, text(kind)?);
                take(&Window { target, probe, from_ms, rtt_p50_s, mean });
            }
        }
    }
    Ok(())
}

fn text(bytes: &ByteArray) -> Result<&str> {
    bytes.as_utf8()
}

fn texts(group: &dyn RowGroupReader, column: usize) -> Result<Vec<Option<ByteArray>>> {
    match group.get_column_reader(column)? {
        ColumnReader::ByteArrayColumnReader(reader) => values(group, column, reader),
        _ => Err(other_type(column)),
    }
}

fn wholes(group: &dyn RowGroupReader, column: usize) -> Result<Vec<Option<i64>>> {
    match group.get_column_reader(column)? {
        ColumnReader::Int64ColumnReader(reader) => values(group, column, reader),
        _ => Err(other_type(column)),
    }
}

fn numbers(group: &dyn RowGroupReader, column: usize) -> Result<Vec<Option<f64>>> {
    match group.get_column_reader(column)? {
        ColumnReader::DoubleColumnReader(reader) => {
            let all = values(group, column, reader)?;
            Ok(all.into_iter().map(|value| value.filter(|value| value.is_finite())).collect())
        }
        _ => Err(other_type(column)),
    }
}

fn other_type(column: usize) -> ParquetError {
    ParquetError::General(format!("column {column} has another type"))
}

/// All values of a column that is not nested.
fn values<T: DataType>(
    group: &dyn RowGroupReader,
    column: usize,
    mut reader: ColumnReaderImpl<T>,
) -> Result<Vec<Option<T::T>>> {
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default().min(MAX_ROWS as usize);
    let is_optional = group.metadata().column(column).column_descr().max_def_level() > 0;
    let (mut present, mut known): (Vec<i16>, Vec<T::T>) = (Vec::new(), Vec::new());
    loop {
        let (records, _, _) =
            reader.read_records(rows, is_optional.then_some(&mut present), None, &mut known)?;
        if records == 0 {
            break;
        }
    }
    if !is_optional {
        return Ok(known.into_iter().map(Some).collect());
    }
    let mut known = known.into_iter();
    Ok(present.iter().map(|level| if *level > 0 { known.next() } else { None }).collect())
}

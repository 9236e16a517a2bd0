//! Columns of a plot in binary, JSON and CSV.
use crate::past::Series;
use fathom_watch_samples::{Column, Unit};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Quantiles of the delays in each column. Keep in sync with `ui/src/watch/wire.ts`.
pub(crate) const SHARES: [(f64, &str); 9] = [
    (0.01, "p1"),
    (0.05, "p5"),
    (0.10, "p10"),
    (0.25, "p25"),
    (0.50, "median"),
    (0.75, "p75"),
    (0.90, "p90"),
    (0.95, "p95"),
    (0.99, "p99"),
];

/// `FSM1` in little-endian order.
const MAGIC: u32 = u32::from_le_bytes(*b"FSM1");
/// Code for a missing value.
const NONE: i16 = i16::MIN;
/// Code for zero, which has no logarithm.
const ZERO: i16 = i16::MIN + 1;
/// Code steps per factor of two: eight per bucket of the history, so that no precision is lost.
const PER_OCTAVE: f64 = 256.0;

/// Suffix of the keys of values in this unit.
pub(crate) fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::BitsPerSecond => "bits_per_second",
        Unit::Bytes => "bytes",
    }
}

/// Nanoseconds to seconds since 1970.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Minimum, quantiles, maximum.
fn values(column: &Column) -> impl Iterator<Item = Option<f64>> {
    let sketch = &column.sketch;
    let shares = SHARES.iter().map(move |(share, _)| sketch.quantile(*share));
    std::iter::once(sketch.min()).chain(shares).chain(std::iter::once(sketch.max()))
}

/// The value as a 16-bit code, rounded to 0.14 %.
pub(crate) fn code(value: Option<f64>) -> i16 {
    match value {
        None => NONE,
        Some(value) if value <= 0.0 => ZERO,
        // The cast from float to integer saturates; the two lowest codes are reserved.
        Some(value) => ((value.log2() * PER_OCTAVE).round() as i16).max(ZERO + 1),
    }
}

/// The value of a code.
pub(crate) fn value_of(code: i16) -> Option<f64> {
    match code {
        NONE => None,
        ZERO => Some(0.0),
        code => Some((f64::from(code) / PER_OCTAVE).exp2()),
    }
}

/// The requested column that a column of the store belongs to. The store moves edges by up to a
/// quarter of a column, and has wider columns where only rollups are left: those count where they
/// start.
pub(crate) fn place(column: &Column, from: u64, to: u64, count: usize) -> usize {
    let width = (to.saturating_sub(from) / count.max(1) as u64).max(1);
    let inside = column.to.0.saturating_sub(column.from.0).min(width) / 2;
    (column.from.0.saturating_add(inside).saturating_sub(from) / width) as usize
}

/// The requested columns, each merged from the store's columns that belong to it.
fn gridded(columns: Vec<Column>, from: u64, to: u64, count: usize) -> Vec<Column> {
    let mut grid: Vec<Column> = vec![Column::default(); count];
    for column in columns {
        if let Some(cell) = grid.get_mut(place(&column, from, to, count)) {
            cell.tally.merge(&column.tally);
            cell.sketch.merge(&column.sketch);
        }
    }
    grid
}

/// A saturating count: no column has more than 2^32 probes.
fn short(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Binary format for the page, little-endian: a header of 40 bytes, five arrays of u32 (sent,
/// answered, late, lost, failed) and eleven of i16 (minimum, the nine quantiles, maximum), each of
/// `count` values.
pub(crate) fn binary(unit: Unit, columns: Vec<Column>, from: u64, to: u64, count: usize) -> Vec<u8> {
    let held = columns.iter().map(|column| column.to.0.saturating_sub(column.from.0)).max().unwrap_or(0);
    let grid = gridded(columns, from, to, count);
    let mut bytes = Vec::with_capacity(40 + count * 42);
    for number in [MAGIC, short(count as u64), SHARES.len() as u32, unit as u32] {
        bytes.extend(number.to_le_bytes());
    }
    for moment in [from, to, held] {
        bytes.extend(seconds(moment).to_le_bytes());
    }
    let counts: [fn(&Column) -> u64; 5] =
        [|c| c.tally.sent, |c| c.tally.answered, |c| c.tally.late, |c| c.tally.lost, |c| c.tally.failed];
    for pick in counts {
        bytes.extend(grid.iter().flat_map(|column| short(pick(column)).to_le_bytes()));
    }
    let codes: Vec<Vec<i16>> = grid.iter().map(|column| values(column).map(code).collect()).collect();
    for place in 0..SHARES.len() + 2 {
        bytes.extend(codes.iter().flat_map(|of| of.get(place).copied().unwrap_or(NONE).to_le_bytes()));
    }
    bytes
}

/// Names of a column's values, in the order of [`figures`].
fn names(unit: Unit) -> Vec<String> {
    let counts = ["from_s", "to_s", "sent", "answered", "late", "lost", "failed", "duplicates", "reordered"];
    let values = std::iter::once("min").chain(SHARES.iter().map(|(_, name)| *name)).chain(["max"]);
    counts
        .into_iter()
        .map(str::to_owned)
        .chain(values.map(|name| format!("{name}_{}", suffix(unit))))
        .collect()
}

fn figures(column: &Column) -> Vec<Value> {
    let t = &column.tally;
    let counts = [t.sent, t.answered, t.late, t.lost, t.failed, t.duplicates, t.reordered];
    let edges = [column.from, column.to].map(|edge| json!(seconds(edge.0)));
    edges.into_iter().chain(counts.map(Value::from)).chain(values(column).map(Value::from)).collect()
}

fn is_filled(column: &&Column) -> bool {
    column.tally.sent + column.tally.failed > 0
}

/// Columns with probes, as JSON with named values.
pub(crate) fn as_json(series: &Series, columns: &[Column]) -> Vec<u8> {
    let names = names(series.unit);
    let rows: Vec<Value> = columns
        .iter()
        .filter(is_filled)
        .map(|column| Value::Object(names.iter().cloned().zip(figures(column)).collect::<Map<_, _>>()))
        .collect();
    let whole = json!({
        "series": series.id, "target": series.target, "probe": series.probe, "unit": series.unit.word(), "columns": rows,
    });
    format!("{whole}\n").into_bytes()
}

/// Columns with probes, as CSV.
pub(crate) fn as_csv(series: &Series, columns: &[Column]) -> Vec<u8> {
    let mut text = names(series.unit).join(",");
    text.push_str("\r\n");
    for column in columns.iter().filter(is_filled) {
        for (place, figure) in figures(column).iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            // Writing to a String cannot fail.
            let _ = if figure.is_null() { write!(text, "{comma}") } else { write!(text, "{comma}{figure}") };
        }
        text.push_str("\r\n");
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::WallTime;
    use fathom_watch_samples::{Sketch, Tally};

    fn column(from: u64, to: u64, values: &[f64]) -> Column {
        let mut sketch = Sketch::default();
        values.iter().for_each(|value| sketch.add_value(*value));
        let sent = values.len() as u64;
        Column {
            from: WallTime(from),
            to: WallTime(to),
            tally: Tally { sent, answered: sent, ..Tally::default() },
            sketch,
        }
    }

    #[test]
    fn a_code_is_within_a_fourteenth_of_a_percent() {
        assert_eq!((code(None), code(Some(0.0)), code(Some(1.0))), (NONE, ZERO, 0));
        for value in [1e-9, 1.4e-5, 0.0123, 1.0, 716.0, 4e10] {
            let back = value_of(code(Some(value))).unwrap();
            assert!((back / value - 1.0).abs() < 0.0014, "{value} came back as {back}");
        }
    }

    #[test]
    fn wider_columns_of_the_store_are_sent_once_at_their_start() {
        let bytes = binary(Unit::Seconds, vec![column(0, 4, &[0.5]), column(4, 8, &[0.25, 1.0])], 0, 8, 8);
        assert_eq!(bytes.len(), 40 + 8 * 42);
        let sent: Vec<u8> = bytes[40..72].chunks(4).map(|four| four[0]).collect();
        assert_eq!(sent, [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(bytes[32..40], 4e-9f64.to_le_bytes());
    }

    #[test]
    fn csv_omits_what_was_not_measured() {
        let series = Series { id: 1, target: "a".into(), probe: "icmp".into(), unit: Unit::Bytes };
        let text =
            as_csv(&series, &[column(0, 1_000_000_000, &[]), column(1_000_000_000, 2_000_000_000, &[0.0])]);
        let lines: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].starts_with("from_s,to_s,sent,") && lines[0].ends_with("p99_bytes,max_bytes"),
            "{}",
            lines[0]
        );
        assert_eq!(lines[1], "1.0,2.0,1,1,0,0,0,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0");
    }
}

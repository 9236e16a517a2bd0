//! Heatmap of hours by day, to show when the link is slow.
use crate::past::{Past, Series, unread};
use crate::range::Range;
use crate::smoke::{seconds, suffix};
use fathom_units::WallTime;
use fathom_watch_samples::Column;
use fathom_web::{Refusal, quoted};
use serde_json::{Value, json};

const HOUR_NS: u64 = 3_600 * 1_000_000_000;
/// Maximum number of hours, three years: no screen could show more.
const MAX_HOURS: u64 = 3 * 366 * 24;
/// Largest UTC offset of any time zone.
const MAX_OFFSET_S: i64 = 15 * 3_600;

/// The reader's UTC offset in seconds, positive east.
pub(crate) fn offset_of(text: Option<String>) -> Result<i64, Refusal> {
    let text = text.unwrap_or_else(|| "0".into());
    let parsed = text.parse::<i64>().ok().filter(|offset| offset.abs() <= MAX_OFFSET_S && offset % 900 == 0);
    parsed.ok_or_else(|| {
        Refusal::bad(format!(
            "utc_offset_s: invalid offset {} (expected multiples of 900 up to {MAX_OFFSET_S})",
            quoted(&text)
        ))
    })
}

/// One cell per hour: its day (since 1970) and hour in the reader's time zone, and the statistics.
pub(crate) fn hours(
    past: &mut dyn Past,
    series: &Series,
    range: Range,
    offset_s: i64,
) -> Result<Vec<u8>, Refusal> {
    let offset_ns = offset_s.saturating_mul(1_000_000_000);
    // Whole hours in the reader's time zone.
    let first = range.from.saturating_add_signed(offset_ns) / HOUR_NS;
    let last = range.to.saturating_add_signed(offset_ns).div_ceil(HOUR_NS);
    let count = last.saturating_sub(first);
    if count > MAX_HOURS {
        return Err(Refusal::bad(format!("the range has {count} hours, more than the limit of {MAX_HOURS}")));
    }
    let edge = |hour: u64| WallTime((hour * HOUR_NS).saturating_add_signed(offset_ns.saturating_neg()));
    let columns = past.columns(series.id, edge(first)..edge(last), count as usize).map_err(unread)?;
    let cells: Vec<Value> = columns
        .iter()
        .filter(|column| column.tally.sent > 0)
        .map(|column| cell(series, column, column.from.0.saturating_add_signed(offset_ns) / HOUR_NS))
        .collect();
    let whole = json!({ "series": series.id, "utc_offset_s": offset_s, "cells": cells });
    Ok(format!("{whole}\n").into_bytes())
}

fn cell(series: &Series, column: &Column, hour: u64) -> Value {
    let unit = suffix(series.unit);
    json!({
        "day": hour / 24, "hour": hour % 24, "from_s": seconds(column.from.0),
        "sent": column.tally.sent, "lost": column.tally.lost,
        format!("median_{unit}"): column.sketch.quantile(0.5),
        format!("p95_{unit}"): column.sketch.quantile(0.95),
        format!("max_{unit}"): column.sketch.max(),
    })
}

//! The last hours of all targets, for the small pictures of the overview.
use crate::api::Range;
use crate::past::{MOST_READERS, Past, Pool, unread};
use crate::reply::Refusal;
use crate::smoke::{code, place, seconds};
use fathom_history::Column;
use serde_json::{Value, json};

/// `FOV1`, read as little endian.
const MAGIC: u32 = u32::from_le_bytes(*b"FOV1");
/// Loss is told in ten-thousandths.
const PER_ONE: f64 = 10_000.0;

/// One series: per column the median, the most, and the share lost.
pub(crate) struct Spark {
    series: u32,
    columns: Vec<(Option<f64>, Option<f64>, Option<f64>)>,
}

/// Reads all series, shared among as many threads as there are readers.
pub(crate) fn sparks(
    pool: &Pool,
    first: &mut dyn Past,
    ids: &[u32],
    range: Range,
    count: usize,
) -> Result<Vec<Spark>, Refusal> {
    let part = ids.len().div_ceil(MOST_READERS).max(1);
    let (own, others) = ids.split_at(part.min(ids.len()));
    std::thread::scope(|scope| {
        let helped: Vec<_> = others
            .chunks(part)
            .map(|some| scope.spawn(move || pool.run(|past| read(past, some, range, count))))
            .collect();
        let mut all = read(first, own, range, count)?;
        for thread in helped {
            all.extend(thread.join().unwrap_or_else(|_| Err(unread("a query was broken off".into())))?);
        }
        Ok(all)
    })
}

fn read(past: &mut dyn Past, ids: &[u32], range: Range, count: usize) -> Result<Vec<Spark>, Refusal> {
    let (from, to) = range.walls();
    let all = past.overview(ids, from, to, count).map_err(unread)?;
    Ok(ids.iter().zip(all).map(|(id, columns)| spark(*id, &columns, range, count)).collect())
}

fn spark(series: u32, found: &[Column], range: Range, count: usize) -> Spark {
    let mut columns = vec![(None, None, None); count];
    for column in found {
        if let Some(cell) = columns.get_mut(place(column, range.from, range.to, count)) {
            *cell = (column.sketch.quantile(0.5), column.sketch.max(), column.tally.loss_ratio());
        }
    }
    Spark { series, columns }
}

/// A head of 32 bytes (magic, series, columns, 0, from, to), the series' numbers as u32, and of each series three arrays of i16:
/// codes of the medians, codes of the most, loss in ten-thousandths or -1; all little endian.
pub(crate) fn binary(sparks: &[Spark], range: Range, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32 + sparks.len() * (4 + 6 * count));
    for number in [MAGIC, sparks.len() as u32, count as u32, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([range.from, range.to].into_iter().flat_map(|moment| seconds(moment).to_le_bytes()));
    bytes.extend(sparks.iter().flat_map(|spark| spark.series.to_le_bytes()));
    for spark in sparks {
        bytes.extend(spark.columns.iter().flat_map(|(median, _, _)| code(*median).to_le_bytes()));
        bytes.extend(spark.columns.iter().flat_map(|(_, most, _)| code(*most).to_le_bytes()));
        let loss = |ratio: Option<f64>| ratio.map_or(-1, |ratio| (ratio * PER_ONE).ceil() as i16);
        bytes.extend(spark.columns.iter().flat_map(|(_, _, lost)| loss(*lost).to_le_bytes()));
    }
    bytes
}

pub(crate) fn as_json(sparks: &[Spark], range: Range) -> Vec<u8> {
    let row = |spark: &Spark| -> Value {
        let (median, most, lost): (Vec<_>, Vec<_>, Vec<_>) = spark.columns.iter().copied().collect();
        json!({ "series": spark.series, "median_s": median, "max_s": most, "loss_ratio": lost })
    };
    let rows: Vec<Value> = sparks.iter().map(row).collect();
    let whole = json!({ "from_s": seconds(range.from), "to_s": seconds(range.to), "rows": rows });
    format!("{whole}\n").into_bytes()
}

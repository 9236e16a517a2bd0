//! The last hours of all targets, for the sparklines of the overview.
use crate::past::{MAX_READERS, Past, Readers, unread};
use crate::range::Range;
use crate::smoke::{code, place, seconds, value_of};
use fathom_watch_samples::Column;
use fathom_web::Refusal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Columns that the page requests (a day in columns of ten minutes, which the history stores). Keep
/// in sync with `ui/src/watch/overview.ts`.
pub(crate) const PAGE_COLUMNS: u64 = 144;
pub(crate) const PAGE_WIDTH_NS: u64 = 600 * 1_000_000_000;

/// `FOV1` in little-endian order.
const MAGIC: u32 = u32::from_le_bytes(*b"FOV1");
/// Loss is encoded in ten-thousandths.
const PER_ONE: f64 = 10_000.0;
/// Maximum number of cached cells, at 6 bytes each.
const MAX_CACHED_CELLS: usize = 20_000_000;

/// Codes of median and maximum, and loss in ten-thousandths (-1 if nothing was sent).
type Cell = [i16; 3];
const EMPTY: Cell = [i16::MIN, i16::MIN, -1];

/// Cache of columns that no longer change, of all series: reloading a page reads only the newest
/// columns.
#[derive(Default)]
pub(crate) struct OverviewCache {
    width: u64,
    /// Column numbers since 1970: the first one, and the first that may still change.
    first: u64,
    settled: u64,
    rows: BTreeMap<u32, Vec<Cell>>,
}

/// Sparkline of a series: one cell per column.
pub(crate) struct Spark {
    series: u32,
    cells: Vec<Cell>,
}

/// Parameters of a request.
pub(crate) struct Wanted {
    pub(crate) ids: Vec<u32>,
    /// Whether all series are requested. A request for some of them does not evict the others.
    pub(crate) is_whole: bool,
    pub(crate) range: Range,
    pub(crate) count: usize,
    /// Data before this time no longer changes.
    pub(crate) settled_ns: u64,
}

impl Wanted {
    fn width(&self) -> u64 {
        ((self.range.to - self.range.from) / self.count.max(1) as u64).max(1)
    }
    /// Number of the first column, if columns are aligned to multiples of their width.
    fn aligned(&self) -> Option<u64> {
        let width = self.width();
        let whole = self.range.from.is_multiple_of(width)
            && self.range.to == self.range.from + width * self.count as u64;
        whole.then(|| self.range.from / width)
    }
}

/// Reads the cells that are not cached.
pub(crate) fn sparks(
    cache: &mut OverviewCache,
    readers: &Readers<'_>,
    first: &mut dyn Past,
    wanted: &Wanted,
) -> Result<Vec<Spark>, Refusal> {
    let Some(start) = wanted.aligned() else {
        let rows = read_all(readers, first, wanted, wanted.range, wanted.count)?;
        return Ok(wanted.ids.iter().zip(rows).map(|(id, cells)| Spark { series: *id, cells }).collect());
    };
    let width = wanted.width();
    let fits = cache.width == width
        && (cache.first..=cache.settled).contains(&start)
        && wanted.ids.iter().all(|id| cache.rows.contains_key(id));
    let known = if fits { cache.settled.min(start + wanted.count as u64) } else { start };
    let newer = Range { from: known * width, to: wanted.range.to };
    let count = wanted.count - (known - start) as usize;
    let new = if count > 0 {
        read_all(readers, first, wanted, newer, count)?
    } else {
        vec![Vec::new(); wanted.ids.len()]
    };
    let (from, until) =
        if fits { ((start - cache.first) as usize, (known - cache.first) as usize) } else { (0, 0) };
    let mut sparks = Vec::with_capacity(wanted.ids.len());
    for (id, cells) in wanted.ids.iter().zip(new) {
        let old = cache.rows.get(id).and_then(|row| row.get(from..until)).unwrap_or_default();
        sparks.push(Spark { series: *id, cells: [old, &cells].concat() });
    }
    store(cache, &sparks, (width, start), wanted);
    Ok(sparks)
}

fn store(cache: &mut OverviewCache, sparks: &[Spark], (width, start): (u64, u64), wanted: &Wanted) {
    if !wanted.is_whole || sparks.len().saturating_mul(wanted.count) > MAX_CACHED_CELLS {
        return;
    }
    let settled = (wanted.settled_ns / width).clamp(start, start + wanted.count as u64);
    let rows = sparks.iter().map(|spark| (spark.series, spark.cells.clone())).collect();
    *cache = OverviewCache { width, first: start, settled, rows };
}

/// Divides the work among the readers.
fn read_all(
    readers: &Readers<'_>,
    first: &mut dyn Past,
    wanted: &Wanted,
    range: Range,
    count: usize,
) -> Result<Vec<Vec<Cell>>, Refusal> {
    let ids = &wanted.ids;
    let part = ids.len().div_ceil(MAX_READERS).max(1);
    let (own, others) = ids.split_at(part.min(ids.len()));
    std::thread::scope(|scope| {
        let helped: Vec<_> = others
            .chunks(part)
            .map(|some| scope.spawn(move || readers.run(|past| read(past, some, range, count))))
            .collect();
        let mut all = read(first, own, range, count)?;
        for thread in helped {
            all.extend(thread.join().unwrap_or_else(|_| Err(unread("a query was aborted".into())))?);
        }
        Ok(all)
    })
}

fn read(past: &mut dyn Past, ids: &[u32], range: Range, count: usize) -> Result<Vec<Vec<Cell>>, Refusal> {
    let all = past.overview(ids, range.walls(), count).map_err(unread)?;
    Ok(all.iter().map(|columns| cells_of(columns, range, count)).collect())
}

fn cells_of(found: &[Column], range: Range, count: usize) -> Vec<Cell> {
    let mut cells = vec![EMPTY; count];
    for column in found {
        if let Some(cell) = cells.get_mut(place(column, range.from, range.to, count)) {
            let lost = column.tally.loss_ratio().map_or(-1, |ratio| (ratio * PER_ONE).ceil() as i16);
            *cell = [code(column.sketch.quantile(0.5)), code(column.sketch.max()), lost];
        }
    }
    cells
}

/// Binary format, little-endian: a header of 32 bytes (magic, series, columns, 0, from, to), the
/// series numbers as u32, and for each series three arrays of i16: codes of the medians, codes of
/// the maxima, loss in ten-thousandths or -1.
pub(crate) fn binary(sparks: &[Spark], range: Range, count: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32 + sparks.len() * (4 + 6 * count));
    for number in [MAGIC, sparks.len() as u32, count as u32, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([range.from, range.to].into_iter().flat_map(|moment| seconds(moment).to_le_bytes()));
    bytes.extend(sparks.iter().flat_map(|spark| spark.series.to_le_bytes()));
    for spark in sparks {
        for part in 0..3 {
            bytes.extend(spark.cells.iter().flat_map(|cell| cell[part].to_le_bytes()));
        }
    }
    bytes
}

pub(crate) fn as_json(sparks: &[Spark], range: Range) -> Vec<u8> {
    let row = |spark: &Spark| -> Value {
        let values =
            |part: usize| -> Vec<_> { spark.cells.iter().map(|cell| value_of(cell[part])).collect() };
        let lost = |cell: &Cell| (cell[2] >= 0).then(|| f64::from(cell[2]) / PER_ONE);
        let lost: Vec<_> = spark.cells.iter().map(lost).collect();
        json!({ "series": spark.series, "median_s": values(0), "max_s": values(1), "loss_ratio": lost })
    };
    let rows: Vec<Value> = sparks.iter().map(row).collect();
    let whole = json!({ "from_s": seconds(range.from), "to_s": seconds(range.to), "rows": rows });
    format!("{whole}\n").into_bytes()
}

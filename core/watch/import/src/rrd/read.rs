//! Parses a database into its archives.
use crate::rrd::error::RrdError;
use crate::rrd::layout::{COOKIE, Layout, PARAMETER};
use alloc::string::String;
use alloc::vec::Vec;

/// Upper limit of sources and archives: a larger count means corrupt data.
const MAX_COUNT: u64 = 100_000;

/// A round-robin database.
#[derive(Clone, Debug)]
pub struct Rrd<'b> {
    /// Format version: 1, 3, 4 or 5.
    pub version: u32,
    /// Layout of the machine that wrote it.
    pub layout: Layout,
    /// Seconds per step.
    pub step_s: u64,
    /// Last update, in seconds since 1970-01-01 UTC.
    pub updated_s: u64,
    /// The data sources.
    pub sources: Vec<Source>,
    /// The archives, each with its own resolution and period.
    pub archives: Vec<Archive>,
    bytes: &'b [u8],
}

/// A data source: one value of each row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Name.
    pub name: String,
    /// Type: `GAUGE`, `COUNTER`, ...
    pub kind: String,
}

/// An archive: rows of one resolution.
#[derive(Clone, PartialEq, Debug)]
pub struct Archive {
    /// Consolidation function: `AVERAGE`, `MIN`, `MAX`, ...
    pub function: String,
    /// Steps per row.
    pub steps: u64,
    /// Share of the steps that may be unknown.
    pub unknown_ratio: f64,
    /// Number of rows.
    pub rows: usize,
    /// Index of the newest row.
    newest: usize,
    /// Byte offset of the first row.
    at: usize,
}

/// The values of one period.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// End of the period, in seconds since 1970-01-01 UTC.
    pub end_s: u64,
    /// One value per source; NaN if unknown.
    pub values: Vec<f64>,
}

/// Parses a database.
///
/// # Errors
/// If the file is not a database, is damaged, or was written by an unknown machine.
pub fn read(bytes: &[u8]) -> Result<Rrd<'_>, RrdError> {
    if bytes.get(..4) != Some(b"RRD\0") {
        return Err(RrdError::NotRrd);
    }
    let version = version(bytes)?;
    let has_cookie =
        |l: &Layout| l.double(bytes, l.cookie_at()).is_some_and(|d| d.to_bits() == COOKIE.to_bits());
    let layouts: Vec<Layout> = Layout::ALL.into_iter().filter(has_cookie).collect();
    if layouts.is_empty() {
        return Err(if has_swapped_halves(bytes) {
            RrdError::Foreign("doubles of ARM's old FPA")
        } else {
            RrdError::Machine
        });
    }
    let mut wanted = Vec::new();
    for layout in layouts {
        let Some((rrd, size)) = heads(bytes, version, layout) else { continue };
        if size == bytes.len() as u64 {
            return sound(rrd);
        }
        wanted.push((layout, size));
    }
    Err(RrdError::Size { bytes: bytes.len(), wanted })
}

fn version(bytes: &[u8]) -> Result<u32, RrdError> {
    let text = bytes.get(4..8).unwrap_or_default();
    match text {
        b"0001" => Ok(1),
        b"0003" => Ok(3),
        b"0004" => Ok(4),
        b"0005" => Ok(5),
        other => Err(RrdError::Version(String::from_utf8_lossy(other).into_owned())),
    }
}

/// Detects a double stored as two halves in swapped order.
fn has_swapped_halves(bytes: &[u8]) -> bool {
    let little = COOKIE.to_le_bytes();
    let (low, high) = little.split_at(4);
    [12, 16]
        .into_iter()
        .any(|at| bytes.get(at..at + 4) == Some(high) && bytes.get(at + 4..at + 8) == Some(low))
}

/// Parses everything before the rows and calculates the required file size. `None` if the file
/// cannot have this layout.
fn heads(bytes: &[u8], version: u32, layout: Layout) -> Option<(Rrd<'_>, u64)> {
    let count = |n: usize| layout.number(bytes, layout.counts_at() + n * layout.long, layout.long);
    let (sources, archives, step_s) = (count(0)?, count(1)?, count(2)?);
    if !(1..=MAX_COUNT).contains(&sources)
        || !(1..=MAX_COUNT).contains(&archives)
        || step_s == 0
        || step_s > u64::from(u32::MAX)
    {
        return None;
    }
    let (ds, rras) = (sources as usize, archives as usize);
    let sources_at = layout.head();
    let archives_at = sources_at + ds * layout.source();
    let live_at = archives_at + rras * layout.archive();
    let prepared_at = live_at + layout.live(version);
    let newest_at = prepared_at + ds * layout.prepared_source() + ds * rras * Layout::prepared_archive();
    let rows_at = newest_at + rras * layout.long;
    // Checked before any allocation, so that a forged count takes no memory.
    if rows_at > bytes.len() {
        return None;
    }
    let mut rrd = Rrd {
        version,
        layout,
        step_s,
        updated_s: layout.number(bytes, live_at, layout.time)?,
        sources: (0..ds).map_while(|n| source(bytes, sources_at + n * layout.source())).collect(),
        archives: Vec::with_capacity(rras),
        bytes,
    };
    let mut at = rows_at as u64;
    for n in 0..rras {
        let newest = layout.number(bytes, newest_at + n * layout.long, layout.long)?;
        let (archive, rows) = archive(bytes, layout, archives_at + n * layout.archive(), (at, newest))?;
        rrd.archives.push(archive);
        at = rows.checked_mul(sources)?.checked_mul(8)?.checked_add(at)?;
    }
    Some((rrd, at))
}

fn source(bytes: &[u8], at: usize) -> Option<Source> {
    Some(Source { name: letters(bytes, at)?, kind: letters(bytes, at + 20)? })
}

fn archive(bytes: &[u8], layout: Layout, at: usize, (rows_at, newest): (u64, u64)) -> Option<(Archive, u64)> {
    let count =
        |n: usize| layout.number(bytes, at + layout.archive_counts_at() + n * layout.long, layout.long);
    let (rows, steps) = (count(0)?, count(1)?);
    // The first parameter of consolidating functions; other functions store something else there,
    // which is not used.
    let unknown_ratio = layout.double(bytes, at + layout.archive() - 10 * PARAMETER)?;
    let usable = (1..=u64::from(u32::MAX)).contains(&steps);
    let archive = Archive {
        function: letters(bytes, at)?,
        steps,
        unknown_ratio,
        rows: usize::try_from(rows).ok()?,
        newest: usize::try_from(newest).ok()?,
        at: usize::try_from(rows_at).ok()?,
    };
    usable.then_some((archive, rows))
}

/// A string of at most 20 characters, terminated by a zero byte.
fn letters(bytes: &[u8], at: usize) -> Option<String> {
    let field = bytes.get(at..at + 20)?;
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).into_owned())
}

fn sound(rrd: Rrd<'_>) -> Result<Rrd<'_>, RrdError> {
    let outside = rrd.archives.iter().enumerate().find(|(_, a)| a.rows > 0 && a.newest >= a.rows);
    match outside {
        Some((archive, a)) => Err(RrdError::Row { archive, row: a.newest as u64, rows: a.rows as u64 }),
        None => Ok(rrd),
    }
}

impl Rrd<'_> {
    /// Index of a source.
    pub fn source(&self, name: &str) -> Option<usize> {
        self.sources.iter().position(|source| source.name == name)
    }
    /// The rows of an archive, oldest first.
    pub fn rows<'a>(&'a self, archive: &'a Archive) -> impl DoubleEndedIterator<Item = Row> + 'a {
        let width_s = self.step_s.saturating_mul(archive.steps);
        let newest_end_s = self.updated_s / width_s * width_s;
        (0..archive.rows).filter_map(move |age| {
            let back = (archive.rows - 1 - age) as u64;
            let end_s = newest_end_s.checked_sub(back.checked_mul(width_s)?)?;
            let place = (archive.newest + 1 + age) % archive.rows;
            let at = archive.at + place * self.sources.len() * 8;
            let values = (0..self.sources.len()).map_while(|n| self.layout.double(self.bytes, at + n * 8));
            Some(Row { end_s, values: values.collect() })
        })
    }
}

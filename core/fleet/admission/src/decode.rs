//! Requests of remote-write, read strictly: a field that is not checked here is refused, because
//! the engine receives the same bytes.
use crate::{Points, Series, write1, write2};
use core::fmt;

/// Version of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// `prometheus.WriteRequest`.
    V1,
    /// `io.prometheus.write.v2.Request`.
    V2,
}

/// What a whole request has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Totals {
    /// Series; the same one may occur several times.
    pub series: u64,
    /// Samples, histograms and times of all.
    pub points: Points,
}

/// What is wrong with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// A length is beyond the end.
    Truncated,
    /// An unknown or repeated field, or an invalid number.
    Field,
    /// Text that is not UTF-8.
    Utf8,
    /// A reference to a string that does not exist.
    Symbol,
    /// The first string is not empty, or there are too many.
    Symbols,
    /// Labels that are not in the order of their names.
    Unsorted,
    /// Two labels with the same name.
    Duplicate,
    /// The name or value of a label is empty, invalid or too long.
    Label,
    /// Too many labels.
    Labels,
    /// No point, or one with an invalid time.
    Time,
    /// Exemplars.
    Exemplar,
    /// A histogram whose spans and buckets do not agree.
    Histogram,
}

/// Why a request could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// Number of the series, from 1; 0 for the request itself.
    pub series: u64,
    /// What is wrong.
    pub why: Why,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid remote-write request: ")?;
        if self.series > 0 {
            write!(f, "series {}: ", self.series)?;
        }
        f.write_str(match self.why {
            Why::Truncated => "truncated",
            Why::Field => "unknown field",
            Why::Utf8 => "UTF-8",
            Why::Symbol => "symbol",
            Why::Symbols => "symbols",
            Why::Unsorted => "label order",
            Why::Duplicate => "duplicate label",
            Why::Label => "label",
            Why::Labels => "labels",
            Why::Time => "time",
            Why::Exemplar => "exemplar",
            Why::Histogram => "histogram",
        })
    }
}

impl core::error::Error for DecodeError {}

/// Reads a request, without its compression, and calls `each` for each series. Nothing is allocated
/// per point.
///
/// # Errors
/// The first thing that is wrong, or what `each` returned.
pub fn walk<'a, E: From<DecodeError>>(
    version: Version,
    body: &'a [u8],
    mut each: impl FnMut(&Series<'_, 'a>) -> Result<(), E>,
) -> Result<Totals, E> {
    let mut totals = Totals::default();
    let mut take = |series: &Series<'_, 'a>| {
        totals.series += 1;
        totals.points.add(&series.points);
        each(series)
    };
    match version {
        Version::V1 => write1::walk(body, &mut take)?,
        Version::V2 => write2::walk(body, &mut take)?,
    }
    Ok(totals)
}

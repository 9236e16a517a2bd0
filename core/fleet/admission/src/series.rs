//! One series of a request.
use crate::names::is_label_name;
use crate::wire::{Fields, Once, Value};
use crate::{DecodeError, Why, histogram};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Maximum number of labels: ten of Fathom, `site`, and those with which the site was enrolled.
const MAX_LABELS: usize = 32;
/// Maximum length of a label's name and value.
const MAX_NAME_BYTES: usize = 128;
const MAX_VALUE_BYTES: usize = 1_024;
/// Maximum length of a series in a message for people.
const MAX_SHOWN: usize = 200;
/// What a sample takes; a histogram counts as so many samples as its bytes.
const BYTES_PER_SAMPLE: u64 = 16;

/// Samples and histograms, with their times.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Points {
    /// Samples.
    pub samples: u64,
    /// Native histograms.
    pub histograms: u64,
    /// What counts against the limit: 1 per sample, and 1 per 16 bytes of a histogram.
    pub cost: u64,
    /// Times of the first and the last point or start, in milliseconds since 1970-01-01 UTC.
    pub range_ms: Option<(u64, u64)>,
}

impl Points {
    pub(crate) fn add(&mut self, other: &Points) {
        self.samples += other.samples;
        self.histograms += other.histograms;
        self.cost += other.cost;
        if let Some((first, last)) = other.range_ms {
            self.see(first);
            self.see(last);
        }
    }
    fn see(&mut self, at_ms: u64) {
        let (first, last) = self.range_ms.unwrap_or((at_ms, at_ms));
        self.range_ms = Some((first.min(at_ms), last.max(at_ms)));
    }
    /// A time that must be after 1970.
    pub(crate) fn time(&mut self, number: u64) -> Result<(), Why> {
        if number == 0 || i64::try_from(number).is_err() {
            return Err(Why::Time);
        }
        self.see(number);
        Ok(())
    }
    /// A time of which 0 means none.
    pub(crate) fn start(&mut self, number: u64) -> Result<(), Why> {
        if number == 0 { Ok(()) } else { self.time(number) }
    }
    /// Reads a `Sample`.
    pub(crate) fn sample(&mut self, message: &[u8], has_start: bool) -> Result<(), Why> {
        let (mut fields, mut once, mut at) = (Fields(message), Once::default(), 0);
        while let Some((field, value)) = fields.next()? {
            once.see(field)?;
            match (field, value) {
                (1, Value::Fixed) => {}
                (2, Value::Number(number)) => at = number,
                (3, Value::Number(number)) if has_start => self.start(number)?,
                _ => return Err(Why::Field),
            }
        }
        self.samples += 1;
        self.cost += 1;
        self.time(at)
    }
    /// Reads a `Histogram`.
    pub(crate) fn histogram(&mut self, message: &[u8], has_start: bool) -> Result<(), Why> {
        let (at, start) = histogram::check(message, has_start)?;
        self.histograms += 1;
        self.cost += (message.len() as u64).div_ceil(BYTES_PER_SAMPLE).max(1);
        self.start(start)?;
        self.time(at)
    }
}

/// A series of a request.
#[derive(Clone, Copy, Debug)]
pub struct Series<'s, 'a> {
    /// Name and value of each label, in the order of their names; the metric's name is `__name__`.
    pub labels: &'s [(&'a str, &'a str)],
    /// What the request has of it.
    pub points: Points,
}

impl<'a> Series<'_, 'a> {
    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&'a str> {
        self.labels.binary_search_by(|(other, _)| (*other).cmp(name)).ok().map(|at| self.labels[at].1)
    }
    /// The series for people: at most 200 characters, none of them a control character.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = fmt::write(&mut text, format_args!("{self}"));
        if text.chars().nth(MAX_SHOWN).is_some() {
            text = text.chars().take(MAX_SHOWN - 3).collect();
            text.push_str("...");
        }
        text
    }
    /// Checks that labels are sorted, differ, and are valid, and that there is a point.
    pub(crate) fn check(&self) -> Result<(), Why> {
        for pair in self.labels.windows(2) {
            let [(before, _), (after, _)] = pair else { continue };
            match before.cmp(after) {
                core::cmp::Ordering::Less => {}
                core::cmp::Ordering::Equal => return Err(Why::Duplicate),
                core::cmp::Ordering::Greater => return Err(Why::Unsorted),
            }
        }
        let is_valid = |(name, value): &(&str, &str)| {
            name.len() <= MAX_NAME_BYTES
                && is_label_name(name)
                && (1..=MAX_VALUE_BYTES).contains(&value.len())
                && (*name != "__name__" || is_label_name(value))
        };
        if !self.labels.iter().all(is_valid) {
            return Err(Why::Label);
        }
        if self.points.cost == 0 { Err(Why::Time) } else { Ok(()) }
    }
}

impl fmt::Display for Series<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label("__name__").unwrap_or_default())?;
        f.write_str("{")?;
        let others = self.labels.iter().filter(|(name, _)| *name != "__name__");
        for (at, (name, value)) in others.enumerate() {
            write!(f, "{}{name}={value:?}", if at == 0 { "" } else { "," })?;
        }
        f.write_str("}")
    }
}

/// Adds a label, unless there are too many.
pub(crate) fn push<'a>(labels: &mut Vec<(&'a str, &'a str)>, label: (&'a str, &'a str)) -> Result<(), Why> {
    if labels.len() == MAX_LABELS {
        return Err(Why::Labels);
    }
    labels.push(label);
    Ok(())
}

pub(crate) fn text(bytes: &[u8]) -> Result<&str, Why> {
    core::str::from_utf8(bytes).map_err(|_| Why::Utf8)
}

/// An error of the series with this number.
pub(crate) fn of_series(series: u64) -> impl Fn(Why) -> DecodeError {
    move |why| DecodeError { series, why }
}

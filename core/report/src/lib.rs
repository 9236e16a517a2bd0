//! Run to text, HTML, SVG, CSV, Flent: pure rendering. Nothing is concluded here.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod live;
use alloc::string::String;
use fathom_diagnose::Diagnosis;
use fathom_metric::Run;

pub use live::LiveView;

/// What the terminal can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// ANSI colours may be used.
    pub color: bool,
    /// Unicode may be used; else ASCII alone.
    pub unicode: bool,
}

/// One run of a comparison.
pub type Named<'a> = (&'a str, &'a Run, &'a Diagnosis);

/// The result for a terminal of `columns`: a table of the phases, the charts, the findings and, last, the verdict.
pub fn summary(_run: &Run, _diagnosis: &Diagnosis, _columns: u16, _style: Style) -> String {
    String::new()
}
/// Runs side by side, with differences to the first.
pub fn compare(_runs: &[Named<'_>], _columns: u16, _style: Style) -> String {
    String::new()
}
/// A page without external resources; two runs or more make a comparison with shared axes.
pub fn html(_runs: &[(&Run, &Diagnosis)]) -> String {
    String::new()
}
/// The charts of one run as one SVG picture.
pub fn svg(_run: &Run, _diagnosis: &Diagnosis) -> String {
    String::new()
}
/// One row for each observation, names with units.
pub fn csv(_run: &Run) -> String {
    String::new()
}
/// Flent's data file, format 4, as JSON text.
pub fn flent(_run: &Run) -> String {
    String::new()
}

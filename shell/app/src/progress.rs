//! What measurements report while they run.
use fathom_client::Event;
use fathom_os::clock::Clock;

/// What a measurement reports while it runs.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// A measurement begins; the times of its events are of `clock`.
    Started {
        /// What is measured, for people.
        title: &'a str,
        /// The clock of the measurement.
        clock: Clock,
    },
    /// What the test reports.
    Test(Event),
    /// No further event of this measurement follows.
    Ended,
}

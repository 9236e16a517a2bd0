//! Progress of measurements.
use fathom_client::Event;
use fathom_os::clock::Clock;

/// Progress of a measurement.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// A measurement starts. The times of its events are those of `clock`.
    Started {
        /// Title of the measurement.
        title: &'a str,
        /// The clock of the measurement.
        clock: Clock,
    },
    /// An event of the test.
    Test(Event),
    /// The measurement has ended.
    Ended,
}

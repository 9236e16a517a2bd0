//! Gauges of tests of a line, by the names of their series in a history.
use crate::Family;

/// A gauge of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TestGauge {
    /// The metric family.
    pub family: &'static Family,
    /// The label `direction`, if the gauge has one.
    pub direction: Option<&'static str>,
}

impl TestGauge {
    /// All families of tests.
    pub const FAMILIES: [&'static Family; 4] =
        [&Family::TEST_LAG, &Family::TEST_IDLE, &Family::TEST_RATE, &Family::TEST_BUFFER];

    /// The gauge of a series of a test. `None` for others, and for the larger lag, which is that of
    /// a direction.
    pub fn of(probe: &str) -> Option<Self> {
        let gauge = |family, direction| Some(TestGauge { family, direction: Some(direction) });
        match probe {
            "lag up" => gauge(&Family::TEST_LAG, "up"),
            "lag down" => gauge(&Family::TEST_LAG, "down"),
            "idle" => Some(TestGauge { family: &Family::TEST_IDLE, direction: None }),
            "rate up" => gauge(&Family::TEST_RATE, "up"),
            "rate down" => gauge(&Family::TEST_RATE, "down"),
            "buffer up" => gauge(&Family::TEST_BUFFER, "up"),
            "buffer down" => gauge(&Family::TEST_BUFFER, "down"),
            _ => None,
        }
    }
}

//! Types of lines and their constant properties.
use crate::law::Rates;
use fathom_units::PerDirection;

/// Type of line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The random walk of the mobile line in core/emulate/link, with outages.
    Lte,
    /// A new rate and delay every 15 s.
    Starlink,
    /// PowerBoost, and a segment that is shared in the evening.
    Docsis,
    /// Constant, for comparison.
    Dsl,
}

/// Constant properties of a line.
pub(crate) struct Facts {
    pub(crate) name: &'static str,
    /// Round-trip time without queues, in s.
    pub(crate) base: f64,
    /// Maximum jitter per direction, in s.
    pub(crate) jitter: f64,
    /// Buffers of the bottleneck, in bytes.
    pub(crate) limits: PerDirection<f64>,
    /// Settings that all laws use.
    pub(crate) rates: PerDirection<Rates>,
}

/// Delays in ms, buffers in kB, rates in Mbit/s.
const fn facts(
    name: &'static str,
    [base, jitter]: [f64; 2],
    [limit_up, limit_down]: [f64; 2],
    up: Rates,
    down: Rates,
) -> Facts {
    let limits = PerDirection { up: limit_up * 1e3, down: limit_down * 1e3 };
    Facts { name, base: base / 1e3, jitter: jitter / 1e3, limits, rates: PerDirection { up, down } }
}

const fn mbit(min: f64, base: f64, max: f64) -> Rates {
    Rates { min: min * 1e6, base: base * 1e6, max: max * 1e6 }
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Lte, Kind::Starlink, Kind::Docsis, Kind::Dsl];

    pub(crate) const fn facts(self) -> Facts {
        match self {
            // Buffers of scenarios/lte.toml.
            Kind::Lte => {
                let (up, down) = (mbit(2.0, 6.0, 15.0), mbit(5.0, 15.0, 40.0));
                facts("LTE", [45.0, 8.0], [1_000.0, 2_500.0], up, down)
            }
            Kind::Starlink => {
                let (up, down) = (mbit(4.0, 10.0, 25.0), mbit(25.0, 90.0, 250.0));
                facts("Starlink", [40.0, 6.0], [600.0, 4_000.0], up, down)
            }
            // Buffers of scenarios/cable.toml.
            Kind::Docsis => {
                let (up, down) = (mbit(4.0, 8.0, 12.0), mbit(35.0, 80.0, 120.0));
                facts("DOCSIS", [20.0, 3.0], [384.0, 1_000.0], up, down)
            }
            Kind::Dsl => {
                let (up, down) = (mbit(4.0, 7.0, 10.0), mbit(20.0, 35.0, 50.0));
                facts("DSL", [25.0, 1.0], [256.0, 1_000.0], up, down)
            }
        }
    }
}

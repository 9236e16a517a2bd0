//! The compared laws, and how each probes reflectors.
use crate::law::cake::Cake;
use crate::law::fathom::Fathom;
use crate::law::sqm::Sqm;
use crate::law::{Law, Rates};
use fathom_units::PerDirection;

/// How a law probes.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) reflectors: usize,
    /// Probe interval per reflector in s.
    pub(crate) every: f64,
    /// Only round-trip times are available.
    pub(crate) is_round_trip: bool,
}

/// A law.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Fathom,
    Cake,
    Sqm,
}

impl Who {
    pub(crate) const ALL: [Who; 3] = [Who::Fathom, Who::Cake, Who::Sqm];
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Who::Fathom => "fathom",
            Who::Cake => "cake-autorate",
            Who::Sqm => "sqm-autorate",
        }
    }
    pub(crate) fn law(self, rates: PerDirection<Rates>) -> Box<dyn Law> {
        match self {
            Who::Fathom => Box::new(Fathom::new(rates)),
            Who::Cake => Box::new(Cake::new(rates)),
            Who::Sqm => Box::new(Sqm::new(rates)),
        }
    }
    /// Each law probes as in its own program; ours like cake-autorate.
    pub(crate) const fn plan(self, is_round_trip: bool) -> Plan {
        match self {
            Who::Fathom | Who::Cake => Plan { reflectors: 6, every: 0.3, is_round_trip },
            Who::Sqm => Plan { reflectors: 5, every: 0.5, is_round_trip },
        }
    }
}

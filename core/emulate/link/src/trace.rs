//! A link whose rate changes as recorded.
mod opportunities;
mod parse;
mod rates;

use alloc::sync::Arc;
use core::str::FromStr;
use fathom_units::Rate;

pub(crate) use opportunities::Opportunities;
pub use opportunities::OpportunityTrace;
pub use parse::TraceError;
pub use rates::RateTrace;
pub(crate) use rates::{Rates, Volume, volume};

/// When a link may send, and how much. From a text of one of two forms, told apart by the first line:
///
/// ```text
/// 0s 20mbit          a rate from then on; `loop` begins again from the first line, and without it
/// 12.5s 0bit         the last rate is held
/// 30s loop
/// ```
/// ```text
/// 1                  mahimahi's: at this millisecond 1504 bytes may pass; after the last line it begins again
/// 1
/// 3
/// ```
/// Empty lines and what follows `#` do not count.
#[derive(Clone, PartialEq, Debug)]
pub enum Trace {
    /// Rates, each from a time on.
    Rates(Arc<RateTrace>),
    /// Opportunities to send.
    Opportunities(Arc<OpportunityTrace>),
}

impl Trace {
    /// The mean over a period, or where the last rate is held that rate.
    pub fn nominal_rate(&self) -> Rate {
        match self {
            Trace::Rates(trace) => trace.nominal_rate(),
            Trace::Opportunities(trace) => trace.nominal_rate(),
        }
    }
}

impl FromStr for Trace {
    type Err = TraceError;
    fn from_str(text: &str) -> Result<Self, TraceError> {
        parse::parse(text)
    }
}

//! A link with a recorded rate.
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

/// When a link may send, and how much. The text has one of two formats; the first line decides:
///
/// ```text
/// 0s 20mbit          time and rate; `loop` starts over from the first line,
/// 12.5s 0bit         without it the last rate holds
/// 30s loop
/// ```
/// ```text
/// 1                  mahimahi: 1504 bytes may pass at this millisecond; repeats after the
/// 1                  last line
/// 3
/// ```
/// Empty lines and comments after `#` are ignored.
#[derive(Clone, PartialEq, Debug)]
pub enum Trace {
    /// Rates with start times.
    Rates(Arc<RateTrace>),
    /// Transmission opportunities.
    Opportunities(Arc<OpportunityTrace>),
}

impl Trace {
    /// The mean over a period, or the last rate if it holds.
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

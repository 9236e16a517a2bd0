//! The text form of `fq_pie`.
use super::single_queue::ControlSettings;
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::{FqPieParams, PieControlParams, Variant};
use core::fmt;
use fathom_units::ETHERNET_FULL_FRAME;

impl Default for FqPieParams {
    /// The defaults of Linux.
    fn default() -> Self {
        FqPieParams {
            control: PieControlParams { variant: Variant::Linux, ..PieControlParams::default() },
            limit_packets: 10_240,
            flows: 1024,
            quantum: ETHERNET_FULL_FRAME,
        }
    }
}

impl Settings for FqPieParams {
    const NAME: &'static str = "fq_pie";
    const WORDS: &'static str = "limit flows quantum target tupdate alpha beta ecn_prob ecn noecn bytemode nobytemode \
        dq_rate_estimator no_dq_rate_estimator";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "limit" => self.limit_packets = words.packets("limit")?,
            "flows" => self.flows = words.flows()?,
            "quantum" => self.quantum = words.quantum()?,
            "ecn_prob" => self.control.mark_ecn_threshold = words.ratio(word)?,
            _ => self.control.set(word, words)?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (control, no) = (&self.control, |on: bool, no: &'static str| if on { "" } else { no });
        write!(f, " limit {}p flows {}", self.limit_packets, self.flows)?;
        write!(f, " quantum {}b target {}", self.quantum.get(), Exact(control.target))?;
        write!(f, " tupdate {} alpha {} beta {}", Exact(control.tupdate), control.alpha, control.beta)?;
        write!(f, " ecn_prob {} {}ecn", control.mark_ecn_threshold.0, no(control.ecn, "no"))?;
        write!(f, " {}bytemode", no(control.bytemode, "no"))?;
        write!(f, " {}dq_rate_estimator", no(control.dq_rate_estimator, "no_"))
    }
}

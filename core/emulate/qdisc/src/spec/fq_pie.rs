//! `fq_pie`.
use super::pie::control;
use super::words::{Exact, Words};
use super::{SpecError, Text};
use crate::{FqPieParams, PieControlParams, Variant};
use core::fmt;
use fathom_units::ETHERNET_FULL_FRAME;

impl Default for FqPieParams {
    /// Those of Linux.
    fn default() -> Self {
        FqPieParams {
            control: PieControlParams { variant: Variant::Linux, ..PieControlParams::default() },
            limit_packets: 10_240,
            flows: 1024,
            quantum: ETHERNET_FULL_FRAME,
        }
    }
}

impl Text for FqPieParams {
    const NAME: &'static str = "fq_pie";
    const WORDS: &'static [&'static str] = &[
        "limit",
        "flows",
        "quantum",
        "target",
        "tupdate",
        "alpha",
        "beta",
        "ecn_prob",
        "ecn",
        "noecn",
        "bytemode",
        "nobytemode",
        "dq_rate_estimator",
        "no_dq_rate_estimator",
    ];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = FqPieParams::default();
        while let Some(word) = words.next_known()? {
            match word {
                "limit" => params.limit_packets = words.packets("limit")?,
                "flows" => params.flows = words.flows()?,
                "quantum" => params.quantum = words.quantum()?,
                "ecn_prob" => params.control.mark_ecn_threshold = words.ratio(word)?,
                _ => {
                    control(words, word, &mut params.control)?;
                }
            }
        }
        Ok(params)
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

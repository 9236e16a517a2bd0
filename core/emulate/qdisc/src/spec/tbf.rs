//! `tbf`, in the words of `tc-tbf(8)`.
use super::words::{Words, refuse};
use super::{SpecError, Text};
use crate::{PeakParams, TbfParams, TbfQueue};
use alloc::boxed::Box;
use core::fmt;
use fathom_units::{Bytes, Duration, Rate};

const ABOVE_ZERO: &str = "more than 0";

/// What was said, in whatever order.
#[derive(Default)]
struct Said {
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: Option<Bytes>,
    latency: Option<Duration>,
    peakrate: Option<Rate>,
    mtu: Option<Bytes>,
    child: Option<crate::Spec>,
}

/// A missing word.
fn needs(word: &'static str) -> SpecError {
    SpecError::Missing { discipline: TbfParams::NAME, word }
}

impl Said {
    fn read(words: &mut Words<'_>) -> Result<Said, SpecError> {
        let mut said = Said::default();
        while let Some(word) = words.next_known()? {
            match word {
                "rate" => said.rate = Some(words.rate(word)?),
                "peakrate" => said.peakrate = Some(words.rate(word)?),
                "latency" => said.latency = Some(words.duration(word)?),
                "burst" => said.burst = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
                "limit" => said.limit = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
                "mtu" => said.mtu = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
                _ => said.child = Some(words.child()?),
            }
        }
        Ok(said)
    }
    fn peak(&self, rate: Rate) -> Result<Option<PeakParams>, SpecError> {
        match (self.peakrate, self.mtu) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(needs("mtu")),
            (None, Some(_)) => Err(needs("peakrate")),
            (Some(peak), Some(_)) if peak <= rate => {
                let peak = alloc::format!("{}bit", peak.as_bits_per_second());
                Err(refuse("peakrate", &peak, "more than rate"))
            }
            (Some(peak), Some(mtu)) => Ok(Some(PeakParams { rate: peak, mtu })),
        }
    }
    /// tc makes bytes of a latency: what has to wait as long while full buckets empty.
    fn limit(&self, rate: Rate, burst: Bytes, peak: Option<PeakParams>) -> Option<Bytes> {
        let latency = self.latency?;
        let held = |at: Rate, depth: Bytes| Bytes(at.bytes_in(latency).get().saturating_add(depth.get()));
        let limit = held(rate, burst);
        Some(peak.map_or(limit, |peak| limit.min(held(peak.rate, peak.mtu))))
    }
}

impl Text for TbfParams {
    const NAME: &'static str = "tbf";
    const WORDS: &'static str = "rate burst limit latency peakrate mtu {";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut said = Said::read(words)?;
        let rate = said.rate.ok_or_else(|| needs("rate"))?;
        let burst = said.burst.ok_or_else(|| needs("burst"))?;
        let peak = said.peak(rate)?;
        let by_latency = said.limit(rate, burst, peak);
        let queue = match (said.limit, by_latency, said.child.take()) {
            (Some(limit), None, None) | (None, Some(limit), None) => TbfQueue::Limit(limit),
            (None, None, Some(child)) => TbfQueue::Child(Box::new(child)),
            (None, None, None) => return Err(needs("limit")),
            _ => return Err(SpecError::TbfQueues),
        };
        Ok(TbfParams { rate, burst, peak, queue })
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " rate {}bit burst {}b", self.rate.as_bits_per_second(), self.burst.get())?;
        if let Some(peak) = self.peak {
            write!(f, " peakrate {}bit mtu {}b", peak.rate.as_bits_per_second(), peak.mtu.get())?;
        }
        match &self.queue {
            TbfQueue::Limit(limit) => write!(f, " limit {}b", limit.get()),
            TbfQueue::Child(child) => write!(f, " {{ {child} }}"),
        }
    }
}

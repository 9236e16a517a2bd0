//! The text form of `tbf`, with the keywords of `tc-tbf(8)`.
use super::words::{Words, refuse};
use super::{SpecError, Text};
use crate::{PeakParams, TbfParams, TbfQueue};
use alloc::boxed::Box;
use core::fmt;
use fathom_units::{Bytes, Duration, Rate};

const ABOVE_ZERO: &str = "a value above 0";

/// The parameters read so far, in any order.
#[derive(Default)]
struct ReadWords {
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: Option<Bytes>,
    latency: Option<Duration>,
    peakrate: Option<Rate>,
    mtu: Option<Bytes>,
    child: Option<crate::Spec>,
}

fn needs(word: &'static str) -> SpecError {
    SpecError::Missing { discipline: TbfParams::NAME, word }
}

impl ReadWords {
    fn read(words: &mut Words<'_>) -> Result<ReadWords, SpecError> {
        let mut read = ReadWords::default();
        while let Some(word) = words.next_known()? {
            match word {
                "rate" => read.rate = Some(words.rate(word)?),
                "peakrate" => read.peakrate = Some(words.rate(word)?),
                "latency" => read.latency = Some(words.duration(word)?),
                "burst" => read.burst = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
                "limit" => read.limit = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
                "mtu" => read.mtu = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
                _ => read.child = Some(words.child()?),
            }
        }
        Ok(read)
    }
    fn peak(&self, rate: Rate) -> Result<Option<PeakParams>, SpecError> {
        match (self.peakrate, self.mtu) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(needs("mtu")),
            (None, Some(_)) => Err(needs("peakrate")),
            (Some(peak), Some(_)) if peak <= rate => {
                let peak = alloc::format!("{}bit", peak.as_bits_per_second());
                Err(refuse("peakrate", &peak, "more than the rate"))
            }
            (Some(peak), Some(mtu)) => Ok(Some(PeakParams { rate: peak, mtu })),
        }
    }
    /// The limit for a latency, as tc computes it: the bytes sent in that time after full buckets.
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
        let mut read = ReadWords::read(words)?;
        let rate = read.rate.ok_or_else(|| needs("rate"))?;
        let burst = read.burst.ok_or_else(|| needs("burst"))?;
        let peak = read.peak(rate)?;
        let by_latency = read.limit(rate, burst, peak);
        let queue = match (read.limit, by_latency, read.child.take()) {
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

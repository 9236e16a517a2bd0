//! Token bucket filter: `struct tc_tbf_qopt` and later additions.
use crate::attribute::{Writer, find, find_u32, find_u64, u32_at};
use crate::rate::{RateSpec, SPEC_BYTES, bytes_of, ticks};
use core::fmt;

/// Options of TBF.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tbf {
    /// The token rate.
    pub rate: RateSpec,
    /// Burst in bytes. Larger super-packets are split, and larger packets dropped.
    pub burst: u32,
    /// Limit of its internal queue, in bytes.
    pub limit: u32,
    /// Limit of the rate within a burst.
    pub peak: Option<Peak>,
}

/// A second token bucket in front of the first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Peak {
    /// Its token rate, above that of the first.
    pub rate: RateSpec,
    /// Its burst in bytes; like the other one, a limit of the packet size.
    pub burst: u32,
}

mod number {
    pub(super) const PARAMETERS: u16 = 1;
    pub(super) const RATE64: u16 = 4;
    pub(super) const PEAK_RATE64: u16 = 5;
    pub(super) const BURST: u16 = 6;
    pub(super) const PEAK_BURST: u16 = 7;
}

impl Tbf {
    pub(crate) fn read(options: &[u8]) -> Option<Tbf> {
        let parameters = find(options, number::PARAMETERS)?;
        let rate = RateSpec::decode(parameters, find_u64(options, number::RATE64))?;
        // After two rates.
        let limit = u32_at(parameters, 2 * SPEC_BYTES)?;
        let buffer = u32_at(parameters, 2 * SPEC_BYTES + 4)?;
        let peak_buffer = u32_at(parameters, 2 * SPEC_BYTES + 8)?;
        let peak = RateSpec::decode(parameters.get(SPEC_BYTES..)?, find_u64(options, number::PEAK_RATE64))?;
        let peak_burst = || bytes_of(peak_buffer, &peak);
        Some(Tbf {
            rate,
            burst: find_u32(options, number::BURST).unwrap_or_else(|| bytes_of(buffer, &rate)),
            limit,
            peak: (peak.bytes_per_second > 0).then(|| Peak {
                rate: peak,
                burst: find_u32(options, number::PEAK_BURST).unwrap_or_else(peak_burst),
            }),
        })
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        let mut parameters = self.rate.encode().to_vec();
        match self.peak {
            Some(peak) => parameters.extend(peak.rate.encode()),
            None => parameters.resize(2 * SPEC_BYTES, 0),
        }
        for word in
            [self.limit, ticks(self.burst, &self.rate), self.peak.map_or(0, |p| ticks(p.burst, &p.rate))]
        {
            parameters.extend(word.to_ne_bytes());
        }
        to.put(number::PARAMETERS, &parameters)
            .u32(number::BURST, self.burst)
            .u64(number::RATE64, self.rate.wide())
            .u64(number::PEAK_RATE64, self.peak.and_then(|peak| peak.rate.wide()))
            .u32(number::PEAK_BURST, self.peak.map(|peak| peak.burst));
    }
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " rate {} burst {}b limit {}b", self.rate.rate(), self.burst, self.limit)?;
        if let Some(Peak { rate, burst }) = self.peak {
            write!(f, " peakrate {} mtu {burst}", rate.rate())?;
        }
        self.rate.write_line(f)
    }
}

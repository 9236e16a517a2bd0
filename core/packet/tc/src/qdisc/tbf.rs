//! A token bucket: `struct tc_tbf_qopt` and what came to stand beside it.
use crate::attribute::{Writer, find, find_u32, find_u64, u32_at};
use crate::rate::{RateSpec, SPEC_BYTES, bytes_of, ticks};
use core::fmt;

/// TBF's options, without a peak rate.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tbf {
    /// The rate at which tokens come.
    pub rate: RateSpec,
    /// Bytes that may leave at once. Super-packets larger than this are split.
    pub burst: u32,
    /// Bytes that may wait in the queue that it makes for itself.
    pub limit: u32,
}

mod number {
    pub(super) const PARAMETERS: u16 = 1;
    pub(super) const RATE64: u16 = 4;
    pub(super) const BURST: u16 = 6;
}

impl Tbf {
    pub(crate) fn read(options: &[u8]) -> Option<Tbf> {
        let parameters = find(options, number::PARAMETERS)?;
        let rate = RateSpec::decode(parameters, find_u64(options, number::RATE64))?;
        // Behind two rates.
        let limit = u32_at(parameters, 2 * SPEC_BYTES)?;
        let buffer = u32_at(parameters, 2 * SPEC_BYTES + 4)?;
        Some(Tbf {
            rate,
            burst: find_u32(options, number::BURST).unwrap_or_else(|| bytes_of(buffer, &rate)),
            limit,
        })
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        let mut parameters = self.rate.encode().to_vec();
        parameters.resize(2 * SPEC_BYTES, 0);
        // The last is the burst of the peak rate.
        for word in [self.limit, ticks(self.burst, &self.rate), 0] {
            parameters.extend(word.to_ne_bytes());
        }
        to.put(number::PARAMETERS, &parameters)
            .u32(number::BURST, self.burst)
            .u64(number::RATE64, self.rate.wide());
    }
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " rate {} burst {}b limit {}b", self.rate.rate(), self.burst, self.limit)?;
        self.rate.write_line(f)
    }
}

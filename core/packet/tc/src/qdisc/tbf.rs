//! Token bucket filter: `struct tc_tbf_qopt` and later additions.
use crate::attribute::{Writer, find, find_u32, find_u64, u32_at};
use crate::rate::{RateSpec, SPEC_BYTES, bytes_of, ticks};
use core::fmt;

/// Options of TBF, without a peak rate.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tbf {
    /// The token rate.
    pub rate: RateSpec,
    /// Burst in bytes. Larger super-packets are split.
    pub burst: u32,
    /// Limit of its internal queue, in bytes.
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
        // After two rates.
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
        // The last field is the burst of the peak rate.
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

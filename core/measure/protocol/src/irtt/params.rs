//! Parameters of a session, and the fields that they put into its probes.
use super::{IrttError, VERSION};
use alloc::vec::Vec;
use fathom_units::Duration;

/// Numbers of the parameters. Each is a varint, and its value a zigzag varint.
mod id {
    pub(super) const VERSION: u64 = 1;
    pub(super) const DURATION: u64 = 2;
    pub(super) const INTERVAL: u64 = 3;
    pub(super) const LENGTH: u64 = 4;
    pub(super) const RECEIVED_STATS: u64 = 5;
    pub(super) const STAMP_AT: u64 = 6;
    pub(super) const CLOCK: u64 = 7;
    /// A string with its length.
    pub(super) const SERVER_FILL: u64 = 9;
}
/// Longest string (`maxServerFillLen`).
const FILL_LIMIT_BYTES: u64 = 32;

/// Which optional fields the probes of a session have, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Layout {
    /// Bit 0: the number of probes that the server received; bit 1: a bit for each of the last 64.
    pub received_stats: u8,
    /// Bit 0: time of sending at the server; bit 1: of arrival; 4: the middle of both.
    pub stamp_at: u8,
    /// Of each time, bit 0: by the wall clock; bit 1: by the monotonic clock.
    pub clock: u8,
}

/// What a client asks for, and what the server grants.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Params {
    /// Version of the protocol that was read; the one that is written is this program's.
    pub version: i64,
    /// Duration of the test.
    pub duration: Duration,
    /// Interval of probes.
    pub interval: Duration,
    /// Least length of a probe and its reply.
    pub length_bytes: u64,
    /// The fields of probes.
    pub layout: Layout,
}

impl Layout {
    /// The number of received probes, and both times by the monotonic clock.
    pub const FATHOM: Layout = Layout { received_stats: 1, stamp_at: 3, clock: 2 };

    /// Bytes of the optional fields.
    #[must_use]
    pub fn bytes(self) -> usize {
        let stats = usize::from(self.received_stats & 1) * 4 + usize::from(self.received_stats >> 1) * 8;
        stats + self.stamp_at.count_ones() as usize * self.clock.count_ones() as usize * 8
    }
    const fn is_valid(self) -> bool {
        let has_times = self.stamp_at == 0 || self.clock > 0;
        self.received_stats <= 3 && self.stamp_at <= 4 && self.clock <= 3 && has_times
    }
    /// In seven bits.
    pub(super) const fn packed(self) -> u8 {
        self.received_stats << 5 | self.clock << 3 | self.stamp_at
    }
    pub(super) fn unpacked(bits: u8) -> Option<Layout> {
        let layout = Layout { received_stats: bits >> 5 & 3, clock: bits >> 3 & 3, stamp_at: bits & 7 };
        Some(layout).filter(|layout| layout.is_valid())
    }
}

impl Params {
    /// As sent. What is 0 is left out.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Layout { received_stats, stamp_at, clock } = self.layout;
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let mut bytes = Vec::new();
        for (id, value) in [
            (id::VERSION, VERSION),
            (id::DURATION, nanos(self.duration)),
            (id::INTERVAL, nanos(self.interval)),
            (id::LENGTH, i64::try_from(self.length_bytes).unwrap_or(i64::MAX)),
            (id::RECEIVED_STATS, received_stats.into()),
            (id::STAMP_AT, stamp_at.into()),
            (id::CLOCK, clock.into()),
        ] {
            if value != 0 {
                put_varint(&mut bytes, id);
                put_varint(&mut bytes, (value << 1 ^ value >> 63) as u64);
            }
        }
        bytes
    }
    /// Reads what [`Params::encode`] or irtt wrote. Unknown parameters are ignored, as are DSCP and
    /// the fill of replies, which Fathom neither asks for nor grants.
    ///
    /// # Errors
    /// If a value is cut or out of range.
    pub fn decode(mut bytes: &[u8]) -> Result<Params, IrttError> {
        let mut params = Params::default();
        while !bytes.is_empty() {
            let id = take_varint(&mut bytes)?;
            let raw = take_varint(&mut bytes)?;
            if id == id::SERVER_FILL {
                let length = usize::try_from(raw).ok().filter(|_| raw <= FILL_LIMIT_BYTES);
                bytes = length.and_then(|length| bytes.get(length..)).ok_or(IrttError::Params)?;
                continue;
            }
            params.set(id, (raw >> 1) as i64 ^ -((raw & 1) as i64)).ok_or(IrttError::Params)?;
        }
        Some(params).filter(|params| params.layout.is_valid()).ok_or(IrttError::Params)
    }
    /// `None` for a value out of range.
    fn set(&mut self, id: u64, value: i64) -> Option<()> {
        let time = || u64::try_from(value).ok().filter(|ns| *ns > 0).map(Duration::from_nanos);
        match id {
            id::VERSION => self.version = value,
            id::DURATION => self.duration = time()?,
            id::INTERVAL => self.interval = time()?,
            // irtt takes a negative length as 0.
            id::LENGTH => self.length_bytes = value.max(0) as u64,
            id::RECEIVED_STATS => self.layout.received_stats = value.try_into().ok()?,
            id::STAMP_AT => self.layout.stamp_at = value.try_into().ok()?,
            id::CLOCK => self.layout.clock = value.try_into().ok()?,
            // DSCP, and those of later versions.
            _ => {}
        }
        Some(())
    }
}

/// Seven bits in each byte, the lowest first; the top bit announces another byte.
fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Result<u64, IrttError> {
    let mut value = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(IrttError::Params)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if part << shift >> shift != part {
            return Err(IrttError::Params);
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(IrttError::Params)
}

//! Transmission of packets at a fixed rate.
use fathom_units::{Bytes, Duration, Rate, Time};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A transmitter with a fixed rate.
///
/// The fraction of a nanosecond that a packet leaves over is carried to the next one, so that
/// back-to-back packets keep the exact rate.
pub struct Serializer {
    /// In bit/s; `None` sends in zero time.
    rate: Option<u64>,
    /// When the last bit of the last packet was sent, rounded down to 1 ns.
    free_at: Time,
    /// The truncated rest, in units of 1 / rate ns; less than `rate`.
    remainder: u64,
    /// Length and time of the last packet: most packets have equal lengths, and a division is slow.
    usual: (Bytes, u64, u64),
}

impl Serializer {
    /// A transmitter that takes no time.
    pub(crate) const IDEAL: Serializer =
        Serializer { rate: None, free_at: Time::ZERO, remainder: 0, usual: (Bytes::ZERO, 0, 0) };

    /// Creates an idle transmitter; without a rate it takes no time.
    ///
    /// # Panics
    /// If the rate is zero: it would never send.
    pub fn new(rate: Option<Rate>) -> Self {
        let rate = rate.map(Rate::as_bits_per_second);
        assert!(rate != Some(0), "a rate of 0 bit/s never sends");
        Serializer { rate, ..Serializer::IDEAL }
    }
    /// When it can take the next packet.
    pub fn free_at(&self) -> Time {
        self.free_at
    }
    /// Sends `len` at `start` or when free, whichever is later. Returns when the last bit is sent.
    pub fn send(&mut self, len: Bytes, start: Time) -> Time {
        if start > self.free_at {
            (self.free_at, self.remainder) = (start, 0);
        }
        if let Some(rate) = self.rate {
            if len != self.usual.0 {
                let (nanos, left) = serialization(len, rate);
                self.usual = (len, nanos, left);
            }
            let (_, nanos, left) = self.usual;
            let (sum, whole) = (u128::from(left) + u128::from(self.remainder), u128::from(rate));
            let carries = sum >= whole;
            self.remainder = (if carries { sum - whole } else { sum }) as u64;
            self.free_at += Duration::from_nanos(nanos + u64::from(carries));
        }
        self.free_at
    }
}

/// Whole nanoseconds for `len` at `rate`, and the rest.
fn serialization(len: Bytes, rate: u64) -> (u64, u64) {
    let scaled = u128::from(len.get()) * u128::from(8 * NANOS_PER_SEC);
    let nanos = u64::try_from(scaled / u128::from(rate)).unwrap_or(u64::MAX);
    (nanos, (scaled % u128::from(rate)) as u64)
}

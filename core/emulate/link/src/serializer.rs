//! Putting packets on the wire, one after the other.
use fathom_units::{Bytes, Duration, Rate, Time};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A transmitter of fixed rate.
///
/// A packet rarely takes a whole number of nanoseconds. What is cut off is carried to the next packet, so that packets
/// sent back to back keep the rate exactly, however many they are.
pub struct Serializer {
    /// bit/s; `None` sends in no time.
    rate: Option<u64>,
    /// When the last packet's last bit has left, rounded down to 1 ns.
    free_at: Time,
    /// What was cut off, in units of 1 / rate nanoseconds; less than `rate`.
    remainder: u64,
    /// The length of the last packet, and what it takes alone: nearly all are of one length, and a division is slow.
    usual: (Bytes, u64, u64),
}

impl Serializer {
    /// Takes no time.
    pub(crate) const IDEAL: Serializer =
        Serializer { rate: None, free_at: Time::ZERO, remainder: 0, usual: (Bytes::ZERO, 0, 0) };

    /// An idle transmitter; `None` is one that takes no time.
    ///
    /// # Panics
    /// If the rate is zero: it would never send.
    pub fn new(rate: Option<Rate>) -> Self {
        let rate = rate.map(Rate::as_bits_per_second);
        assert!(rate != Some(0), "a serializer of 0 bit/s never sends");
        Serializer { rate, ..Serializer::IDEAL }
    }
    /// From when on it can take the next packet.
    pub fn free_at(&self) -> Time {
        self.free_at
    }
    /// Sends `len` from `start` or from when it is free, whichever is later. Gives the time of the last bit.
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

/// Whole nanoseconds for `len` at `rate`, and what is left over.
fn serialization(len: Bytes, rate: u64) -> (u64, u64) {
    let scaled = u128::from(len.get()) * u128::from(8 * NANOS_PER_SEC);
    let nanos = u64::try_from(scaled / u128::from(rate)).unwrap_or(u64::MAX);
    (nanos, (scaled % u128::from(rate)) as u64)
}

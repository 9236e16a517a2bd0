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
}

impl Serializer {
    /// Takes no time.
    pub(crate) const IDEAL: Serializer = Serializer { rate: None, free_at: Time::ZERO, remainder: 0 };

    /// An idle transmitter; `None` is one that takes no time.
    ///
    /// # Panics
    /// If the rate is zero: it would never send.
    pub fn new(rate: Option<Rate>) -> Self {
        let rate = rate.map(Rate::as_bits_per_second);
        assert!(rate != Some(0), "a serializer of 0 bit/s never sends");
        Serializer { rate, free_at: Time::ZERO, remainder: 0 }
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
            let (nanos, remainder) = serialization(len, rate, self.remainder);
            self.remainder = remainder;
            self.free_at += Duration::from_nanos(nanos);
        }
        self.free_at
    }
}

/// Whole nanoseconds for `len` at `rate`, and what is left over; `carried` is what was left over before.
fn serialization(len: Bytes, rate: u64, carried: u64) -> (u64, u64) {
    let scaled = len.get().checked_mul(8 * NANOS_PER_SEC).and_then(|scaled| scaled.checked_add(carried));
    if let Some(scaled) = scaled {
        return (scaled / rate, scaled % rate);
    }
    // Above 2 GB.
    let wide = u128::from(len.get()) * u128::from(8 * NANOS_PER_SEC) + u128::from(carried);
    let nanos = u64::try_from(wide / u128::from(rate)).unwrap_or(u64::MAX);
    (nanos, (wide % u128::from(rate)) as u64)
}

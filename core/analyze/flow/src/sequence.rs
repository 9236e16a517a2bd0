//! Extends 32-bit sequence numbers to 64 bits.

/// Numbers farther apart than any window (RFC 7323 section 2.3: 2^30) are of other connections.
pub(crate) const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// Whether `a` comes after `b` modulo 2^32 (RFC 9293 section 3.4, RFC 7323 section 5.2).
pub(crate) const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// Unwraps the sequence numbers of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    /// Number on the wire that corresponds to 0.
    origin: Option<u32>,
}

impl Counter {
    /// Sets the origin so that `raw` corresponds to `value`.
    pub(crate) fn start(&mut self, raw: u32, value: u32) {
        self.origin = Some(raw.wrapping_sub(value));
    }
    pub(crate) const fn is_started(&self) -> bool {
        self.origin.is_some()
    }
    /// The 64-bit number for `raw` that is nearest to `near`. Numbers before the start become 0.
    pub(crate) fn unwrap(&self, raw: u32, near: u64) -> u64 {
        let low = raw.wrapping_sub(self.origin.unwrap_or(0));
        let away = i64::from(low.wrapping_sub(near as u32) as i32);
        // Exact, because no capture contains 2^63 bytes of a connection.
        (near as i64).wrapping_add(away).max(0) as u64
    }
    /// Whether `raw` corresponds to this number; false before the start.
    #[inline]
    pub(crate) fn is(&self, raw: u32, number: u64) -> bool {
        self.origin.is_some_and(|origin| raw.wrapping_sub(origin) == number as u32)
    }
    pub(crate) fn is_origin(&self, raw: u32) -> bool {
        self.origin == Some(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_continue_beyond_32_bits() {
        let mut counter = Counter::default();
        counter.start(u32::MAX - 9, 0);
        let mut near = 0;
        for step in 0..100_u64 {
            let value = step * 100_000_000;
            let raw = (u32::MAX - 9).wrapping_add(value as u32);
            assert_eq!(counter.unwrap(raw, near), value);
            near = value;
        }
        assert_eq!(counter.unwrap((u32::MAX - 9).wrapping_sub(5), 3), 0, "before the start");
    }
}

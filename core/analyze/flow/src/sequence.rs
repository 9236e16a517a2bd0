//! Sequence numbers of 32 bits to 64.

/// Farther apart than any window (RFC 7323 section 2.3: 2^30), a number does not belong to the connection.
pub(crate) const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// Whether `a` comes after `b`, in arithmetic modulo 2^32 (RFC 9293 section 3.4, RFC 7323 section 5.2).
pub(crate) const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// Counts the bytes of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    /// The number on the wire that is 0 here.
    origin: Option<u32>,
}

impl Counter {
    /// Begins: `raw` is `value` from now on.
    pub(crate) fn start(&mut self, raw: u32, value: u32) {
        self.origin = Some(raw.wrapping_sub(value));
    }
    pub(crate) const fn is_started(&self) -> bool {
        self.origin.is_some()
    }
    /// `raw` in 64 bits: of all it may be, the one nearest to `near`. What lies before the start is 0.
    pub(crate) fn unwrap(&self, raw: u32, near: u64) -> u64 {
        let low = raw.wrapping_sub(self.origin.unwrap_or(0));
        let away = i64::from(low.wrapping_sub(near as u32) as i32);
        // No capture has 2^63 bytes of a connection, so that this is exact.
        (near as i64).wrapping_add(away).max(0) as u64
    }
    /// Whether `raw` is this number; not before the start.
    #[inline]
    pub(crate) fn is(&self, raw: u32, number: u64) -> bool {
        self.origin.is_some_and(|origin| raw.wrapping_sub(origin) == number as u32)
    }
    /// Whether `raw` is what the connection began with.
    pub(crate) fn is_origin(&self, raw: u32) -> bool {
        self.origin == Some(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_past_two_to_the_thirty_two() {
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

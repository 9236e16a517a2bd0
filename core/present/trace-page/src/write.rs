//! Numbers to bytes: small numbers are short, as most are that count from the one before.
use alloc::vec::Vec;

/// The bytes of a page's data. Numbers are LEB128, signed ones folded (0, -1, 1, -2 ...), so that a
/// column of differences is one or two bytes a row.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
    pub(crate) fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }
    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
    pub(crate) fn float(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    /// Half the bytes, for curves: seven digits are more than a pixel shows.
    pub(crate) fn short_float(&mut self, value: f64) {
        self.bytes.extend_from_slice(&(value as f32).to_le_bytes());
    }
    /// A column: each value less the one before.
    pub(crate) fn differences(&mut self, values: impl Iterator<Item = u64>) {
        let mut before = 0;
        for value in values {
            self.signed(value.wrapping_sub(before) as i64);
            before = value;
        }
    }
    /// A column of values that are small as they are.
    pub(crate) fn numbers(&mut self, values: impl Iterator<Item = u64>) {
        values.for_each(|value| self.number(value));
    }
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

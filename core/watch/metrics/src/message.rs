//! Writes the Protobuf wire format.
//!
//! A few dozen fields need no code generator. The tests decode them with `prost`.

use alloc::vec::Vec;

/// A message that is written field by field.
#[derive(Clone, Default, Debug)]
pub struct Message(Vec<u8>);

impl Message {
    /// A varint without a field: an element of a packed field, or the length of a message.
    pub fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
    /// A zigzag varint without a field, as in `sint32` and `sint64`.
    pub fn zigzag(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }
    /// A field of an unsigned type or of `int64`.
    pub fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }
    /// A field of `sint32` or `sint64`.
    pub fn signed(&mut self, field: u64, value: i64) {
        self.varint(field << 3);
        self.zigzag(value);
    }
    /// A field of `fixed64`.
    pub fn fixed(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
    }
    /// A field of `double`.
    pub fn double(&mut self, field: u64, value: f64) {
        self.fixed(field, value.to_bits());
    }
    /// A field of a string, bytes or a packed list.
    pub fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
    }
    /// A field that holds a message.
    pub fn message(&mut self, field: u64, value: &Message) {
        self.bytes(field, &value.0);
    }
    /// A message with its length prefix, outside of any field.
    pub fn delimited(&mut self, value: &Message) {
        self.varint(value.len() as u64);
        self.0.extend(&value.0);
    }
    /// The encoded bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// The encoded bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_encodings_own_description() {
        // protobuf.dev/programming-guides/encoding
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        assert_eq!(message.as_bytes(), b"\x08\x96\x01\x12\x07testing");
        let mut zigzag = Message::default();
        [0, -1, 1, -2, 2_147_483_647].into_iter().for_each(|value| zigzag.zigzag(value));
        assert_eq!(zigzag.as_bytes(), b"\x00\x01\x02\x03\xfe\xff\xff\xff\x0f");
    }
}

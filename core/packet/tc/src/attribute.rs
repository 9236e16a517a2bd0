//! Netlink attributes: length, type, value, padded to four bytes (`struct nlattr`). Parsing accepts
//! any bytes and stops at a truncated attribute.
use alloc::vec::Vec;

/// The value contains attributes. Some requests of iproute2 set it; the kernel rarely checks it.
pub(crate) const NESTED: u16 = 0x8000;
/// The bits of the type that are its number (`NLA_TYPE_MASK`).
const NUMBER: u16 = 0x3fff;
const HEADER_BYTES: usize = 4;

/// An attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// Type number without flags.
    pub number: u16,
    /// Type including flags.
    pub raw: u16,
    /// Value without padding.
    pub value: &'a [u8],
}

/// Parses the attributes in `bytes`, up to the first incomplete one.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let raw = u16_at(rest, 2)?;
        let value = rest.get(HEADER_BYTES..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Attribute { number: raw & NUMBER, raw, value })
    })
}

/// The value of the first attribute with this number.
pub fn find(bytes: &[u8], number: u16) -> Option<&[u8]> {
    attributes(bytes).find(|a| a.number == number).map(|a| a.value)
}

/// An integer at the start of an attribute's value.
pub(crate) fn find_u32(bytes: &[u8], number: u16) -> Option<u32> {
    u32_at(find(bytes, number)?, 0)
}
pub(crate) fn find_u64(bytes: &[u8], number: u16) -> Option<u64> {
    u64_at(find(bytes, number)?, 0)
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
/// A string up to its NUL.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    core::str::from_utf8(bytes.split(|b| *b == 0).next()?).ok()
}

/// Builds attributes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
    /// # Panics
    /// If the value is 64 kB or more, which no attribute can hold.
    pub(crate) fn put(&mut self, raw: u16, value: &[u8]) -> &mut Self {
        let length = u16::try_from(HEADER_BYTES + value.len()).expect("an attribute has less than 64 kB");
        self.bytes(&length.to_ne_bytes()).bytes(&raw.to_ne_bytes()).bytes(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
    pub(crate) fn u32(&mut self, raw: u16, value: impl Into<Option<u32>>) -> &mut Self {
        if let Some(value) = value.into() {
            self.put(raw, &value.to_ne_bytes());
        }
        self
    }
    pub(crate) fn u64(&mut self, raw: u16, value: impl Into<Option<u64>>) -> &mut Self {
        if let Some(value) = value.into() {
            self.put(raw, &value.to_ne_bytes());
        }
        self
    }
    pub(crate) fn flag(&mut self, raw: u16, value: Option<bool>) -> &mut Self {
        self.u32(raw, value.map(u32::from))
    }
    /// A string with its NUL.
    pub(crate) fn text(&mut self, raw: u16, value: &str) -> &mut Self {
        let mut bytes = value.as_bytes().to_vec();
        bytes.push(0);
        self.put(raw, &bytes)
    }
    pub(crate) fn nested(&mut self, raw: u16, fill: impl FnOnce(&mut Writer)) -> &mut Self {
        let mut inner = Writer::default();
        fill(&mut inner);
        self.put(raw, &inner.0)
    }
}

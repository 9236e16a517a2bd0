//! The stored byte format: variable-length numbers between a header with a version and a checksum.
use alloc::vec::Vec;
use core::fmt;

/// Format version. A change of meaning needs a new version; old ones stay readable.
const VERSION: u8 = 1;
/// Bytes of the header: kind and version.
const HEADER: usize = 2;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 4;
/// Most bytes of a 64-bit number at seven bits each.
const LONGEST_NUMBER: usize = 10;

/// Why bytes could not be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// Fewer bytes than announced.
    Short,
    /// A different kind of data.
    Kind(u8),
    /// An unknown version.
    Version(u8),
    /// The checksum does not match.
    Checksum,
    /// A number of more than 64 bits.
    Number,
    /// More samples or windows than a chunk has.
    Count(u64),
    /// A time before 1970 or beyond what a time holds.
    Time,
    /// A code without an outcome.
    Code(u16),
    /// A bucket out of range, or an empty bucket at an end.
    Bucket,
    /// More bytes than announced.
    Trailing,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Short => write!(f, "is truncated"),
            DecodeError::Kind(kind) => write!(f, "has the unexpected kind {kind}"),
            DecodeError::Version(version) => {
                write!(f, "has version {version}, but this program supports version {VERSION}")
            }
            DecodeError::Checksum => write!(f, "has a wrong checksum"),
            DecodeError::Number => write!(f, "has a number with more than 64 bits"),
            DecodeError::Count(count) => write!(f, "announces {count} entries, more than the limit"),
            DecodeError::Time => write!(f, "has an invalid time"),
            DecodeError::Code(code) => write!(f, "has the invalid outcome code {code}"),
            DecodeError::Bucket => write!(f, "has an invalid bucket"),
            DecodeError::Trailing => write!(f, "has extra bytes at the end"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// Encodes numbers.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new(kind: u8) -> Self {
        Writer(alloc::vec![kind, VERSION])
    }
    /// LEB128: seven bits per byte, lowest first; the top bit is set if more follow.
    pub(crate) fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }
    /// Zigzag encoding, so that small numbers of either sign are short: 0, -1, 1, -2, ...
    pub(crate) fn signed(&mut self, n: i64) {
        self.number(((n << 1) ^ (n >> 63)) as u64);
    }
    pub(crate) fn bytes(&mut self, bytes: impl Iterator<Item = u8>) {
        self.0.extend(bytes);
    }
    pub(crate) fn finish(self) -> Vec<u8> {
        seal(self.0)
    }
}

/// Decodes numbers.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Checks the checksum, the kind and the version.
    pub(crate) fn open(bytes: &'a [u8], kind: u8) -> Result<Self, DecodeError> {
        let body = bytes.len().checked_sub(CHECKSUM).filter(|n| *n >= HEADER).ok_or(DecodeError::Short)?;
        let (body, sum) = bytes.split_at(body);
        let [found, version, rest @ ..] = body else { return Err(DecodeError::Short) };
        if *found != kind {
            return Err(DecodeError::Kind(*found));
        }
        if *version != VERSION {
            return Err(DecodeError::Version(*version));
        }
        if sum != checksum(body).to_le_bytes() {
            return Err(DecodeError::Checksum);
        }
        Ok(Reader(rest))
    }
    pub(crate) fn number(&mut self) -> Result<u64, DecodeError> {
        let mut n = 0_u64;
        for place in 0..LONGEST_NUMBER {
            let (byte, rest) = self.0.split_first().ok_or(DecodeError::Short)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            // Only one bit is left for the tenth byte.
            if place == LONGEST_NUMBER - 1 && bits > 1 {
                return Err(DecodeError::Number);
            }
            n |= bits << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(DecodeError::Number)
    }
    pub(crate) fn signed(&mut self) -> Result<i64, DecodeError> {
        let n = self.number()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(DecodeError::Short)?;
        self.0 = rest;
        Ok(taken)
    }
    /// Remaining bytes. They bound any announced count, and so the memory allocated for it.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(DecodeError::Trailing) }
    }
}

/// Appends the checksum, so that a decoder judges the content.
pub fn seal(mut body: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&body);
    body.extend(sum.to_le_bytes());
    body
}

/// CRC-32 of IEEE 802.3 (CRC-32/ISO-HDLC).
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_has_its_published_check_value() {
        // The published check value of CRC-32/ISO-HDLC.
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn numbers_of_all_lengths() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut out = Writer::new(7);
        for n in numbers {
            out.number(n);
            out.signed(n as i64);
        }
        let bytes = out.finish();
        let mut reader = Reader::open(&bytes, 7).unwrap();
        for n in numbers {
            assert_eq!((reader.number(), reader.signed()), (Ok(n), Ok(n as i64)));
        }
        reader.end().unwrap();
    }
}

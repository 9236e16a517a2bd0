//! Errors of reading capture files.
use core::fmt;

/// Why a file cannot be read, or not to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaptureError {
    /// The file does not start like a capture.
    NotACapture {
        /// Its first four bytes.
        begins: [u8; 4],
    },
    /// The file is shorter than the header of a capture.
    Short {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A field has an impossible value: the rest of the file is damaged.
    Damaged {
        /// File offset of the record.
        offset: u64,
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The kind of bound, in words.
        bound: &'static str,
        /// The bound.
        limit: u64,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureError::NotACapture { begins: [a, b, c, d] } => write!(
                f,
                "not a capture file: it starts with {a:02x} {b:02x} {c:02x} {d:02x}, which is neither pcap nor pcapng"
            ),
            CaptureError::Short { bytes } => {
                write!(f, "has {bytes} bytes, less than the header of a capture (24)")
            }
            CaptureError::Damaged { offset, field, value, bound, limit } => {
                write!(f, "damaged at byte {offset}: {field} is {value} ({bound} {limit})")
            }
        }
    }
}
impl core::error::Error for CaptureError {}

/// The file ends within a record, for example because the capturing program was killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutRecord {
    /// File offset of the record.
    pub offset: u64,
    /// Bytes of the record in the file.
    pub stored: usize,
}

impl fmt::Display for CutRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CutRecord { offset, stored } = self;
        write!(f, "the last record, at byte {offset}, is truncated after {stored} bytes and was skipped")
    }
}

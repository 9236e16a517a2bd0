//! Why a file cannot be read on.
use core::fmt;

/// Why a file cannot be read, or not further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaptureError {
    /// It does not begin as a capture does.
    NotACapture {
        /// Its first bytes.
        begins: [u8; 4],
    },
    /// A field has a value that cannot be: from here on the file is damaged.
    Damaged {
        /// Where the record begins, bytes from the start of the file.
        offset: u64,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What bounds it, in words.
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
                "no capture: begins with {a:02x} {b:02x} {c:02x} {d:02x}, which is neither pcap nor pcapng"
            ),
            CaptureError::Damaged { offset, field, value, bound, limit } => {
                write!(f, "damaged at byte {offset}: {field} is {value}, {bound} {limit}")
            }
        }
    }
}
impl core::error::Error for CaptureError {}

/// The end of a file within a record, as when the capturing program was ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutRecord {
    /// Where the record begins, bytes from the start of the file.
    pub offset: u64,
    /// Bytes of it that there are.
    pub stored: usize,
}

impl fmt::Display for CutRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CutRecord { offset, stored } = self;
        write!(f, "the last record, at byte {offset}, is cut after {stored} bytes: it was left out")
    }
}

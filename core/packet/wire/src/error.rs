//! Why bytes are not what they should be.
use core::fmt;

/// Why bytes are not a packet of the expected kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// Fewer bytes than the header, or than a length in the header says.
    Truncated {
        /// What was read.
        what: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that there are.
        got: usize,
    },
    /// A field has a value that cannot be.
    Malformed {
        /// What was read.
        what: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        value: usize,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Truncated { what, needed, got } => {
                write!(f, "{what}: {got} bytes, needs {needed}")
            }
            WireError::Malformed { what, field, value } => write!(f, "{what}: {field} cannot be {value}"),
        }
    }
}
impl core::error::Error for WireError {}

/// Fails unless `bytes` has at least `needed`.
pub(crate) const fn need(what: &'static str, bytes: &[u8], needed: usize) -> Result<(), WireError> {
    if bytes.len() >= needed { Ok(()) } else { Err(WireError::Truncated { what, needed, got: bytes.len() }) }
}

/// The two bytes at `at`, in host order.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Puts `value` at `at`, in network order.
pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

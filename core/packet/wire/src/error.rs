//! Parse errors.
use core::fmt;

/// Why bytes are not a packet of the expected kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// Fewer bytes than the header, or than a length in the header.
    Truncated {
        /// What was parsed.
        what: &'static str,
        /// Bytes needed.
        needed: usize,
        /// Bytes available.
        got: usize,
    },
    /// A field has an impossible value.
    Malformed {
        /// What was parsed.
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
                write!(f, "{what} packet truncated: {got} bytes, {needed} needed")
            }
            WireError::Malformed { what, field, value } => write!(f, "{what}: invalid {field} {value}"),
        }
    }
}
impl core::error::Error for WireError {}

/// Fails if `bytes` has less than `needed` bytes.
pub(crate) const fn need(what: &'static str, bytes: &[u8], needed: usize) -> Result<(), WireError> {
    if bytes.len() >= needed { Ok(()) } else { Err(WireError::Truncated { what, needed, got: bytes.len() }) }
}

/// The two bytes at `at`, in host order.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Writes `value` at `at`, in network order.
pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

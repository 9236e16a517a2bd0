//! Requests for objects on a flow with [`super::FlowLoad::Objects`]: one line each, the number of
//! bytes in decimal, then blanks, which make it as long as a real request.
use alloc::vec::Vec;
use fathom_units::Bytes;

/// Maximum length of a request in bytes, including its `\n`.
pub const OBJECT_REQUEST_LIMIT_BYTES: usize = 4096;

/// A request for `object`, as a line of `length` bytes, or longer if it needs more.
#[must_use]
pub fn object_request(object: Bytes, length: usize) -> Vec<u8> {
    let mut line = alloc::format!("{}", object.get()).into_bytes();
    line.resize(line.len().max(length.saturating_sub(1)), b' ');
    line.push(b'\n');
    line
}

/// The object that a line without its `\n` requests.
#[must_use]
pub fn requested_object(line: &[u8]) -> Option<Bytes> {
    let digits = line.trim_ascii_end();
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let number = core::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok();
    number.filter(|number| *number > 0).map(Bytes)
}

//! One GET request by HTTP/3 (RFC 9114), with the static table of QPACK alone (RFC 9204).
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Longest response header that is read. RFC 9114 sets no limit; that of HTTP/1.1 here is the same.
pub const HEAD_LIMIT_BYTES: usize = 32 * 1024;
/// What a client first sends on a unidirectional stream: the type of the control stream, and
/// SETTINGS without a value, so that the server uses no dynamic table (RFC 9114, section 6.2.1).
pub const CONTROL: [u8; 3] = [0x00, 0x04, 0x00];
/// Application error code of a connection that has served its purpose (RFC 9114, section 8.1).
pub const NO_ERROR: u32 = 0x0100;

const DATA: u64 = 0x00;
const HEADERS: u64 = 0x01;
/// `:status` in the static table of QPACK (RFC 9204, appendix A): index and value.
const STATUSES: [(u64, u16); 14] = [
    (24, 103),
    (25, 200),
    (26, 304),
    (27, 404),
    (28, 503),
    (63, 100),
    (64, 204),
    (65, 206),
    (66, 302),
    (67, 400),
    (68, 403),
    (69, 421),
    (70, 425),
    (71, 500),
];

/// Why a response has no status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed HTTP header")
    }
}
impl core::error::Error for Malformed {}

/// `:method GET`, `:method HEAD` and `:scheme https` in the static table of QPACK.
const GET: u8 = 17;
const HEAD: u8 = 18;
const HTTPS: u8 = 23;

/// A GET request for `path`, which ends its stream.
#[must_use]
pub fn get(authority: &str, path: &str, agent: &str) -> Vec<u8> {
    request(GET, authority, path, agent)
}

/// A HEAD request for `path`, which ends its stream.
#[must_use]
pub fn head(authority: &str, path: &str, agent: &str) -> Vec<u8> {
    request(HEAD, authority, path, agent)
}

fn request(method: u8, authority: &str, path: &str, agent: &str) -> Vec<u8> {
    // No dynamic table.
    let mut fields = Vec::from([0x00, 0x00, 0xc0 | method, 0xc0 | HTTPS]);
    for (index, value) in [(0, authority), (1, path), (95, agent)] {
        let value: String = value.chars().filter(char::is_ascii_graphic).collect();
        push_integer(&mut fields, 0x50, 4, index);
        push_integer(&mut fields, 0x00, 7, value.len());
        fields.extend_from_slice(value.as_bytes());
    }
    // The longest form of a length; any length may have it (RFC 9000, section 16).
    let length = (0b11 << 62) | fields.len() as u64;
    [&[HEADERS as u8], &length.to_be_bytes()[..], &fields].concat()
}

/// The final status of a response of which these bytes of the stream are known; `None` if more are
/// needed.
///
/// # Errors
/// If they are not HTTP/3, or the header is longer than [`HEAD_LIMIT_BYTES`].
pub fn status(mut stream: &[u8]) -> Result<Option<u16>, Malformed> {
    loop {
        let Some((kind, length)) = variable(&mut stream).zip(variable(&mut stream)) else { return Ok(None) };
        let length = usize::try_from(length).ok().filter(|length| *length <= HEAD_LIMIT_BYTES);
        let length = length.filter(|_| kind != DATA).ok_or(Malformed)?;
        let Some((payload, rest)) = stream.split_at_checked(length) else { return Ok(None) };
        stream = rest;
        // Others are unknown, and ignored (RFC 9114, section 9).
        if kind == HEADERS {
            match field_section(payload).ok_or(Malformed)? {
                100..=199 => {}
                last => return Ok(Some(last)),
            }
        }
    }
}

/// The status of a field section, which is its first field (RFC 9114, section 4.3).
fn field_section(mut bytes: &[u8]) -> Option<u16> {
    // A dynamic table was not allowed.
    if integer(&mut bytes, 8)? != 0 {
        return None;
    }
    integer(&mut bytes, 7)?;
    let first = *bytes.first()?;
    let is_status = |index| STATUSES.iter().find(|(of, _)| *of == index);
    match first >> 6 {
        0b11 => is_status(integer(&mut bytes, 6)?).map(|(_, status)| *status),
        0b01 if first & 0x10 != 0 => {
            is_status(integer(&mut bytes, 4)?)?;
            let is_packed = bytes.first()? & 0x80 != 0;
            let length = usize::try_from(integer(&mut bytes, 7)?).ok()?;
            digits(bytes.get(..length)?, is_packed)
        }
        _ => None,
    }
}

/// Three digits, as text or by the Huffman code (RFC 7541, appendix B).
fn digits(value: &[u8], is_packed: bool) -> Option<u16> {
    if !is_packed {
        let text = core::str::from_utf8(value).ok().filter(|text| text.len() == 3)?;
        return text.parse().ok();
    }
    let [a, b, rest @ ..] = value else { return None };
    let code = u32::from_be_bytes([*a, *b, *rest.first().unwrap_or(&0xff), 0xff]);
    let (mut status, mut used) = (0, 0);
    for _ in 0..3 {
        let next = (code << used) >> 26;
        // 0 to 2 have five bits, 3 to 9 six.
        let (digit, bits) = match next {
            0..=5 => (next >> 1, 5),
            25..=31 => (next - 22, 6),
            _ => return None,
        };
        (status, used) = (status * 10 + digit, used + bits);
    }
    u16::try_from(status).ok()
}

/// An integer with a prefix of this many bits (RFC 7541, section 5.1).
fn integer(bytes: &mut &[u8], prefix: u32) -> Option<u64> {
    let mut next = || {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        Some(u64::from(*first))
    };
    let most = (1 << prefix) - 1;
    let mut value = next()? & most;
    if value < most {
        return Some(value);
    }
    // More than 28 bits exceed any limit here.
    for shift in [0, 7, 14, 21] {
        let byte = next()?;
        value += (byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn push_integer(out: &mut Vec<u8>, flags: u8, prefix: u32, value: usize) {
    let most = (1 << prefix) - 1;
    out.push(flags | value.min(most) as u8);
    let Some(mut left) = value.checked_sub(most) else { return };
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

/// An integer of variable length (RFC 9000, section 16).
fn variable(bytes: &mut &[u8]) -> Option<u64> {
    let first = *bytes.first()?;
    let (own, rest) = bytes.split_at_checked(1 << (first >> 6))?;
    *bytes = rest;
    Some(own[1..].iter().fold(u64::from(first & 0x3f), |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of a type with this payload.
    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        [&[kind, payload.len() as u8], payload].concat()
    }
    fn headers(fields: &[u8]) -> Vec<u8> {
        frame(1, &[&[0, 0], fields].concat())
    }

    /// The bytes were written by hand from RFC 9204, appendix A and RFC 7541, appendix B.
    #[test]
    fn a_status_is_read_in_each_form() {
        let indexed = headers(&[0xd9]);
        let literal = headers(&[0x5f, 0x09, 3, b'4', b'2', b'9']);
        // 011010 00010 011111: 4, 2, 9, with padding of ones.
        let packed = headers(&[0x5f, 0x09, 0x83, 0b0110_1000, 0b0100_1111, 0b1111_1111]);
        for (stream, expected) in [(&indexed, 200), (&literal, 429), (&packed, 429)] {
            assert_eq!(status(stream), Ok(Some(expected)));
            (0..stream.len()).for_each(|cut| assert_eq!(status(&stream[..cut]), Ok(None), "{cut}"));
        }
        // A frame of a reserved type with two bytes, then 103 (Early Hints).
        let after = [frame(0x21, &[1, 2]), headers(&[0xd8]), headers(&[0xff, 0x08])].concat();
        assert_eq!(status(&after), Ok(Some(500)));
    }

    #[test]
    fn what_is_not_allowed_is_malformed() {
        let dynamic = frame(1, &[1, 0, 0xd9]);
        let not_status = headers(&[0xc1]);
        let own_name = headers(&[0x27, 0, b':']);
        let long = Vec::from([1, 0x80, 0, 0xff, 0xff]);
        for stream in [frame(0, b"x"), dynamic, not_status, own_name, long, frame(1, &[])] {
            assert_eq!(status(&stream), Err(Malformed), "{stream:?}");
        }
        let odd = [&[0x83][..], &[0b1111_1111; 3]].concat();
        assert_eq!(status(&headers(&[&[0x5f, 0x09][..], &odd].concat())), Err(Malformed));
    }

    /// Written by hand from RFC 9204, section 4.5.
    #[test]
    fn a_request_has_its_fields() {
        let request = get("a.example", "/x y", "me");
        let fields = b"\x00\x00\xd1\xd7\x50\x09a.example\x51\x03/xy\x5f\x50\x02me";
        assert_eq!(request, [b"\x01\xc0\x00\x00\x00\x00\x00\x00\x19", &fields[..]].concat());
        assert_eq!(head("a.example", "/x y", "me")[11], 0xd2);
        let path = "/".repeat(300);
        let long = get("a", &path, "me");
        // 127 + 0x2d + (1 << 7) = 300.
        assert!(long.windows(4).any(|w| w == [0x51, 0x7f, 0xad, 0x01]));
    }
}

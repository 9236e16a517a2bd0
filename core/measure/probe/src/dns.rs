//! DNS queries with one question, and the parts of responses that probes need (RFC 1035 section 4).
use alloc::vec::Vec;
use core::net::IpAddr;

/// RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;
const HEADER_BYTES: usize = 12;
/// Query type of IPv4 addresses.
pub const TYPE_A: u16 = 1;
/// Query type of IPv6 addresses (RFC 3596).
pub const TYPE_AAAA: u16 = 28;
const CLASS_IN: u16 = 1;

/// Checks that `name` can be queried.
///
/// # Errors
/// The requirement that the name violates.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let bare = name.strip_suffix('.').unwrap_or(name);
    if bare.is_empty() && name == "." {
        return Ok(());
    }
    if bare.is_empty() || bare.len() > MAX_NAME {
        return Err("1 to 253 characters");
    }
    let fits =
        |label: &str| (1..=MAX_LABEL).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_graphic());
    if bare.split('.').all(fits) {
        Ok(())
    } else {
        Err("labels of 1 to 63 visible ASCII characters, separated by dots")
    }
}

/// A query with recursion desired. `name` must be one that [`check_name`] accepts.
pub fn query(id: u16, name: &str, query_type: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + name.len() + 6);
    bytes.extend(id.to_be_bytes());
    bytes.extend([0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        // `check_name` rejects longer labels.
        bytes.push(u8::try_from(label.len()).unwrap_or(u8::MAX));
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes.extend(query_type.to_be_bytes());
    bytes.extend(CLASS_IN.to_be_bytes());
    bytes
}

/// Response code of the response to `query_bytes`; `None` if `received` does not answer it. As RFC
/// 5452 section 9.1 requires, id and question are compared.
pub fn response_code(query_bytes: &[u8], received: &[u8]) -> Option<u8> {
    let is_response = *received.get(2)? & 0x80 != 0;
    let code = *received.get(3)? & 0x0f;
    let same_id = query_bytes.get(..2)? == received.get(..2)?;
    let question = query_bytes.get(HEADER_BYTES..)?;
    let theirs = received.get(HEADER_BYTES..HEADER_BYTES + question.len());
    // A server that could not parse the question may omit it.
    let questions = u16::from_be_bytes([*received.get(4)?, *received.get(5)?]);
    let same_question = questions == 0 || theirs.is_some_and(|t| t.eq_ignore_ascii_case(question));
    (is_response && same_id && same_question && received.len() >= HEADER_BYTES).then_some(code)
}

/// The addresses in a response to a query with one question; `None` if `received` does not answer
/// it. They include the addresses of the name behind an alias (CNAME), which resolvers add.
pub fn addresses(query_bytes: &[u8], received: &[u8]) -> Option<Vec<IpAddr>> {
    response_code(query_bytes, received)?;
    let mut rest = received.get(query_bytes.len()..).unwrap_or_default();
    let count = u16::from_be_bytes([*received.get(6)?, *received.get(7)?]);
    let mut found = Vec::new();
    for _ in 0..count {
        let Some((kind, data, after)) = record(rest) else { break };
        match kind {
            TYPE_A => found.extend(<[u8; 4]>::try_from(data).map(IpAddr::from)),
            TYPE_AAAA => found.extend(<[u8; 16]>::try_from(data).map(IpAddr::from)),
            _ => {}
        }
        rest = after;
    }
    Some(found)
}

/// Type and data of the record at the start (RFC 1035 section 4.1.3), and what follows.
fn record(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let mut rest = bytes;
    // Its name: labels, up to an empty one or a pointer of two bytes.
    loop {
        let length = *rest.first()?;
        rest = rest.get(if length >= 0xc0 { 2 } else { 1 + usize::from(length) }..)?;
        if length == 0 || length >= 0xc0 {
            break;
        }
    }
    // Between them are class and time to live.
    let half = |at: usize| Some(u16::from_be_bytes([*rest.get(at)?, *rest.get(at + 1)?]));
    let end = 10 + usize::from(half(8)?);
    Some((half(0)?, rest.get(10..end)?, rest.get(end..)?))
}

/// Name of a response code (RFC 1035 section 4.1.1).
pub const fn code_name(code: u8) -> &'static str {
    match code {
        0 => "no error",
        1 => "format error",
        2 => "server failure",
        3 => "no such name",
        4 => "not implemented",
        5 => "refused",
        _ => "unknown error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_the_format_of_the_rfc() {
        let bytes = query(0x1234, "a.bc", 1);
        let want = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x02bc\x00\x00\x01\x00\x01";
        assert_eq!(bytes, want);
        assert_eq!(query(0, ".", 2)[HEADER_BYTES..], [0, 0, 2, 0, 1]);
    }

    #[test]
    fn only_the_answer_to_the_question_counts() {
        let query_bytes = query(7, "Example.net", 1);
        let mut answer = query_bytes.clone();
        answer[2] |= 0x80;
        answer[3] = 3;
        answer[13] ^= 0x20;
        assert_eq!(response_code(&query_bytes, &answer), Some(3), "names have no case");
        assert_eq!(response_code(&query_bytes, &query_bytes), None, "a query is no answer");
        for length in 0..HEADER_BYTES + 3 {
            assert_eq!(response_code(&query_bytes, &answer[..length]), None, "{length} bytes");
        }
        let mut other = answer.clone();
        other[1] ^= 1;
        assert_eq!(response_code(&query_bytes, &other), None, "another id");
        answer[14] ^= 1;
        assert_eq!(response_code(&query_bytes, &answer), None, "another name");
    }

    #[test]
    fn addresses_are_found_behind_an_alias_and_in_what_is_left_of_a_response() {
        let query_bytes = query(7, "www.example.net", TYPE_A);
        let mut answer = query_bytes.clone();
        answer[2] |= 0x80;
        answer[7] = 3;
        // An alias "a.NAME" and its addresses, here of both families in one response.
        answer.extend(b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x09\x00\x04\x01a\xc0\x10");
        let alias = answer.len();
        answer.extend(b"\x01a\xc0\x10\x00\x01\x00\x01\x00\x00\x00\x09\x00\x04\xc0\x00\x02\x07");
        let first = answer.len();
        answer.extend(b"\x01a\x00\x00\x1c\x00\x01\x00\x00\x00\x09\x00\x10");
        answer.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
        let all: [IpAddr; 2] = ["192.0.2.7".parse().unwrap(), "2001:db8::9".parse().unwrap()];
        assert_eq!(addresses(&query_bytes, &answer).unwrap(), all);
        for length in query_bytes.len()..answer.len() {
            let found = addresses(&query_bytes, &answer[..length]).unwrap();
            assert_eq!(found, all[..usize::from(length >= first)], "{length} of {alias}, {first}");
        }
        answer[1] ^= 1;
        assert_eq!(addresses(&query_bytes, &answer), None, "another id");
    }

    #[test]
    fn invalid_names_are_rejected() {
        for good in [".", "net", "example.net.", "_dmarc.example.net"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", "..", "a..b", "a b", &"a".repeat(64), &"a.".repeat(128)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}

//! DNS queries with one question, and the parts of responses that probes need (RFC 1035 section 4).
use alloc::vec::Vec;

/// RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;
const MAX_NAME: usize = 253;
const HEADER_BYTES: usize = 12;
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
    fn invalid_names_are_rejected() {
        for good in [".", "net", "example.net.", "_dmarc.example.net"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", "..", "a..b", "a b", &"a".repeat(64), &"a.".repeat(128)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}

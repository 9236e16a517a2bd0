//! Text of other programs, as it may be shown: their answers can be long, and have control
//! characters.
use alloc::format;
use alloc::string::{String, ToString};

/// Maximum characters that are shown.
const MAX_LINE_CHARACTERS: usize = 200;

/// The first line of foreign text, shortened and without control characters.
pub fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut plain = line.chars().filter(|c| !c.is_control());
    let mut short: String = plain.by_ref().take(MAX_LINE_CHARACTERS).collect();
    if plain.next().is_some() {
        short.push_str("...");
    }
    short.trim_end().to_string()
}

/// The status and the first line of an HTTP response.
pub fn http_answer(status: u16, body: &[u8]) -> String {
    let line = first_line(body);
    if line.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_short_and_plain() {
        assert_eq!(first_line(b"\n  no\x1b[31m such user \r\nmore"), "no[31m such user");
        assert_eq!(http_answer(204, b""), "HTTP 204");
        assert_eq!(http_answer(500, b"oh\ndear"), "HTTP 500: oh");
        let long = first_line(&[b'x'; 500]);
        assert_eq!(long, "x".repeat(MAX_LINE_CHARACTERS) + "...");
    }
}

//! Errors of the kernel: its message (extended acknowledgment), and the meaning of the number.
use crate::attribute::{find, text, u32_at};
use crate::message::{HEADER_BYTES, Message, flags, types};
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

/// A failed request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Error number, positive.
    pub errno: i32,
    /// The kernel's message.
    pub words: Option<String>,
}

/// Error numbers of Linux.
impl Refusal {
    /// Not found: an unknown kind, or a missing parent.
    pub const ENOENT: i32 = 2;
    /// Not permitted.
    pub const EPERM: i32 = 1;
    /// No such device.
    pub const ENODEV: i32 = 19;

    /// Reads an ERROR or DONE message; `None` if it reports success.
    pub(crate) fn read(message: &Message<'_>) -> Option<Refusal> {
        let code = i32::from_ne_bytes(message.body.get(..4)?.try_into().ok()?);
        let errno = code.checked_neg().filter(|errno| *errno > 0)?;
        Some(Refusal { errno, words: words(message).map(ToOwned::to_owned) })
    }
    /// The error name and its meaning for traffic control.
    const fn meaning(&self) -> &'static str {
        match self.errno {
            1 => "not permitted (EPERM): requires root or CAP_NET_ADMIN",
            2 => "not found (ENOENT)",
            6 | 19 => "no such interface (ENODEV)",
            12 => "out of memory (ENOMEM)",
            16 => "busy (EBUSY)",
            17 => "already exists (EEXIST)",
            22 => "invalid argument (EINVAL)",
            34 => "out of range (ERANGE)",
            95 => "not supported by this kernel or interface (EOPNOTSUPP)",
            _ => "",
        }
    }
}

/// The message is after the error number and the request, of which often only the header is sent.
fn words<'a>(message: &Message<'a>) -> Option<&'a str> {
    if message.flags & flags::ACK_ATTRIBUTES == 0 {
        return None;
    }
    let at = match (message.kind, message.flags & flags::CAPPED) {
        (types::DONE, _) => 4,
        (_, 0) => 4 + usize::try_from(u32_at(message.body, 4)?).ok()?.checked_next_multiple_of(4)?,
        _ => 4 + HEADER_BYTES,
    };
    // NLMSGERR_ATTR_MSG
    text(find(message.body.get(at..)?, 1)?)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.words, self.meaning()) {
            (Some(words), "") => write!(f, "{} (error {})", words.trim_end_matches('.'), self.errno),
            (Some(words), meaning) => write!(f, "{}: {meaning}", words.trim_end_matches('.')),
            (None, "") => write!(f, "error {}", self.errno),
            (None, meaning) => f.write_str(meaning),
        }
    }
}
impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Writer;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn body(code: i32, request_bytes: u32, said: &str) -> Vec<u8> {
        let mut body = Writer::default();
        body.bytes(&code.to_ne_bytes()).bytes(&request_bytes.to_ne_bytes()).bytes(&[0; 12]);
        body.bytes(&alloc::vec![7; request_bytes as usize - 16]).text(1, said);
        body.0
    }

    #[test]
    fn the_message_of_the_kernel_comes_first() {
        let capped = flags::CAPPED | flags::ACK_ATTRIBUTES;
        let cases = [
            (
                -2,
                16,
                capped,
                "Specified qdisc kind is unknown.",
                "Specified qdisc kind is unknown: not found (ENOENT)",
            ),
            (
                -2,
                40,
                flags::ACK_ATTRIBUTES,
                "TC classifier not found",
                "TC classifier not found: not found (ENOENT)",
            ),
            (-1, 16, 0, "unread", "not permitted (EPERM): requires root or CAP_NET_ADMIN"),
            (-75, 16, 0, "", "error 75"),
            (-75, 16, capped, "Odd", "Odd (error 75)"),
        ];
        for (code, request, flags, said, expected) in cases {
            let bytes = body(code, request, said);
            let message = Message { kind: types::ERROR, flags, sequence: 1, body: &bytes };
            assert_eq!(Refusal::read(&message).unwrap().to_string(), expected);
        }
        for code in [0, 5, i32::MIN] {
            let bytes = body(code, 16, "");
            let message = Message { kind: types::ERROR, flags: 0, sequence: 1, body: &bytes };
            assert_eq!(Refusal::read(&message), None, "{code}");
        }
    }
}

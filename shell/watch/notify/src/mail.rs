//! Composes notification mails: RFC 5322, with quoted-printable text, so that any relay accepts
//! them.
use crate::notice::Notice;
use lettre::message::header::{
    ContentTransferEncoding, ContentType, Header, HeaderName, HeaderValue, MIME_VERSION_1_0,
};
use lettre::message::{Body, Mailbox};
use lettre::{Address, Message};
use std::error::Error;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Number of the message, for its identifier: a mailbox drops a message with a known identifier,
/// and two alerts may have the same time.
static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// Marks the message as automatic, so that it triggers no out-of-office replies (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }
    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(AutoSubmitted)
    }
    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Composes the message and its envelope.
///
/// # Errors
/// Which address is invalid.
pub(crate) fn message(notice: &Notice, from: &str, to: &[String], host: &str) -> Result<Message, String> {
    let address = |text: &str| text.parse::<Address>().map_err(|error| format!("\"{text}\": {error}"));
    let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
    let mut builder = Message::builder()
        .from(Mailbox::new(Some("fathom".to_owned()), address(from)?))
        .subject(subject(notice))
        .date(SystemTime::UNIX_EPOCH + Duration::from_nanos(notice.at.0))
        .message_id(Some(format!("<{}.{}.{number}@{host}>", notice.at.0, std::process::id())))
        .header(AutoSubmitted)
        .header(MIME_VERSION_1_0)
        .header(ContentType::TEXT_PLAIN);
    for one in to {
        builder = builder.to(Mailbox::new(None, address(one)?));
    }
    let encoding = ContentTransferEncoding::QuotedPrintable;
    let body = Body::new_with_encoding(body(notice), encoding);
    let body = body.map_err(|_| "the text cannot be encoded as quoted-printable".to_owned())?;
    builder.body(body).map_err(|error| error.to_string())
}

/// The subject. Control characters, which could end the header, are replaced.
fn subject(notice: &Notice) -> String {
    format!("[fathom] {}", notice.title()).chars().filter(|c| !c.is_control()).collect()
}

fn body(notice: &Notice) -> String {
    let mut text = format!("{}\n\n{}\n\n", notice.title(), notice.evidence);
    if !notice.note.is_empty() {
        text += &format!("{}\n\n", notice.note);
    }
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "alert   {}\ntarget  {}\nprobe   {}\nat      {}\nraised  {}\n",
        notice.alert, notice.target, notice.probe, notice.at, notice.raised_at
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::WallTime;
    use fathom_watch_alert::{Change, Evidence, Transition};

    fn text(target: &str, evidence: &str) -> String {
        let at = WallTime(1_700_474_520_000_000_000);
        let notice = Notice::from(&Transition {
            at,
            change: Change::Raised,
            alert: "loss".into(),
            condition: "loss",
            target: target.into(),
            group: String::new(),
            probe: "icmp".into(),
            series: None,
            raised_at: at,
            evidence: Evidence { text: evidence.into(), value: None, limit: None },
            to: Vec::new(),
            note: String::new(),
        });
        let message = message(&notice, "me@example.net", &["you@example.net".into()], "host").unwrap();
        String::from_utf8(message.formatted()).unwrap()
    }

    #[test]
    fn a_name_cannot_end_a_header() {
        let text = text("a\r\nBcc: x@y", "none");
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("Subject: [fathom] loss raised: aBcc: x@y icmp"), "{head}");
        assert!(!head.contains("\nBcc"), "{head}");
    }

    #[test]
    fn any_letters_become_short_lines_of_ascii() {
        let text = text(&"ö".repeat(60), &"a = 5 µs ".repeat(20));
        assert!(text.is_ascii() && text.contains("a =3D 5 =C2=B5s"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 78), "{text}");
    }

    #[test]
    fn headers_of_a_message() {
        let text = text("router", "loss is 10 %");
        for header in [
            "From: fathom <me@example.net>",
            "To: you@example.net",
            "Date: Mon, 20 Nov 2023 10:02:00 +0000",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: quoted-printable",
        ] {
            assert!(text.lines().any(|line| line == header), "{header}\n{text}");
        }
        assert!(text.contains("Message-ID: <1700474520000000000."), "{text}");
    }
}

//! A message of mail: RFC 5322, with its text as quoted-printable (RFC 2045), so that any relay takes it.
use crate::notice::Notice;
use fathom_units::WallTime;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// RFC 2045 section 6.7.
const MOST_LINE: usize = 76;

/// Two alerts of one moment are two messages: a mailbox drops what has an identifier that it knows.
static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// Headers and text.
pub(crate) fn message(notice: &Notice, from: &str, to: &[String], host: &str) -> String {
    let mut text = format!(
        "From: fathom <{from}>\nTo: {}\nSubject: {}\nDate: {}\nMessage-ID: <{}.{}.{}@{host}>\nAuto-Submitted: auto-generated\n\
         MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n",
        to.join(", "),
        subject(&format!("[fathom] {}", notice.title())),
        date(notice.at),
        notice.at.0,
        std::process::id(),
        MESSAGES.fetch_add(1, Ordering::Relaxed),
    );
    for line in body(notice).lines() {
        text.push_str(&quoted(line));
        text.push('\n');
    }
    text
}

fn body(notice: &Notice) -> String {
    let mut text = format!("{}\n\n{}\n\n", notice.title(), notice.evidence);
    if !notice.note.is_empty() {
        text += &format!("{}\n\n", notice.note);
    }
    // A String takes everything.
    let _ = write!(
        text,
        "alert   {}\ntarget  {}\nprobe   {}\nat      {}\nraised  {}\n",
        notice.alert, notice.target, notice.probe, notice.at, notice.raised_at
    );
    text
}

/// Words of RFC 2047 where ASCII does not do. A control character could end the header.
fn subject(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    if plain.is_ascii() {
        return plain;
    }
    let mut words = vec![String::new()];
    for letter in plain.chars() {
        let mut bytes = [0; 4];
        let coded = letter.encode_utf8(&mut bytes).bytes().fold(String::new(), |mut all, byte| {
            let is_plain = byte.is_ascii_alphanumeric();
            all += &if is_plain { char::from(byte).to_string() } else { format!("={byte:02X}") };
            all
        });
        // A word has at most 75 characters, of which 12 are its frame.
        if words.last().is_some_and(|word| word.len() + coded.len() > 60) {
            words.push(String::new());
        }
        words.iter_mut().last().into_iter().for_each(|word| word.push_str(&coded));
    }
    words.iter().map(|word| format!("=?utf-8?Q?{word}?=")).collect::<Vec<_>>().join("\n ")
}

fn quoted(line: &str) -> String {
    let (mut text, mut length) = (String::new(), 0);
    let bytes = line.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let is_last = index + 1 == bytes.len();
        let is_plain = matches!(byte, b'!'..=b'<' | b'>'..=b'~') || (*byte == b' ' && !is_last);
        let coded = if is_plain { char::from(*byte).to_string() } else { format!("={byte:02X}") };
        if length + coded.len() >= MOST_LINE {
            text.push_str("=\n");
            length = 0;
        }
        length += coded.len();
        text.push_str(&coded);
    }
    text
}

/// `20 Nov 2023 10:02:00 +0000`, of `2023-11-20T10:02:00.000Z`.
fn date(at: WallTime) -> String {
    let text = at.to_string();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().ok().and_then(|n| MONTHS.get(n.wrapping_sub(1)));
    format!("{} {} {} {} +0000", part(8, 10), month.unwrap_or(&"Jan"), part(0, 4), part(11, 19))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_cannot_be_ended_by_a_name() {
        assert_eq!(subject("a\r\nBcc: x@y"), "aBcc: x@y");
        assert_eq!(subject("Köln"), "=?utf-8?Q?K=C3=B6ln?=");
        let long = subject(&"ö".repeat(40));
        assert!(long.lines().count() > 2 && long.lines().all(|line| line.trim().len() <= 75), "{long}");
    }

    #[test]
    fn text_of_any_letters_is_seven_bits_in_short_lines() {
        assert_eq!(quoted("a = 5 µs "), "a =3D 5 =C2=B5s=20");
        let long = quoted(&"x".repeat(200));
        assert!(long.lines().all(|line| line.len() <= MOST_LINE), "{long}");
        assert_eq!(long.replace("=\n", ""), "x".repeat(200));
    }

    #[test]
    fn dates_of_mail() {
        assert_eq!(date(WallTime(1_700_474_520_000_000_000)), "20 Nov 2023 10:02:00 +0000");
    }
}

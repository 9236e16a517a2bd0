//! SMTP to a relay (RFC 5321): one nearby without TLS or password, or a provider's, by STARTTLS (RFC 3207) or TLS from the first byte, with a
//! password (RFC 4954).
use crate::wire::Wire;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fathom_watch_alert::{Login, Relay, RelayTls};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// A reply's lines are at most 512 bytes long (RFC 5321 section 4.5.3.1.5), and extensions are few.
const MOST_REPLY: u64 = 16_384;

/// A conversation, from the greeting on.
struct Session {
    stream: BufReader<Wire>,
}

/// Hands a message over. Returns the relay's last words.
pub(crate) fn send(
    relay: &Relay,
    host: &str,
    (from, to): (&str, &[String]),
    message: &str,
    limit: Duration,
) -> Result<String, String> {
    let mut session = Session::open(relay, host, limit)?;
    session.ask(&format!("MAIL FROM:<{from}>"), "2")?;
    for address in to {
        session.ask(&format!("RCPT TO:<{address}>"), "2")?;
    }
    session.ask("DATA", "3")?;
    let taken = session.say(&format!("{}\r\n.", stuffed(message)), "2", "the message")?;
    // It has the message; how it says farewell does not matter.
    let _ = session.ask("QUIT", "2");
    last(taken)
}

impl Session {
    /// Until the relay takes mail.
    fn open(relay: &Relay, host: &str, limit: Duration) -> Result<Session, String> {
        let mut wire = Wire::connect(&relay.address, limit)?;
        if relay.tls == RelayTls::Implicit {
            wire = wire.secured(&relay.address)?;
        }
        let mut session = Session { stream: BufReader::new(wire) };
        session.reply("2", "its greeting")?;
        let mut offers = session.greet(host)?;
        if relay.tls == RelayTls::StartTls {
            session = session.start_tls(relay, &offers)?;
            offers = session.greet(host)?;
        }
        if let Some(login) = &relay.login {
            session.log_in(login, &offers)?;
        }
        Ok(session)
    }
    /// Gives what the relay offers.
    fn greet(&mut self, host: &str) -> Result<Vec<String>, String> {
        let greeting = format!("EHLO {host}");
        self.say(&greeting, "2", &greeting).or_else(|_| {
            self.ask(&format!("HELO {host}"), "2")?;
            Ok(Vec::new())
        })
    }
    fn start_tls(mut self, relay: &Relay, offers: &[String]) -> Result<Session, String> {
        if offer(offers, "STARTTLS").is_none() {
            return Err("it offers no STARTTLS: nothing was handed over (tls = \"none\" would send it for all to read)".into());
        }
        self.ask("STARTTLS", "2")?;
        // What came in clear behind the answer may be of somebody on the way, and would be taken for the relay's.
        if !self.stream.buffer().is_empty() {
            return Err("it went on in clear after STARTTLS: nothing was handed over".into());
        }
        let wire = self.stream.into_inner().secured(&relay.address)?;
        Ok(Session { stream: BufReader::new(wire) })
    }
    /// By PLAIN (RFC 4616), or as some only have it by LOGIN.
    fn log_in(&mut self, login: &Login, offers: &[String]) -> Result<(), String> {
        let password = password(&login.password_file)?;
        let ways = offer(offers, "AUTH").ok_or("it offers no AUTH: it takes no user and password")?;
        let has = |name: &str| ways.split_ascii_whitespace().any(|way| way.eq_ignore_ascii_case(name));
        if has("PLAIN") {
            let both = STANDARD.encode(format!("\0{}\0{password}", login.user));
            self.say(&format!("AUTH PLAIN {both}"), "2", "AUTH PLAIN").map(|_| ())
        } else if has("LOGIN") {
            self.ask("AUTH LOGIN", "3")?;
            self.say(&STANDARD.encode(&login.user), "3", "AUTH LOGIN's user")?;
            self.say(&STANDARD.encode(password), "2", "AUTH LOGIN's password").map(|_| ())
        } else {
            Err(format!("it takes passwords by {ways}, of which none is known here (PLAIN and LOGIN are)"))
        }
    }
    /// Says a line that may be told when it fails. Gives the last line of the reply.
    fn ask(&mut self, line: &str, want: &str) -> Result<String, String> {
        last(self.say(line, want, line)?)
    }
    fn say(&mut self, line: &str, want: &str, what: &str) -> Result<Vec<String>, String> {
        let wire = self.stream.get_mut();
        let said = wire.write_all(format!("{line}\r\n").as_bytes()).and_then(|()| wire.flush());
        said.map_err(|error| format!("{what}: {error}"))?;
        self.reply(want, what)
    }
    /// The lines of a reply without their codes but for the last, if it begins as it should.
    fn reply(&mut self, want: &str, what: &str) -> Result<Vec<String>, String> {
        let mut left = (&mut self.stream).take(MOST_REPLY);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let count = left.read_line(&mut line).map_err(|e| match e.kind() {
                std::io::ErrorKind::WouldBlock => format!("no answer in time to {what}"),
                _ => format!("{what}: {e}"),
            })?;
            if count == 0 {
                return Err(format!("the relay closed the connection at {what}"));
            }
            let told = crate::http::first_line(line.as_bytes());
            if line.as_bytes().get(3) == Some(&b'-') {
                lines.push(told.get(4..).unwrap_or_default().to_owned());
                continue;
            }
            let is_wanted = told.starts_with(want);
            lines.push(told);
            return if is_wanted { Ok(lines) } else { Err(format!("{} (at {what})", last(lines)?)) };
        }
    }
}

fn last(mut lines: Vec<String>) -> Result<String, String> {
    lines.pop().ok_or_else(|| "no answer".to_owned())
}

/// What stands behind the word of an extension, if the relay has it; the last line still has its code.
fn offer<'o>(offers: &'o [String], word: &str) -> Option<&'o str> {
    let plain = |line: &'o String| line.strip_prefix("250 ").unwrap_or(line);
    offers.iter().map(plain).find_map(|line| {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        first.eq_ignore_ascii_case(word).then_some(rest)
    })
}

fn password(file: &str) -> Result<String, String> {
    let unread = |error: std::io::Error| format!("{file}: {error}");
    let mut opened = File::open(file).map_err(unread)?;
    let mode = opened.metadata().map_err(unread)?.mode() & 0o777;
    // Its group may: a service's files are often its group's.
    if mode & 0o004 != 0 {
        return Err(format!("{file}: everyone on this host can read it (mode {mode:o}): try chmod 600"));
    }
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(unread)?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(format!("{file}: its first line is to be the password, and is empty")),
    }
}

/// Lines end in CRLF, and one that begins with a dot gets another (RFC 5321 section 4.5.2).
fn stuffed(message: &str) -> String {
    let stuffed = |line: &str| if line.starts_with('.') { format!(".{line}") } else { line.to_owned() };
    message.lines().map(stuffed).collect::<Vec<_>>().join("\r\n")
}

#[cfg(test)]
mod tests {
    use super::{offer, stuffed};

    #[test]
    fn a_line_with_a_dot_ends_no_message() {
        assert_eq!(stuffed("a\n.\n..b\r\nc"), "a\r\n..\r\n...b\r\nc");
    }

    #[test]
    fn what_a_relay_offers() {
        let offers = ["relay", "STARTTLS", "auth LOGIN plain", "250 8BITMIME"].map(str::to_owned);
        assert_eq!(offer(&offers, "STARTTLS"), Some(""));
        assert_eq!(offer(&offers, "AUTH"), Some("LOGIN plain"));
        assert_eq!(offer(&offers, "8BITMIME"), Some(""));
        assert_eq!(offer(&offers, "START"), None);
    }
}

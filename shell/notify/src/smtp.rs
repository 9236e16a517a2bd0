//! SMTP to a relay nearby (RFC 5321): no TLS, no password. What goes further goes through the relay.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A reply's lines are at most 512 bytes long (RFC 5321 section 4.5.3.1.5), and extensions are few.
const MOST_REPLY: u64 = 16_384;

/// A conversation, from the greeting on.
struct Session {
    from: BufReader<TcpStream>,
    to: TcpStream,
}

/// Hands a message over. Returns the relay's last words.
pub(crate) fn send(
    relay: &str,
    host: &str,
    (from, to): (&str, &[String]),
    message: &str,
    limit: Duration,
) -> Result<String, String> {
    let mut session = Session::open(relay, limit)?;
    session.expect("2", "its greeting")?;
    if session.ask(&format!("EHLO {host}"), "2").is_err() {
        session.ask(&format!("HELO {host}"), "2")?;
    }
    session.ask(&format!("MAIL FROM:<{from}>"), "2")?;
    for address in to {
        session.ask(&format!("RCPT TO:<{address}>"), "2")?;
    }
    session.ask("DATA", "3")?;
    let taken = session.ask(&format!("{}\r\n.", stuffed(message)), "2")?;
    // It has the message; how it says farewell does not matter.
    let _ = session.ask("QUIT", "2");
    Ok(taken)
}

impl Session {
    fn open(relay: &str, limit: Duration) -> Result<Session, String> {
        let wrong = |error: std::io::Error| format!("{relay}: {error}");
        let mut last = format!("{relay}: there is no such host");
        for address in relay.to_socket_addrs().map_err(wrong)? {
            match TcpStream::connect_timeout(&address, limit) {
                Ok(to) => {
                    to.set_read_timeout(Some(limit)).map_err(wrong)?;
                    to.set_write_timeout(Some(limit)).map_err(wrong)?;
                    let from = BufReader::new(to.try_clone().map_err(wrong)?);
                    return Ok(Session { from, to });
                }
                Err(error) => last = wrong(error),
            }
        }
        Err(last)
    }
    fn ask(&mut self, line: &str, want: &str) -> Result<String, String> {
        let asked = line.lines().next().unwrap_or_default();
        let what = if want == "2" && asked.contains(": ") { "the message" } else { asked };
        self.to.write_all(format!("{line}\r\n").as_bytes()).map_err(|e| format!("{what}: {e}"))?;
        self.expect(want, what)
    }
    /// The last line of a reply, if it begins as it should.
    fn expect(&mut self, want: &str, what: &str) -> Result<String, String> {
        let mut left = (&mut self.from).take(MOST_REPLY);
        loop {
            let mut line = String::new();
            let count = left.read_line(&mut line).map_err(|e| match e.kind() {
                std::io::ErrorKind::WouldBlock => format!("no answer in time to {what}"),
                _ => format!("{what}: {e}"),
            })?;
            if count == 0 {
                return Err(format!("the relay closed the connection at {what}"));
            }
            if line.as_bytes().get(3) == Some(&b'-') {
                continue;
            }
            let line = crate::http::first_line(line.as_bytes());
            return if line.starts_with(want) { Ok(line) } else { Err(format!("{line} (at {what})")) };
        }
    }
}

/// Lines end in CRLF, and one that begins with a dot gets another (RFC 5321 section 4.5.2).
fn stuffed(message: &str) -> String {
    let stuffed = |line: &str| if line.starts_with('.') { format!(".{line}") } else { line.to_owned() };
    message.lines().map(stuffed).collect::<Vec<_>>().join("\r\n")
}

#[cfg(test)]
mod tests {
    use super::stuffed;

    #[test]
    fn a_line_with_a_dot_ends_no_message() {
        assert_eq!(stuffed("a\n.\n..b\r\nc"), "a\r\n..\r\n...b\r\nc");
    }
}

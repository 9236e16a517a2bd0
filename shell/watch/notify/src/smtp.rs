//! Sends mail to an SMTP relay with lettre: to a local one in plain text, or to a provider's with
//! STARTTLS or implicit TLS and a password.
use crate::relay_stream::RelayStream;
use fathom_text::first_line;
use fathom_watch_alert::{Login, Relay, RelayTls};
use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Ehlo, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use std::error::Error as _;
use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// One attempt to deliver a message.
struct Attempt<'a> {
    relay: &'a Relay,
    addresses: Vec<SocketAddr>,
    /// The name of this host in EHLO.
    hello: ClientId,
    /// The command whose reply is awaited, for error messages.
    step: String,
}

/// Delivers a message within `limit`. Returns the relay's last reply.
pub(crate) fn send(
    relay: &Relay,
    host: &str,
    envelope: &Envelope,
    message: &[u8],
    limit: Duration,
) -> Result<String, String> {
    let wrong = |error: io::Error| format!("{}: {error}", relay.address);
    let addresses: Vec<SocketAddr> = relay.address.to_socket_addrs().map_err(wrong)?.collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let step = "the greeting".to_owned();
    let mut attempt = Attempt { relay, addresses, hello: ClientId::Domain(host.to_owned()), step };
    // One timeout for the whole conversation, because a relay could send one byte now and then and
    // block this thread indefinitely.
    let result =
        runtime.block_on(async { tokio::time::timeout(limit, attempt.run(envelope, message, limit)).await });
    result.unwrap_or_else(|_| Err(format!("timeout at {}", attempt.step)))
}

impl Attempt<'_> {
    async fn run(&mut self, envelope: &Envelope, message: &[u8], limit: Duration) -> Result<String, String> {
        let mut connection = self.open(limit).await?;
        if let Some(login) = &self.relay.login {
            self.log_in(&mut connection, login).await?;
        }
        self.step = envelope.from().map_or_else(|| "MAIL".to_owned(), |from| format!("MAIL FROM:<{from}>"));
        let mail = connection.command(Mail::new(envelope.from().cloned(), Vec::new())).await;
        mail.map_err(|error| self.failed(&error))?;
        for to in envelope.to() {
            self.step = format!("RCPT TO:<{to}>");
            let rcpt = connection.command(Rcpt::new(to.clone(), Vec::new())).await;
            rcpt.map_err(|error| self.failed(&error))?;
        }
        "DATA".clone_into(&mut self.step);
        connection.command(Data).await.map_err(|error| self.failed(&error))?;
        "the message".clone_into(&mut self.step);
        let accepted = connection.message(message).await.map_err(|error| self.failed(&error))?;
        // The relay has accepted the message, so the reply to QUIT does not matter.
        let _ = connection.quit().await;
        Ok(last_line(&accepted))
    }
    /// Starts the conversation, with TLS if configured.
    async fn open(&mut self, limit: Duration) -> Result<AsyncSmtpConnection, String> {
        let opened = match self.relay.tls {
            RelayTls::Implicit => {
                let (to, parameters) = (self.addresses.as_slice(), Some(self.parameters()?));
                AsyncSmtpConnection::connect_tokio1(to, Some(limit), &self.hello, parameters, None).await
            }
            RelayTls::None | RelayTls::StartTls => {
                let stream = self.connect(limit)?;
                AsyncSmtpConnection::connect_with_transport(Box::new(stream), &self.hello).await
            }
        };
        let mut connection = opened.map_err(|error| self.failed(&error))?;
        if self.relay.tls == RelayTls::StartTls {
            if !connection.can_starttls() {
                return Err("the relay does not offer STARTTLS: nothing was sent (see tls)".into());
            }
            "STARTTLS".clone_into(&mut self.step);
            let started = connection.starttls(self.parameters()?, &self.hello).await;
            started.map_err(|error| self.failed(&error))?;
        }
        Ok(connection)
    }
    /// Connects to the first address that accepts within `limit`.
    fn connect(&self, limit: Duration) -> Result<RelayStream, String> {
        let wrong = |error: io::Error| format!("{}: {error}", self.relay.address);
        let mut last = format!("{}: no such host", self.relay.address);
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, limit) {
                Ok(stream) => return RelayStream::new(stream).map_err(wrong),
                Err(error) => last = wrong(error),
            }
        }
        Err(last)
    }
    fn tls_name(&self) -> &str {
        let address = self.relay.address.as_str();
        address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']'])
    }
    /// TLS settings with the system's certificate authorities.
    fn parameters(&self) -> Result<TlsParameters, String> {
        let built = TlsParameters::builder(self.tls_name().to_owned()).build_rustls();
        built.map_err(|error| format!("TLS with {}: {}", self.tls_name(), reason(&error)))
    }
    /// Logs in with PLAIN (RFC 4616), or with LOGIN if the relay supports only that.
    async fn log_in(&mut self, connection: &mut AsyncSmtpConnection, login: &Login) -> Result<(), String> {
        let password = password(&login.password_file)?;
        let known = [Mechanism::Plain, Mechanism::Login];
        let Some(mechanism) = connection.server_info().get_auth_mechanism(&known) else {
            "EHLO".clone_into(&mut self.step);
            let reply = connection.command(Ehlo::new(self.hello.clone())).await;
            return Err(no_mechanism(&reply.map_err(|error| self.failed(&error))?));
        };
        self.step = format!("AUTH {mechanism}");
        let credentials = Credentials::new(login.user.clone(), password);
        let accepted = connection.auth(&[mechanism], &credentials).await;
        accepted.map(drop).map_err(|error| self.failed(&error))
    }
    /// Describes a failure: the command, and the reply or why there was none.
    fn failed(&self, error: &Error) -> String {
        let step = &self.step;
        if let Some(code) = error.status() {
            let lines = error.source().map(ToString::to_string).unwrap_or_default();
            let last = lines.lines().last().unwrap_or_default();
            return format!("{code} {} (at {step})", first_line(last.as_bytes()));
        }
        match tls_error(error) {
            // The relay's first TLS bytes were read as they came, so they are its own.
            Some(rustls::Error::InvalidMessage(_)) if step == "STARTTLS" => {
                "the relay sent unencrypted data after STARTTLS: nothing was sent".to_owned()
            }
            Some(rustls::Error::InvalidMessage(_)) => format!(
                "TLS with {}: the reply is not TLS (if the port starts unencrypted, use tls = \"starttls\")",
                self.tls_name()
            ),
            Some(other) => format!("TLS with {}: {other}", self.tls_name()),
            None if error.is_response() && reason(error) == "incomplete response" => {
                format!("the relay closed the connection at {step}")
            }
            None => format!("{}: {} (at {step})", self.relay.address, reason(error)),
        }
    }
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}

/// The underlying TLS error, if any.
fn tls_error(error: &Error) -> Option<&rustls::Error> {
    causes(error).find_map(|error| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        error.downcast_ref().or_else(|| inner.and_then(|inner| inner.downcast_ref()))
    })
}

/// The root cause.
fn reason(error: &Error) -> String {
    let last = causes(error).last();
    first_line(last.map_or_else(|| error.to_string(), ToString::to_string).as_bytes())
}

fn no_mechanism(reply: &Response) -> String {
    let offered = reply.message().find_map(|line| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        word.eq_ignore_ascii_case("AUTH").then_some(rest)
    });
    match offered {
        None => "the relay does not offer AUTH, so it accepts no user and password".to_owned(),
        Some(offered) => format!(
            "the relay offers only the login methods {} (supported: PLAIN, LOGIN)",
            first_line(offered.as_bytes())
        ),
    }
}

/// The code and last line of a reply.
fn last_line(reply: &Response) -> String {
    let line = format!("{} {}", reply.code(), reply.message().last().unwrap_or_default());
    first_line(line.as_bytes())
}

/// Bytes read of the file of a password, which is one line.
const MAX_PASSWORD_BYTES: u64 = 64 << 10;

fn password(file: &str) -> Result<String, String> {
    let unread = |error: io::Error| format!("{file}: {error}");
    let opened = File::open(file).map_err(unread)?;
    let mode = opened.metadata().map_err(unread)?.mode() & 0o777;
    // Group access is accepted: service files often belong to a group.
    if mode & 0o004 != 0 {
        return Err(format!("{file}: readable by everyone on this host (mode {mode:o}): try chmod 600"));
    }
    let mut text = String::new();
    opened.take(MAX_PASSWORD_BYTES).read_to_string(&mut text).map_err(unread)?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(format!("{file}: the first line, the password, is empty")),
    }
}

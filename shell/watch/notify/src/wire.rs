//! A connection, in clear or by TLS.
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connection for one attempt, which ends when its time is over.
pub(crate) enum Wire {
    Clear(Timed),
    Tls(Box<StreamOwned<ClientConnection, Timed>>),
}

/// A stream until some time: not a limit for each reading, by which a far end that sends a byte now and then would hold us for ever.
pub(crate) struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(into)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Wire {
    /// To the first address of a host and port that takes it in time, and then for as long.
    pub(crate) fn connect(address: &str, limit: Duration) -> Result<Wire, String> {
        let wrong = |error: io::Error| format!("{address}: {error}");
        let mut last = format!("{address}: there is no such host");
        for one in address.to_socket_addrs().map_err(wrong)? {
            match TcpStream::connect_timeout(&one, limit) {
                // An address that does not answer takes no time from the next.
                Ok(stream) => return Ok(Wire::Clear(Timed { stream, until: Instant::now() + limit })),
                Err(error) => last = wrong(error),
            }
        }
        Err(last)
    }
    /// By TLS from here on, if one of this host's authorities vouches for the far end.
    pub(crate) fn secured(self, address: &str) -> Result<Wire, String> {
        let Wire::Clear(mut stream) = self else { return Ok(self) };
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
        let wrong = |error: &dyn std::fmt::Display| format!("TLS with {host}: {error}");
        let name = ServerName::try_from(host.to_owned()).map_err(|error| wrong(&error))?;
        let mut session = ClientConnection::new(config()?, name).map_err(|error| wrong(&error))?;
        while session.is_handshaking() {
            session.complete_io(&mut stream).map_err(|error| wrong(&refusal(&error)))?;
        }
        Ok(Wire::Tls(Box::new(StreamOwned::new(session, stream))))
    }
}

fn refusal(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(rustls::Error::InvalidMessage(_)) => {
            "it does not answer in TLS (where a port begins in clear, tls = \"starttls\")".to_owned()
        }
        _ if error.kind() == io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

fn config() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Clear(stream) => stream.read(into),
            Wire::Tls(stream) => stream.read(into),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Wire::Clear(stream) => stream.write(bytes),
            Wire::Tls(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Wire::Clear(stream) => stream.flush(),
            Wire::Tls(stream) => stream.flush(),
        }
    }
}

//! One POST request by HTTP/1.1, on its own connection.
//!
//! Not the crate ureq: without TLS, it takes 158 kB more of the program for routers, most of it for
//! what is not used here (redirects, cookies, proxies). Responses are parsed by `fathom-probe`, as
//! those to other probes.
use crate::Destination;
use fathom_os::error::without_code;
use fathom_probe::protocol::{AGENT, HttpBody, parse_response};
use fathom_watch_metrics::{Reply, Response};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Maximum time for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Maximum bytes of a body that are read: a proxy's error page may be long.
const MAX_BODY_BYTES: usize = 4_096;

/// Sends a request body within a time limit.
pub(crate) fn post(to: &Destination, body: &[u8], limit: Duration) -> Reply {
    exchange(to, body, Instant::now() + limit).unwrap_or_else(|why| Reply::Retry { why, after: None })
}

/// The time until `deadline`.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn exchange(to: &Destination, body: &[u8], deadline: Instant) -> Result<Reply, String> {
    let words = |error: io::Error| match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "timeout".to_owned(),
        _ => without_code(&error),
    };
    let mut stream = connect(to, deadline).map_err(words)?;
    let sent =
        send(&mut stream, &head(to, body.len()), deadline).and_then(|()| send(&mut stream, body, deadline));
    // A receiver may reply before it has read everything. Then its reply says more than the error.
    let replied = receive(to, &mut stream, deadline);
    match (sent, replied) {
        (_, Ok(Some(reply))) => reply,
        (Err(error), _) | (Ok(()), Err(error)) => Err(words(error)),
        (Ok(()), Ok(None)) => Err("it closed the connection without a response".to_owned()),
    }
}

fn connect(to: &Destination, deadline: Instant) -> io::Result<TcpStream> {
    let addresses: Vec<SocketAddr> = (to.url.host.as_str(), to.url.port).to_socket_addrs()?.collect();
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, left(deadline)?.min(CONNECT_LIMIT)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn head(to: &Destination, body_bytes: usize) -> Vec<u8> {
    let url = &to.url;
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let mut head = format!(
        "POST {} HTTP/1.1\r\nHost: {host}:{}\r\nUser-Agent: {AGENT}\r\nConnection: close\r\n\
         Content-Length: {body_bytes}\r\nContent-Encoding: {}\r\n",
        url.path,
        url.port,
        to.encoding()
    );
    let own = to.headers.iter().map(|(name, value)| (&**name, &**value));
    for (name, value) in to.wire_format().headers().iter().copied().chain(own) {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn send(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        let sent = stream.write(bytes)?;
        bytes = bytes.get(sent..).unwrap_or_default();
    }
    Ok(())
}

/// Reads more bytes. Returns whether there were any before the end of the connection.
fn read(stream: &mut TcpStream, to: &mut Vec<u8>, deadline: Instant) -> io::Result<bool> {
    let mut buffer = [0; 1_024];
    stream.set_read_timeout(Some(left(deadline)?))?;
    let got = stream.read(&mut buffer)?;
    to.extend_from_slice(buffer.get(..got).unwrap_or_default());
    Ok(got > 0)
}

/// The reply; `None` if the connection ended before. Bytes that are not HTTP are a reply, too: the
/// receiver is not what it should be, for now.
fn receive(
    to: &Destination,
    stream: &mut TcpStream,
    deadline: Instant,
) -> io::Result<Option<Result<Reply, String>>> {
    let mut bytes = Vec::new();
    loop {
        match parse_response(&bytes) {
            Err(error) => return Ok(Some(Err(error.to_string()))),
            // Another one follows.
            Ok(Some((response, used))) if response.status < 200 => drop(bytes.drain(..used)),
            Ok(Some((response, used))) => {
                let retry_after = response.retry_after.map(str::to_owned);
                let (status, ends) = (response.status, response.body);
                let mut body = bytes.split_off(used);
                complete(stream, ends, &mut body, deadline);
                return Ok(Some(Ok(to.wire_format().reply(&Response {
                    status,
                    says_written: false,
                    retry_after: retry_after.as_deref(),
                    body: content(ends, &body),
                }))));
            }
            Ok(None) => {
                if !read(stream, &mut bytes, deadline)? {
                    return Ok(None);
                }
            }
        }
    }
}

/// Reads the rest of a body, at most as much as is shown of it. An error only ends it.
fn complete(stream: &mut TcpStream, ends: HttpBody, body: &mut Vec<u8>, deadline: Instant) {
    let wanted = match ends {
        HttpBody::Bytes(bytes) => usize::try_from(bytes).unwrap_or(MAX_BODY_BYTES).min(MAX_BODY_BYTES),
        HttpBody::Chunked | HttpBody::UntilClose => MAX_BODY_BYTES,
    };
    while body.len() < wanted && read(stream, body, deadline).unwrap_or(false) {}
    body.truncate(wanted);
}

/// The beginning of a body: of one in chunks, that of the first chunk.
fn content(ends: HttpBody, body: &[u8]) -> &[u8] {
    if ends != HttpBody::Chunked {
        return body;
    }
    let start = body.iter().position(|byte| *byte == b'\n').map_or(body.len(), |end| end + 1);
    body.get(start..).unwrap_or_default()
}

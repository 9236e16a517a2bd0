//! HTTP over a plain socket: a client library would not send what a hostile client sends.
use crate::synthetic::Made;
use fathom_watch_web::serve;
use fathom_web::{Server, WebConfig};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// A parsed response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e} in {self:?}"))
    }
}

/// A server on loopback with generated targets, on any port.
pub(crate) fn server(targets: u32) -> Server {
    start(&WebConfig { listen: "127.0.0.1:0".parse().unwrap(), ..WebConfig::default() }, targets)
}

pub(crate) fn start(config: &WebConfig, targets: u32) -> Server {
    let made = Made::new(targets);
    serve(config, Arc::new(made), Box::new(move || Ok(Box::new(made)))).unwrap()
}

/// Sends bytes and reads until the server closes.
pub(crate) fn raw(server: &Server, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.address.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // A server may close after its response, before everything is sent.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

pub(crate) fn get(server: &Server, path: &str, headers: &str) -> Answer {
    send(server, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"))
}

pub(crate) fn send(server: &Server, request: &str) -> Answer {
    parse(&raw(server, request.as_bytes()))
}

pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
        panic!("no head in {:?}", String::from_utf8_lossy(bytes));
    });
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let pair =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let headers: BTreeMap<_, _> = lines.filter_map(pair).collect();
    let body = &bytes[end + 4..];
    let chunked = headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked");
    Answer { status, headers, body: if chunked { unchunk(body) } else { body.to_vec() } }
}

fn unchunk(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            break;
        }
        whole.extend(&body[end + 2..end + 2 + length]);
        body = &body[end + 4 + length..];
    }
    whole
}

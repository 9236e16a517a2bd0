//! Simulated receivers, which give the responses of a list.
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

/// A received request.
pub(crate) struct Request {
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Answers each request with the next response, and repeats the last one. An empty string means no
/// response.
pub(crate) fn receiver(answers: Vec<String>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("url = 'http://{}/x'\n", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        let mut answers = answers.into_iter().peekable();
        let mut held = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            let Some(request) = read(&mut stream) else { continue };
            let answer = answers.peek().unwrap().clone();
            if sender.send(request).is_err() {
                return;
            }
            let _ = stream.get_mut().write_all(answer.as_bytes());
            if answer.is_empty() {
                held.push(stream);
            }
            let taken = answers.next();
            if answers.peek().is_none() {
                answers = taken.into_iter().collect::<Vec<_>>().into_iter().peekable();
            }
        }
    });
    (url, requests)
}

fn read(stream: &mut BufReader<std::net::TcpStream>) -> Option<Request> {
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    Some(Request { headers, body })
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

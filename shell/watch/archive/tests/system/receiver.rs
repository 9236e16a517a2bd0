//! A simulated HTTP server that stores objects, and sometimes fails.
use crate::objects::Objects;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Stores the object and answers 200.
    Store,
    /// Answers with a status.
    Answer(u16),
    /// Stores the object and never answers.
    Hang,
    /// Reads half of the object and closes the connection.
    CloseMidway,
    /// Stores the object and closes the connection within the answer.
    Truncate,
}

#[derive(Default)]
pub(crate) struct Received {
    /// By key.
    pub(crate) objects: Objects,
    /// Keys in the order of arrival.
    pub(crate) order: Vec<String>,
    pub(crate) tokens: Vec<String>,
}

/// Handles each request by the next action, and then stores all. Returns the URL.
pub(crate) fn receiver(actions: Vec<Action>) -> (String, Arc<Mutex<Received>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/base/", listener.local_addr().unwrap());
    let received = Arc::new(Mutex::new(Received::default()));
    let of_thread = Arc::clone(&received);
    std::thread::spawn(move || {
        let mut actions = actions.into_iter();
        let mut held = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let action = actions.next().unwrap_or(Action::Store);
            let mut stream = BufReader::new(stream);
            if handle(&mut stream, action, &of_thread).is_some() && action == Action::Hang {
                held.push(stream);
            }
        }
    });
    (url, received)
}

fn handle(stream: &mut BufReader<TcpStream>, action: Action, received: &Mutex<Received>) -> Option<()> {
    let mut first = String::new();
    stream.read_line(&mut first).ok()?;
    let mut words = first.split(' ');
    assert_eq!(words.next(), Some("PUT"), "{first}");
    let key = decoded(words.next()?.strip_prefix("/base/")?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    if headers.contains_key("expect") {
        stream.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    let mut body = vec![0; if action == Action::CloseMidway { length / 2 } else { length }];
    stream.read_exact(&mut body).ok()?;
    let mut all = received.lock().unwrap();
    all.tokens.push(headers.get("authorization").cloned().unwrap_or_default());
    if matches!(action, Action::Store | Action::Hang | Action::Truncate) {
        all.order.push(key.clone());
        all.objects.insert(key, body);
    }
    let answer = match action {
        Action::Store => "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned(),
        Action::Answer(status) => format!(
            "HTTP/1.1 {status} no\r\nLocation: http://other.example/\r\nConnection: close\r\nContent-Length: 7\r\n\r\nnot now"
        ),
        Action::Truncate => "HTTP/1.1 20".to_owned(),
        Action::Hang | Action::CloseMidway => String::new(),
    };
    stream.get_mut().write_all(answer.as_bytes()).ok()
}

fn decoded(path: &str) -> String {
    let mut bytes = path.bytes();
    let mut text = Vec::new();
    while let Some(byte) = bytes.next() {
        let digits = if byte == b'%' { [bytes.next().unwrap(), bytes.next().unwrap()] } else { [0, 0] };
        let escaped = std::str::from_utf8(&digits).ok().and_then(|two| u8::from_str_radix(two, 16).ok());
        text.push(if byte == b'%' { escaped.unwrap() } else { byte });
    }
    String::from_utf8(text).unwrap()
}

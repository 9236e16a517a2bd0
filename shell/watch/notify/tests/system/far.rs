//! Receivers on loopback.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// A web server that answers the n-th request with the n-th response and later ones with the last.
/// Passes on each request's first line, headers and body.
pub(crate) fn web(answers: &'static [&'static str]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for (index, stream) in listener.incoming().enumerate() {
            let request = request(&mut stream.as_ref().unwrap());
            let answer = answers[index.min(answers.len() - 1)];
            let reply = format!("HTTP/1.1 {answer}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nyes");
            let _ = stream.unwrap().write_all(reply.as_bytes());
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (url, received)
}

fn request(stream: &mut &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut text, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        text += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    text + &String::from_utf8(body).unwrap()
}

/// A server that accepts connections and never answers.
pub(crate) fn silent() -> (String, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    (listener.local_addr().unwrap().to_string(), listener)
}

/// A relay that sends its greeting one letter at a time, after each 0.1 s without input.
pub(crate) fn dribbling() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
        let mut letters = "220 slowly does it\r\n".bytes();
        // Until the client disconnects or sends something.
        while stream.read(&mut [0]).is_err() {
            let Some(letter) = letters.next() else { return };
            stream.write_all(&[letter]).unwrap();
        }
    });
    address
}

/// A port without a listener.
pub(crate) fn closed() -> String {
    format!("127.0.0.1:{}", fathom_test_support::unused_port())
}

/// A mail relay that answers commands with this prefix with `wrong`. Passes on everything it
/// receives.
pub(crate) fn relay(wrong: Option<(&'static str, &'static str)>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut all, mut is_data) = (String::new(), false);
        stream.write_all(b"220 relay ESMTP\r\n").unwrap();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                break;
            }
            all += &line;
            if is_data && line != ".\r\n" {
                continue;
            }
            let answer = match wrong {
                Some((start, answer)) if line.starts_with(start) => answer,
                _ if is_data => "250 2.0.0 queued as 7",
                _ if line.starts_with("EHLO") => "250-relay\r\n250 8BITMIME",
                _ if line.starts_with("DATA") => "354 go on",
                _ if line.starts_with("QUIT") => "221 bye",
                _ => "250 ok",
            };
            is_data = line.starts_with("DATA") && answer.starts_with('3');
            stream.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
            if line.starts_with("QUIT") {
                break;
            }
        }
        let _ = sender.send(all);
    });
    (address, received)
}

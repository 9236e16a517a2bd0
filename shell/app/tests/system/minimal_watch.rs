//! The watch of routers, from probes on loopback to the requests that a receiver gets.
use fathom_app::CancelToken;
use fathom_app::minimal_watch::{PostFormat, PushRequest, WatchEvent, WatchSettings, checked, run};
use fathom_units::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

const TARGETS: [&str; 3] = ["127.0.0.1", "127.0.0.2", "nowhere.invalid"];

fn settings() -> WatchSettings {
    WatchSettings {
        targets: TARGETS.map(str::to_owned).to_vec(),
        interval: Duration::from_millis(100),
        push_interval: Duration::from_secs(1),
    }
}

fn push(url: &str) -> PushRequest {
    PushRequest {
        url: url.to_owned(),
        format: PostFormat::Otlp,
        has_classic_histograms: false,
        labels: vec![("site".to_owned(), "berlin".to_owned())],
        headers: Vec::new(),
    }
}

/// The body of a request, which is answered.
fn received(stream: TcpStream) -> Vec<u8> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    body
}

fn has(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|bytes| bytes == text.as_bytes())
}

#[test]
fn a_receiver_gets_the_counts_of_probes_and_at_a_stop_the_last_ones() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/metrics", listener.local_addr().unwrap());
    let cancel = CancelToken::new();
    let stop = cancel.clone();
    let receiver = std::thread::spawn(move || {
        // The first points are known when their probes have settled, and the last ones at the stop.
        let first = received(listener.accept().unwrap().0);
        stop.cancel();
        let second = received(listener.accept().unwrap().0);
        // Those after it do not wait for an answer.
        (first, second)
    });
    let mut failed = Vec::new();
    let destination = checked(&settings(), &push(&url)).unwrap();
    let ended = run(&settings(), &destination, &cancel, &mut |event| {
        if let WatchEvent::NotProbed(target, _) = event {
            failed.push(target.to_owned());
        }
    });
    ended.unwrap();
    let (first, second) = receiver.join().unwrap();
    for body in [&first, &second] {
        for text in TARGETS.iter().chain(&["berlin", "answered", "fathom_rtt_seconds", "fathom_probes_total"])
        {
            assert!(has(body, text), "{text}");
        }
    }
    assert_ne!(first, second);
    failed.retain(|target| target != TARGETS[2]);
    // The others may have no address yet when their first probe is due.
    assert!(failed.len() <= 2, "{failed:?}");
}

#[test]
fn wrong_settings_are_refused_before_anything_is_sent() {
    let good = push("http://192.0.2.1/");
    assert!(checked(&settings(), &good).is_ok());
    let cases = [
        (settings(), push("https://192.0.2.1/"), "https://192.0.2.1/: this build has no TLS"),
        (settings(), push("192.0.2.1:9090"), "must start with http:// or https://"),
        (
            WatchSettings { interval: Duration::from_millis(99), ..settings() },
            good.clone(),
            "--interval: invalid value 99ms (expected 100ms to 86400s)",
        ),
        (
            WatchSettings { push_interval: Duration::from_secs(601), ..settings() },
            good.clone(),
            "--push-interval: invalid value 601s (expected 1s to 600s)",
        ),
        (
            settings(),
            PushRequest { labels: vec![("job".to_owned(), "x".to_owned())], ..good },
            "invalid label \"job\"",
        ),
    ];
    for (wrong, push, words) in cases {
        let error = checked(&wrong, &push).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

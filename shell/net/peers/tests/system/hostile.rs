//! Servers that refuse, disconnect or lie.
use crate::stand_in::{StandIn, cloudflare, first, reply, send, test};
use fathom_peers::Trust;
use fathom_run::{Interruption, Metric, Note, PhaseKind, SeriesKey};
use fathom_units::Direction;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

#[test]
fn each_refusal_is_one_clear_error() {
    let cases = [
        ("404 Not Found", "", "HTTP status 404"),
        ("429 Too Many Requests", "Retry-After: 60\r\n", "HTTP status 429, retry after 60"),
        ("302 Found", "Location: /x\r\n", "more than 5 redirects"),
        ("302 Found", "Location: ftp://host/x\r\n", "redirects to \"ftp://host/x\" (expected a web page)"),
        ("200 OK", "", "the file has 4 bytes (at least 1000000)"),
    ];
    for (status, fields, expected) in cases {
        let server = StandIn::start(move |_, out| reply(out, status, fields, "text"));
        let error = server.error("/x");
        assert!(error.starts_with("http") && error.ends_with(expected), "{error}");
    }
    let nothing = StandIn::start(|_, out| reply(out, "404 Not Found", "", ""));
    let error = nothing.error("/");
    let tried = ["/.well-known/nq: HTTP status 404", "/__down", "backend/empty.php", "give a large file"];
    assert!(tried.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_page_for_every_path_is_not_a_speed_test() {
    let portal = StandIn::start(|_, out| reply(out, "200 OK", "", "<html>Please log in</html>"));
    let error = portal.error("/");
    assert!(error.contains("no speed test"), "{error}");
    assert!(error.contains("/__down: 26 bytes instead of 100"), "{error}");
}

#[test]
fn other_services_and_silence_are_named() {
    let ssh = StandIn::start(|_, out| {
        out.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")?;
        Ok(true)
    });
    assert!(ssh.error("/x").contains("malformed HTTP header"), "{}", ssh.error("/x"));
    let closed = StandIn::start(|_, _| Ok(false));
    assert!(closed.error("/x").ends_with("closed the connection"), "{}", closed.error("/x"));
    // It waits until the test is over.
    let (over, is_over) = channel::<()>();
    let is_over = Mutex::new(is_over);
    let silent = StandIn::start(move |_, _| Ok(is_over.lock().unwrap().recv().is_ok()));
    let unanswered = silent.error("/x");
    drop(over);
    assert!(unanswered.contains("no response within 2s"), "{unanswered}");
    let server = StandIn { port: 1, trust: Trust::Host, received: Arc::default() };
    assert!(server.error("/x").ends_with("127.0.0.1:1 refused the connection"), "{}", server.error("/x"));
    for (url, expected) in [
        ("http://", "invalid URL"),
        ("ftp://127.0.0.1/x", "unknown protocol \"ftp\" (expected http, https, h3, crusader,"),
        ("http://name.invalid/", "name.invalid"),
    ] {
        let error = server.test(url).unwrap_err().to_string();
        assert!(error.contains(expected), "{url}: {error}");
    }
}

#[test]
fn a_server_that_starts_to_refuse_ends_the_load_with_its_reason() {
    // The first request looks at the file, then each of two flows gets it once.
    let is_early = first(3);
    let server = StandIn::start(move |_, out| {
        if is_early() {
            send(out, "Content-Length: 5000000\r\n", 5_000_000)
        } else {
            reply(out, "429 Too Many Requests", "Retry-After: 3600\r\n", "")
        }
    });
    let run = server.test(&server.url("/x")).unwrap();
    let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    assert_eq!(message, "HTTP status 429, retry after 3600");
}

#[test]
fn a_download_that_breaks_off_is_reported() {
    let server = StandIn::start(|_, out| {
        send(out, "Content-Length: 9223372036854775808\r\n", 3_000_000).map(|_| false)
    });
    let run = server.test(&server.url("/x")).unwrap();
    let broken = |note: &Note| matches!(note, Note::FlowFailed { message, .. } if message.contains("during a download"));
    assert!(run.notes.iter().any(broken), "{:?}", run.notes);
    assert!(run.partial.is_some());
    // What was measured until then is kept.
    assert!(run.phases.iter().any(|phase| phase.load.as_ref().is_some_and(|l| l.delivered_down_bytes > 0)));
}

#[test]
fn an_upload_that_is_refused_is_reported() {
    let server = StandIn::start(|line, out| match line.split_once("bytes=") {
        Some((_, bytes)) => send(out, &format!("Content-Length: {bytes}\r\n"), bytes.parse().unwrap()),
        None => reply(out, "413 Content Too Large", "", "").map(|_| false),
    });
    let run = server.test(&server.url("/")).unwrap();
    let refused =
        |note: &Note| matches!(note, Note::FlowFailed { message, .. } if message == "HTTP status 413");
    assert!(run.notes.iter().any(refused), "{:?}", run.notes);
}

/// Answers downloads at once, and reads nothing of an upload until the test is over.
fn never_read(stream: TcpStream, is_over: &Mutex<Receiver<()>>) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(1_000, stream.try_clone()?);
    loop {
        let (mut request, mut line) = (String::new(), String::new());
        input.read_line(&mut request)?;
        while line != "\r\n" && !request.is_empty() {
            line.clear();
            input.read_line(&mut line)?;
        }
        if request.starts_with("POST") {
            return is_over.lock().unwrap().recv().map_err(std::io::Error::other);
        }
        let first = request.trim_end().trim_end_matches(" HTTP/1.1");
        if request.is_empty() || !cloudflare(first, &mut &stream)? {
            return Ok(());
        }
    }
}

#[test]
fn what_shows_that_the_server_was_the_limit_is_recorded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let (over, is_over) = channel::<()>();
    let is_over = Arc::new(Mutex::new(is_over));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let is_over = is_over.clone();
            std::thread::spawn(move || drop(never_read(stream, &is_over)));
        }
    });
    let run = test(&url, &Trust::These(Vec::new())).unwrap();
    drop(over);
    let of = |metric, direction| {
        let is = move |key: &SeriesKey| key.metric == metric && key.direction == Some(direction);
        run.series.iter().filter(move |series| is(&series.key))
    };
    let upload = run.phase(PhaseKind::Up).unwrap();
    let limited: Vec<f64> = of(Metric::FlowReceiverLimited, Direction::Up)
        .filter_map(|flow| flow.within(upload).last()?.value.observed())
        .collect();
    let seconds = upload.seconds();
    assert_eq!(limited.len(), 2, "of each flow");
    assert!(limited.iter().all(|limited_s| (0.5 * seconds..=seconds).contains(limited_s)), "{limited:?}");
    // Loopback may lose packets, so their number is any.
    let arrived = of(Metric::FlowOutOfOrder, Direction::Down).flat_map(|flow| &flow.values);
    assert!(arrived.count() > 0);
}

//! Tests of the alerts of `fathom watch`: raised, cleared, across a restart, replayed over history,
//! and as a test notification.
use crate::program::{Words, run, scratch};
use crate::watch::Watch;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A receiver that accepts everything and returns the bodies.
pub(crate) fn hook() -> (String, Receiver<serde_json::Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|_| !line.trim().is_empty()) {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    (url, requests)
}

/// Waits until the page has sent this many live updates, about one per second.
fn wait_for_news(page: &str, times: usize) {
    let address = page.split("http://").nth(1).unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /api/v1/live HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert_eq!(lines.filter(|line| line.starts_with("data: ")).take(times).count(), times);
}

fn config(name: &str, hook: &str, port: u16) -> String {
    let dir = scratch().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let text = format!(
        "[watch]\nstore = '{}'\nlisten = '127.0.0.1:0'\n[[receiver]]\nname = 'hook'\nwebhook = '{hook}'\n\
         [[alert]]\nname = 'gone'\ntype = 'unreachable'\nfor = '1s'\nclear_after = '0s'\nto = 'hook'\n\
         [[target]]\nname = 'server'\nhost = '127.0.0.1'\nprobe = 'tcp:{port}'\ninterval = '100ms'\ntimeout = '500ms'\n",
        dir.join("store").display()
    );
    let file = dir.join("watch.toml");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn an_alert_is_raised_survives_a_restart_and_is_cleared() {
    let (url, requests) = hook();
    let next = |status: &str| {
        let body = requests.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("no {status}"));
        assert_eq!((body["status"].as_str(), body["alert"].as_str()), (Some(status), Some("gone")), "{body}");
        body
    };
    let port = fathom_test_support::unused_port();
    let server = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let config = config("alerts", &url, port);
    let watch = Watch::start(&["watch", &config]);
    watch.wait_for_line("page: ");
    for _ in 0..5 {
        server.accept().unwrap();
    }
    drop(server);
    let raised = next("raised");
    assert_eq!(
        (raised["target"].as_str(), raised["probe"].as_str()),
        (Some("server"), Some(&*format!("tcp:{port}")))
    );
    watch.wait_for_line("gone raised: server");
    assert_eq!(watch.end(), Some(0));
    // It is not notified again, and it is cleared once the server is back.
    let again = Watch::start(&["watch", &config]);
    wait_for_news(&again.wait_for_line("page: "), 4);
    let back = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let cleared = next("cleared");
    assert_eq!(cleared["raised_at"], raised["raised_at"]);
    assert_eq!(again.end(), Some(0));
    drop(back);
    let replayed = run(&["watch", "alerts", &config, "--since", "1h", "--json"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.describe());
    let document = replayed.document();
    assert_eq!(document["alerts"][0]["alert"], "gone", "{document}");
    assert!(document["alerts"][0]["cleared_at"].is_string(), "{document}");
}

#[test]
fn a_test_reports_each_receiver() {
    let (url, requests) = hook();
    let good = config("test-alert", &url, 9);
    let output = run(&["watch", "test-alert", &good]);
    assert_eq!(output.code, Some(0), "{}", output.describe());
    assert_eq!(output.out, "hook  webhook  sent    HTTP 200\n");
    let body = requests.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(
        (body["test"].as_bool(), body["title"].as_str()),
        (Some(true), Some("TEST: test raised: test test"))
    );
    let bad = config("test-alert-bad", "http://127.0.0.1:1/", 9);
    let failed = run(&["watch", "test-alert", &bad, "--alert", "gone"]);
    assert_eq!(failed.code, Some(3), "{}", failed.describe());
    assert!(failed.out.starts_with("hook  webhook  FAILED  "), "{}", failed.describe());
    let unknown = run(&["watch", "test-alert", &good, "--alert", "los"]);
    Words::of("watch-test-alert", &scratch()).add("fathom watch test-alert --alert los", &unknown, 2);
}

//! Tests against the real iperf3.
use crate::stand_in::{StandIn, check_load, kinds, protocol, test};
use fathom_client::TestError;
use fathom_peers::Trust;
use fathom_run::{Interruption, Metric, Note, SeriesKey};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// A running `iperf3 -s`.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let port_text = port.to_string();
        let process = start_until(&["-s", "-B", "127.0.0.1", "-p", &port_text], "Server listening");
        Server { process, port }
    }
    fn url(&self) -> String {
        format!("iperf3://127.0.0.1:{}", self.port)
    }
}

/// Starts iperf3 and waits until it prints `text`. Its output is then ignored.
fn start_until(arguments: &[&str], text: &str) -> Child {
    let mut process = Command::new("iperf3")
        .args(arguments)
        .arg("--forceflush")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("iperf3 is not installed: run ./setup test");
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(text)), "iperf3 ended without \"{text}\"");
    std::thread::spawn(move || lines.for_each(drop));
    process
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
fn iperf3_carries_every_phase() {
    let server = Server::start();
    let run = test(&server.url(), &Trust::Host).unwrap();
    assert_eq!((protocol(&run), kinds(&run).len()), ("iperf3", 5));
    check_load(&run);
    let icmp = run.series(&SeriesKey::of(Metric::IcmpRtt));
    assert!(icmp.is_some_and(|s| s.values.len() >= 40), "{:?}", run.notes);
    // A second test finds the server ready.
    check_load(&test(&server.url(), &Trust::Host).unwrap());
}

#[test]
fn a_busy_server_is_named() {
    let server = Server::start();
    // It prints this heading once its streams are open.
    let port = server.port.to_string();
    let mut other = start_until(&["-c", "127.0.0.1", "-p", &port, "-t", "30", "-b", "1M"], "Interval");
    let run = test(&server.url(), &Trust::Host).unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    assert!(message.contains("serves another client"), "{message}");
    assert!(run.notes.iter().any(|note| matches!(note, Note::OtherServer { .. })));
}

#[test]
fn another_service_is_named() {
    let web = StandIn::start(|_, _| Ok(false));
    let run = test(&format!("iperf3://127.0.0.1:{}", web.port), &Trust::Host).unwrap();
    let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    // It waits for a line.
    assert_eq!(message, "no answer from iperf3 within 2s");
    let nobody = test("iperf3://127.0.0.1:1", &Trust::Host).unwrap_err();
    assert!(
        matches!(&nobody, TestError::Server { problem, .. } if problem.contains("iperf3 -s")),
        "{nobody}"
    );
}

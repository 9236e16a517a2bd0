//! Tests against the real iperf3.
use crate::stand_in::{StandIn, check_load, kinds, protocol, test, test_with};
use fathom_client::{FlowLoad, TestError};
use fathom_peers::Trust;
use fathom_run::{Interruption, Metric, Note, SeriesKey};
use fathom_units::{Direction, Rate};
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
fn iperf3_carries_datagrams_in_both_directions_and_reports_what_arrived() {
    let server = Server::start();
    let rate = FlowLoad::Datagrams(Rate::from_bits_per_second(8_000_000));
    let run = test_with(&server.url(), &Trust::Host, Some(rate)).unwrap();
    assert_eq!(run.partial, None, "{:?}", run.notes);
    for phase in run.phases.iter().filter(|phase| phase.kind.is_loaded()) {
        for direction in phase.kind.loads() {
            let load = phase.load.as_ref().unwrap();
            let bytes = match direction {
                Direction::Up => load.delivered_up_bytes,
                Direction::Down => load.delivered_down_bytes,
            };
            // Half a second of 8 Mbit/s; an upload lasts until the server has answered.
            assert!((250_000..1_000_000).contains(&bytes), "{direction} in {:?}: {bytes}", phase.kind);
            let lost = run.series(&SeriesKey::directed(Metric::LoadLoss, *direction)).unwrap();
            let lost: Vec<f64> = lost.within(phase).filter_map(|o| o.value.observed()).collect();
            assert!(!lost.is_empty() && lost.iter().all(|ratio| *ratio < 0.5), "{direction}: {lost:?}");
        }
    }
    let paced = FlowLoad::Paced(Rate::from_bits_per_second(8_000_000));
    let refused = test_with(&server.url(), &Trust::Host, Some(paced)).unwrap_err();
    assert!(matches!(&refused, TestError::Server { .. }), "{refused}");
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

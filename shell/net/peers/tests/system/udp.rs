//! Tests against the real irtt server, a STAMP reflector, and servers that lie.
use crate::stand_in::{StandIn, kinds, protocol, send, test};
use fathom_client::{PhasePlan, TestConfig, TestError, run_test_with};
use fathom_peers::{Trust, connect};
use fathom_run::{Fact, Interruption, Metric, Note, PhaseKind, Run, SeriesKey};
use fathom_units::{Direction, Duration};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

/// A running `irtt server`.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut process = Command::new("irtt")
            .args(["server", "-b", &format!("127.0.0.1:{port}")])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("irtt is not installed: run ./setup test");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("starting IPv4 listener")), "irtt ended");
        std::thread::spawn(move || lines.for_each(drop));
        // The line is printed before the socket is bound.
        while UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            std::thread::yield_now();
        }
        Server { process, port }
    }
    fn url(&self) -> String {
        format!("irtt://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A test with these changes, of phases of half a second.
fn test_with(url: &str, change: impl FnOnce(&mut TestConfig)) -> Result<Run, TestError> {
    use PhaseKind::{Down, Drain, Idle, Up};
    let short = |kind| PhasePlan { kind, min: Duration::from_millis(500), max: Duration::from_millis(500) };
    let mut config = TestConfig {
        phases: [Idle, Down, Up, Drain].map(short).to_vec(),
        flows: 2,
        sample_every: Duration::from_millis(20),
        patience: Duration::from_secs(2),
        ..TestConfig::new(url)
    };
    change(&mut config);
    let stop = AtomicBool::new(false);
    let peer = connect(&config, &Trust::Host, &stop)?;
    run_test_with(&config, peer, &stop, &mut |_| ())
}

fn values(run: &Run, key: SeriesKey) -> &[f64] {
    run.series(&key).map_or(&[], |series| &series.values)
}

/// Checks that both one-way delays together are the round trip of the same probe.
fn check_one_way(run: &Run, at_least: usize) {
    let round_trips = values(run, SeriesKey::of(Metric::UdpRtt));
    let [up, down] = [Direction::Up, Direction::Down]
        .map(|direction| values(run, SeriesKey::directed(Metric::OneWayDelay, direction)));
    assert!(round_trips.len() >= at_least, "{} probes; {:?}", round_trips.len(), run.notes);
    assert_eq!((up.len(), down.len()), (round_trips.len(), round_trips.len()));
    for ((out, back), whole) in up.iter().zip(down).zip(round_trips) {
        assert!((out + back - whole).abs() < 1e-5, "{out} + {back} is not {whole}");
    }
}

#[test]
fn an_irtt_server_with_and_without_an_hmac_gives_one_way_delays_and_no_load() {
    let keyed = ["--hmac=a shared key"];
    for (arguments, token) in [(&[][..], None), (&keyed, Some("a shared key"))] {
        let server = Server::start(arguments);
        let run = test_with(&server.url(), |config| config.token = token.map(str::to_owned)).unwrap();
        check_one_way(&run, 20);
        assert_eq!((protocol(&run), &run.partial), ("irtt", &None));
        assert_eq!(kinds(&run), [PhaseKind::Idle]);
        assert_eq!(run.notes, [Note::NoLoad { protocol: "irtt".into() }], "{:?}", run.notes);
        assert!(!run.facts.contains_key(&Fact::FlowsPerDirection) && run.phases[0].load.is_none());
    }
    let server = Server::start(&["--tstamp=single"]);
    check_one_way(&test(&server.url(), &Trust::Host).unwrap(), 20);
}

#[test]
fn what_an_irtt_server_restricts_is_respected_and_said() {
    let server = Server::start(&["-i", "50ms", "-d", "1200ms", "-l", "40"]);
    let run = test_with(&server.url(), |config| {
        let long = |kind| PhasePlan { kind, min: Duration::from_millis(800), max: Duration::from_secs(1) };
        config.phases = [PhaseKind::Idle, PhaseKind::Idle].map(long).to_vec();
    })
    .unwrap();
    assert!(run.notes.contains(&Note::ServerInterval { interval_s: 0.05 }), "{:?}", run.notes);
    assert!(run.notes.contains(&Note::ServerTimeLimit { limit_s: 1.2, needed_s: 2.0 }), "{:?}", run.notes);
    assert_eq!((run.phases.len(), run.partial.clone()), (1, None));
    assert_eq!(run.facts[&Fact::ProbeInterval], "50ms");
    let rtt = run.series(&SeriesKey::of(Metric::UdpRtt)).unwrap();
    assert!((12..=21).contains(&rtt.values.len()) && rtt.censored.is_empty(), "{rtt:?}");
}

#[test]
fn each_refusal_is_one_clear_error() {
    let keyed = Server::start(&["--hmac=a shared key"]);
    let unstamped = Server::start(&["--tstamp=none"]);
    let with_key = |token: &str, url: &str| {
        let error = test_with(url, |config| config.token = Some(token.to_owned())).map(|run| run.title);
        error.unwrap_err().to_string()
    };
    let error = |url: &str| test(url, &Trust::Host).map(|run| run.title).unwrap_err().to_string();
    for (got, expected) in [
        (
            error(&keyed.url()),
            "no answer from irtt within 2s (is `irtt server` running there? With --hmac: --token-file FILE)",
        ),
        (with_key("another", &keyed.url()), "With --hmac: --token-file FILE)"),
        (error(&unstamped.url()), "no timestamps"),
        (error("irtt://127.0.0.1:1"), "UDP port 1 is closed (is `irtt server` running there?"),
        (error("stamp://127.0.0.1:1"), "UDP port 1 is closed (is a reflector running there?)"),
        (error("irtt://"), "no host in the URL"),
    ] {
        assert!(got.starts_with("irtt://") || got.starts_with("stamp://"), "{got}");
        assert!(got.contains(expected), "{got}");
    }
}

/// Answers datagrams with what `answer` makes of them.
fn udp_stand_in(answer: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            for reply in answer(&buffer[..length]) {
                drop(socket.send_to(&reply, from));
            }
        }
    });
    port
}

/// The reply of irtt to a request to open a session: its parameters after a token of eights.
fn opened(request: &[u8]) -> Vec<u8> {
    [&[0x14, 0xa7, 0x5b, 3][..], &[8; 8], &request[4..]].concat()
}

#[test]
fn datagrams_that_are_no_replies_are_ignored() {
    // An open session, whose probes get: another token, a cut reply, their own bytes, noise.
    let port = udp_stand_in(|request| match request[3] {
        1 => vec![b"noise".to_vec(), request.to_vec(), opened(request)[..7].to_vec(), opened(request)],
        4 => Vec::new(),
        _ => {
            let mut other = request.to_vec();
            (other[3], other[4]) = (2, 9);
            let mut cut = request[..30].to_vec();
            cut[3] = 2;
            vec![other, cut, request.to_vec(), vec![0xff; 64]]
        }
    });
    let run = test_with(&format!("irtt://127.0.0.1:{port}"), |_| ()).unwrap();
    let unanswered = |note: &Note| matches!(note, Note::ProbesUnanswered { metric: Metric::UdpRtt, .. });
    assert!(run.notes.iter().any(unanswered), "{:?}", run.notes);
    let udp = run.series(&SeriesKey::of(Metric::UdpRtt)).unwrap();
    assert!((udp.values.len(), udp.duplicates) == (udp.censored.len(), 0), "{udp:?}");
    let refusing = udp_stand_in(|request| {
        let mut reply = opened(request);
        reply[3] |= 4;
        vec![reply]
    });
    let refused = test(&format!("irtt://127.0.0.1:{refusing}"), &Trust::Host).unwrap_err().to_string();
    assert!(refused.ends_with("closed the connection"), "{refused}");
}

#[test]
fn a_server_that_is_gone_midway_leaves_what_was_measured() {
    let mut server = Server::start(&[]);
    let url = server.url();
    let stop = AtomicBool::new(false);
    let idle =
        PhasePlan { kind: PhaseKind::Idle, min: Duration::from_secs(20), max: Duration::from_secs(20) };
    let config = TestConfig {
        phases: vec![idle],
        probes: vec![fathom_client::ProbeKind::Udp],
        patience: Duration::from_secs(1),
        ..TestConfig::new(&url)
    };
    let peer = connect(&config, &Trust::Host, &stop).unwrap();
    let mut seen = 0;
    let run = run_test_with(&config, peer, &stop, &mut |event| {
        seen += u32::from(matches!(event, fathom_client::Event::Observed { .. }));
        if seen == 30 {
            drop(server.process.kill());
        }
    })
    .unwrap();
    assert!(matches!(run.partial, Some(Interruption::ServerSilent { .. })), "{:?}", run.partial);
    assert!(values(&run, SeriesKey::of(Metric::UdpRtt)).len() >= 10);
}

#[test]
fn another_server_carries_the_load() {
    let server = Server::start(&[]);
    let web = StandIn::start(|_, out| send(out, "Content-Length: 5000000\r\n", 5_000_000));
    let load = web.url("/x");
    let run = test_with(&server.url(), |config| config.load = Some(load.clone())).unwrap();
    check_one_way(&run, 40);
    assert_eq!(kinds(&run), [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Drain]);
    assert_eq!(run.notes, [Note::NoUploads], "{:?}", run.notes);
    assert_eq!((protocol(&run), &run.facts[&Fact::LoadServer]), ("irtt", &load));
    assert_eq!(run.facts[&Fact::Address], format!("127.0.0.1:{}", server.port));
    assert!(run.title.ends_with(&format!("({}), load: {load}", run.facts[&Fact::Address])), "{}", run.title);
    let loaded = run.phases.iter().find_map(|phase| phase.load.as_ref()).unwrap();
    assert!(loaded.delivered_down_bytes > 1_000_000, "{loaded:?}");
    let none = test_with(&server.url(), |config| config.load = Some(server.url())).unwrap_err();
    assert!(none.to_string().ends_with("it carries no load"), "{none}");
}

/// A reflector made of scapy's messages.
const REFLECTOR: &str = r#"
import socket, time
from scapy.contrib.stamp import *
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
now = lambda: time.time() + 2208988800
while True:
    data, sender = s.recvfrom(2048)
    at = now()
    probe = STAMPSessionSenderTestUnauthenticated(data)
    assert probe.mbz == 0 and not probe.tlv_objects, probe
    reply = STAMPSessionReflectorTestUnauthenticated(
        seq=probe.seq, ssid=probe.ssid, ts_rx=at, seq_sender=probe.seq, ts_sender=probe.ts,
        err_estimate_sender=probe.err_estimate, ttl_sender=64, ts=now())
    s.sendto(bytes(reply), sender)
"#;

#[test]
fn a_reflector_of_scapy_gives_one_way_delays() {
    let mut process = Command::new("/usr/bin/python3")
        .args(["-c", REFLECTOR])
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is not installed: run ./setup test");
    let mut port = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
    assert!(!port.is_empty(), "python3-scapy is not installed: run ./setup test");
    let run = test(&format!("stamp://127.0.0.1:{}", port.trim()), &Trust::Host);
    process.kill().unwrap();
    process.wait().unwrap();
    // It is slow, so the probes that are sent at once make the line look slow too.
    check_one_way(&run.unwrap(), 8);
}

/// The reply of a reflector: RFC 8762 section 4.3.1. It received at 1 s, and sends at 1.25 s.
fn reflected(probe: &[u8], own_sequence: u32) -> Vec<u8> {
    let mut reply = [&own_sequence.to_be_bytes()[..], &[0, 0, 0, 1, 0x40, 0, 0, 0], &probe[12..16]].concat();
    reply.extend([0, 0, 0, 1, 0, 0, 0, 0]);
    reply.extend(&probe[..14]);
    reply.extend([0, 0, 64, 0, 0, 0]);
    reply
}

#[test]
fn a_stamp_reflector_gives_round_trips_without_the_time_that_it_holds_probes() {
    let port =
        udp_stand_in(|probe| vec![reflected(probe, u32::from_be_bytes(probe[..4].try_into().unwrap()))]);
    let run = test(&format!("stamp://127.0.0.1:{port}"), &Trust::Host).unwrap();
    assert_eq!((protocol(&run), run.partial.clone()), ("STAMP", None));
    assert_eq!(run.notes, [Note::NoLoad { protocol: "STAMP".into() }], "{:?}", run.notes);
    // It claims to have held each probe for 250 ms, which is more than the whole round trip.
    let round_trips = values(&run, SeriesKey::of(Metric::UdpRtt));
    assert!(round_trips.len() >= 20 && round_trips.iter().all(|delay| *delay == 0.0), "{round_trips:?}");
}

#[test]
fn a_reflector_that_counts_shows_the_direction_of_losses() {
    use std::sync::Mutex;
    for (is_stateful, expected) in [(true, (1, 1)), (false, (0, 0))] {
        // Of the probes of the test, one is lost on the way, and one reply.
        let count = Mutex::new((0, 0));
        let port = udp_stand_in(move |probe| {
            let sequence = u32::from_be_bytes(probe[..4].try_into().unwrap());
            let mut count = count.lock().unwrap();
            // The first datagram finds the reflector.
            count.0 += 1;
            if sequence == 12 {
                return Vec::new();
            }
            let own = if is_stateful && count.0 > 1 { count.1 } else { sequence };
            count.1 += u32::from(count.0 > 1);
            if sequence == 17 { Vec::new() } else { vec![reflected(probe, own)] }
        });
        let run = test(&format!("stamp://127.0.0.1:{port}"), &Trust::Host).unwrap();
        let lost = |direction| {
            run.series(&SeriesKey::directed(Metric::OneWayDelay, direction)).unwrap().censored.len()
        };
        assert_eq!((lost(Direction::Up), lost(Direction::Down)), expected, "{is_stateful}");
        assert_eq!(run.series(&SeriesKey::of(Metric::UdpRtt)).unwrap().censored.len(), 2);
    }
}

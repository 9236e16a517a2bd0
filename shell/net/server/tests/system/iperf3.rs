//! Tests with the real iperf3 client, and with others that mean no good.
use crate::client::{PATIENCE, TestServer, serve};
use fathom_server::{Config, Refusal, SessionEnd};
use fathom_test_support::{in_new_namespace, unused_port};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Command;

/// A server that serves iperf3 on this port.
fn with_iperf3(change: impl FnOnce(&mut Config)) -> (TestServer, u16) {
    let port = unused_port();
    let server = serve(|config| {
        config.iperf3_port = Some(port);
        change(config);
    });
    (server, port)
}

/// Runs the real client and returns its results.
fn client(port: u16, arguments: &[&str]) -> Value {
    let port = port.to_string();
    let fixed = ["-c", "127.0.0.1", "-p", &port, "-J", "--connect-timeout", "5000"];
    let ran = Command::new("iperf3").args(fixed).args(arguments).output();
    let output = ran.expect("iperf3 is not installed: run ./setup test");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Results of a test with the real client, and the bytes that the server received and sent.
fn complete(server: &TestServer, port: u16, arguments: &[&str]) -> (Value, [u64; 2]) {
    let before = server.stats();
    let results = client(port, arguments);
    assert_eq!(results.get("error"), None, "{arguments:?}: {results}");
    server.until("the test is over", |stats| stats.open_sessions == 0);
    let after = server.stats();
    (results, [after.up_bytes - before.up_bytes, after.down_bytes - before.down_bytes])
}

#[test]
fn the_real_client_tests_every_direction() {
    let (server, port) = with_iperf3(|_| ());
    for (arguments, sent, received) in [
        (&["-t", "1"][..], true, false),
        (&["-t", "1", "-P", "3", "-R"], false, true),
        (&["-t", "1", "-P", "2", "--bidir"], true, true),
        (&["-n", "30M"], true, false),
    ] {
        let (results, moved) = complete(&server, port, arguments);
        assert_eq!([moved[0] > 0, moved[1] > 0], [sent, received], "{arguments:?}: {moved:?}");
        // Both ends count the same: all that arrived.
        let key = if sent { "sum_received" } else { "sum_sent" };
        let reported = results["end"][key]["bytes"].as_f64().unwrap();
        let counted = if sent { moved[0] } else { moved[1] } as f64;
        assert!((reported / counted - 1.0).abs() < 0.01, "{arguments:?}: {reported} of {counted}");
    }
    assert_eq!(server.stats().sessions, 4);
    let ends = server.events();
    assert!(format!("{ends:?}").matches(&format!("{:?}", SessionEnd::Complete)).count() == 4, "{ends:?}");
}

#[test]
fn the_client_chooses_the_congestion_control_and_a_rate() {
    let (_server, port) = with_iperf3(|_| ());
    let results = client(port, &["-t", "1", "-R", "-C", "reno", "-b", "40M"]);
    assert_eq!(results["end"]["sender_tcp_congestion"], "reno", "{results}");
    let rate = results["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!((30e6..60e6).contains(&rate), "{rate}");
}

#[test]
fn the_real_client_tests_by_udp_in_every_direction() {
    let (server, port) = with_iperf3(|_| ());
    for (arguments, up, down) in [
        (&["-u", "-b", "20M", "-t", "1"][..], true, false),
        (&["-u", "-b", "20M", "-t", "1", "--udp-counters-64bit"], true, false),
        (&["-u", "-b", "10M", "-P", "2", "-t", "1", "-R"], false, true),
        (&["-u", "-b", "20M", "-l", "600", "-t", "1", "--bidir"], true, true),
    ] {
        let (results, moved) = complete(&server, port, arguments);
        // 20 Mbit/s for a second in each direction.
        for (bytes, used) in moved.into_iter().zip([up, down]) {
            let expected = if used { 2_400_000..2_700_000 } else { 0..1 };
            assert!(expected.contains(&bytes), "{arguments:?}: {moved:?}");
        }
        let sum = &results["end"]["sum_received"];
        let (lost, datagrams) = (sum["lost_packets"].as_u64().unwrap(), sum["packets"].as_u64().unwrap());
        assert!(lost * 50 < datagrams && datagrams > 50, "{arguments:?}: {sum}");
        let jitter = sum["jitter_ms"].as_f64().unwrap();
        assert!(jitter > 0.0 && jitter < 5.0, "{arguments:?}: {sum}");
    }
}

/// Over a line of 5 Mbit/s, half of 10 Mbit/s is lost.
#[test]
fn losses_of_datagrams_are_reported_to_the_client() {
    in_new_namespace(|| {
        let line = "ip link set lo mtu 1500 && tc qdisc add dev lo root tbf rate 5mbit burst 4kb limit 10kb";
        assert!(Command::new("sh").args(["-c", line]).status().unwrap().success());
        let (_server, port) = with_iperf3(|_| ());
        let sum = &client(port, &["-u", "-b", "10M", "-t", "2"])["end"]["sum_received"];
        let percent = sum["lost_percent"].as_f64().unwrap();
        assert!((40.0..60.0).contains(&percent), "{sum}");
    });
}

/// A stream of UDP has no cookie, so its opening counts for a test of the same address only.
#[test]
fn datagrams_of_others_open_no_stream() {
    let (server, port) = with_iperf3(|_| ());
    let parameters = br#"{"udp":true,"parallel":1,"len":1000,"bandwidth":1000000}"#;
    let mut control = asked_for_streams(port, parameters);
    let open_from = |address: &str| {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        socket.connect(("127.0.0.1", port)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.send(b"9876").unwrap();
        socket
    };
    open_from("127.0.0.2");
    server.until("it is counted", |stats| stats.refused.get(&Refusal::DatagramSession) == Some(&1));
    // Another test of the address waits for its turn elsewhere.
    let mut second = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = u32::try_from(parameters.len()).unwrap().to_be_bytes();
    second.write_all(&[&[b'b'; 37][..], &length, parameters].concat()).unwrap();
    let mut states = [0; 2];
    second.read_exact(&mut states).unwrap();
    assert_eq!(states, [9, 255]);
    let stream = open_from("127.0.0.1");
    let mut answer = [0; 10];
    assert_eq!((stream.recv(&mut answer).unwrap(), &answer[..4]), (4, &b"6789"[..]));
    control.read_exact(&mut states).unwrap();
    assert_eq!(states, [1, 2]);
}

#[test]
fn tests_of_several_clients_run_at_once() {
    let (server, port) = with_iperf3(|_| ());
    let clients: Vec<_> =
        (0..3).map(|_| std::thread::spawn(move || client(port, &["-t", "1", "-R"]))).collect();
    for client in clients {
        let results = client.join().unwrap();
        assert_eq!(results.get("error"), None, "{results} {:?}", server.events());
    }
    assert_eq!(server.stats().sessions, 3);
}

#[test]
fn what_exceeds_a_limit_or_is_not_supported_is_refused() {
    let (server, port) = with_iperf3(|config| (config.max_flows, config.max_sessions) = (4, 4));
    let error = |results: &Value| results["error"].as_str().unwrap_or_default().to_owned();
    let udp = client(port, &["-u", "-R", "-b", "0", "-t", "1"]);
    assert!(error(&udp).contains("not implemented"), "{udp}");
    // There is one place for each address.
    server.until("it is over", |stats| stats.open_sessions == 0);
    let many = client(port, &["-P", "5", "-t", "1"]);
    assert!(error(&many).contains("number of parallel streams too large"), "{many}");
    server.until("both are over", |stats| stats.open_sessions == 0);
    server.until("it is counted", |stats| stats.refused.get(&Refusal::Control) == Some(&2));
    // One address has a quarter of the places.
    let mut held = TcpStream::connect(("127.0.0.1", port)).unwrap();
    held.write_all(&[b'a'; 37]).unwrap();
    server.until("it has a place", |stats| stats.open_sessions == 1);
    let busy = client(port, &["-t", "1"]);
    assert!(error(&busy).contains("server is busy"), "{busy}");
    server.until("it is counted", |stats| stats.refused.get(&Refusal::SessionShare) == Some(&1));
}

#[test]
fn a_test_ends_when_its_client_is_gone_and_at_its_time() {
    let (server, port) = with_iperf3(|config| config.max_time = fathom_units::Duration::from_millis(500));
    let results = client(port, &["-t", "5", "-R"]);
    assert!(results["error"].as_str().unwrap().contains("server has terminated"), "{results}");
    server.until("it is counted", |stats| stats.refused.get(&Refusal::Limit) == Some(&1));
    let mut gone = TcpStream::connect(("127.0.0.1", port)).unwrap();
    gone.write_all(&[b'a'; 37]).unwrap();
    server.until("it has a place", |stats| stats.open_sessions == 1);
    drop(gone);
    server.until("it is gone", |stats| stats.open_sessions == 0);
}

/// A control connection that has sent its parameters and is asked for its streams.
fn asked_for_streams(port: u16, parameters: &[u8]) -> TcpStream {
    let mut control = TcpStream::connect(("127.0.0.1", port)).unwrap();
    control.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = u32::try_from(parameters.len()).unwrap().to_be_bytes();
    control.write_all(&[&[b'a'; 37][..], &length, parameters].concat()).unwrap();
    let mut states = [0; 2];
    control.read_exact(&mut states).unwrap();
    assert_eq!(states, [9, 10]);
    control
}

#[test]
fn a_stream_is_taken_from_the_address_of_its_test_only() {
    let (server, port) = with_iperf3(|_| ());
    let mut control = asked_for_streams(port, br#"{"tcp":true,"parallel":1,"reverse":true}"#);
    let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    other.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
    other.connect(&SocketAddr::from(([127, 0, 0, 1], port)).into()).unwrap();
    (&other).write_all(&[b'a'; 37]).unwrap();
    // It is another test, whose parameters are awaited.
    let mut state = [0];
    (&other).read_exact(&mut state).unwrap();
    assert_eq!((state, server.stats().open_sessions), ([9], 2));
    // The own stream is taken, and gets load once the test runs.
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(&[b'a'; 37]).unwrap();
    let mut states = [0; 2];
    control.read_exact(&mut states).unwrap();
    assert_eq!(states, [1, 2]);
    stream.read_exact(&mut [0; 100_000]).unwrap();
}

#[test]
fn a_connection_without_a_cookie_or_with_other_bytes_ends() {
    let (server, port) = with_iperf3(|_| ());
    let mut http = TcpStream::connect(("127.0.0.1", port)).unwrap();
    http.set_read_timeout(Some(PATIENCE)).unwrap();
    http.write_all(b"GET / HTTP/1.1\r\nHost: example.net\r\nAccept: */*\r\nUser-Agent: test\r\n\r\n")
        .unwrap();
    // The bytes after the first 37 are read as the length of the parameters, which is too great.
    let mut answer = Vec::new();
    match http.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    assert!(answer.len() <= 1, "{answer:?}");
    server.until("it is gone", |stats| stats.open_connections == 0);
    server.until("it is counted", |stats| stats.refused.get(&Refusal::Control) == Some(&1));
}

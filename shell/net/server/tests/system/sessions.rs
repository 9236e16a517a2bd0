//! Control connections.
use crate::attack::try_connect;
use crate::client::{Authentic, Control, PATIENCE, connect, exchange, read_line, read_to_close, serve};
use fathom_probe::protocol::{
    AUTHENTIC_PROBE_BYTES, ClientMessage, ErrorCode, FirstLine, FlowRequest, Mac, Nonce, ServerMessage,
    Token, UdpProbe,
};
use fathom_server::Refusal;
use fathom_units::Direction;
use std::io::Write;
use std::net::UdpSocket;

fn error(message: Option<ServerMessage>) -> ErrorCode {
    match message {
        Some(ServerMessage::Error { code, message }) => {
            assert!(!message.is_empty());
            code
        }
        other => panic!("{other:?} instead of an error"),
    }
}

#[test]
fn hello_contains_address_and_limits_over_both_families() {
    let server = serve(|_| ());
    for ip in ["127.0.0.1", "::1"] {
        let control = Control::open(server.at(ip));
        let ServerMessage::Hello { address, version, congestion_controls, limits, .. } = &control.hello
        else {
            panic!("{:?}", control.hello)
        };
        assert_eq!(address.to_string(), ip);
        assert!(!version.is_empty() && !congestion_controls.is_empty());
        assert_eq!((limits.seconds, limits.flows), (600, 64));
    }
}

#[test]
fn the_token_opens_and_nothing_else_does() {
    let server = serve(|c| c.token = Some("s3cret".into()));
    let wrong = "s3cre".parse::<Token>().unwrap();
    let proof = FirstLine::Control { proof: Some(wrong.prove(Nonce([5; 16]))) };
    for line in ["FATHOM/1 CONTROL\n".to_owned(), format!("{proof}\n")] {
        assert_eq!(error(Control::try_open(server.v4(), &line).err()), ErrorCode::Token, "{line}");
    }
    // A line that was recorded gets a challenge, which its thief cannot answer.
    let token = "s3cret".parse::<Token>().unwrap();
    let (mut control, key) = Authentic::challenged(server.v4(), &token);
    control.stream.write_all(&ClientMessage::Response { mac: Mac([9; 16]) }.to_line()).unwrap();
    assert!(read_line(&mut control.stream).contains("\"token\""));
    assert_ne!(key.of_client(), Mac([9; 16]));
    assert_eq!(server.refused(Refusal::Token), 3);
    let open = Authentic::open(server.v4(), &token);
    assert_eq!(open.mac, Some(open.ticket.key.unwrap().of_server(open.ticket.id)));
    // A server without a token asks for none.
    let any = FirstLine::Control { proof: Some(token.prove(Nonce([5; 16]))) };
    assert!(Control::try_open(serve(|_| ()).v4(), &format!("{any}\n")).is_ok());
}

#[test]
fn flows_and_probes_must_know_the_key() {
    let server = serve(|c| c.token = Some("s3cret".into()));
    let open = Authentic::open(server.v4(), &"s3cret".parse().unwrap());
    let (ticket, key) = (open.ticket, open.ticket.key.unwrap());
    let request = |number, mac| FlowRequest {
        session: ticket.id,
        number,
        direction: Direction::Up,
        congestion_control: None,
        load: None,
        class: 0,
        mac,
    };
    let flow = |line: &FlowRequest| {
        let mut stream = connect(server.v4());
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        (read_line(&mut stream), stream)
    };
    let good = key.of_flow(&request(1, None));
    assert!(flow(&request(1, None)).0.starts_with("ERR session "));
    assert!(flow(&request(2, Some(good))).0.starts_with("ERR session "));
    let (answer, _stream) = flow(&request(1, Some(good)));
    assert!(answer.starts_with("OK "), "{answer}");
    assert_eq!(server.refused(Refusal::FlowCode), 2);

    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.connect(server.v4()).unwrap();
    udp.set_read_timeout(Some(PATIENCE)).unwrap();
    let probe = UdpProbe::request(ticket.id, 3, 4);
    udp.send(&probe.encode()).unwrap();
    let mut forged = ticket.seal(&probe).bytes().to_vec();
    forged[30] ^= 1;
    udp.send(&forged).unwrap();
    udp.send(ticket.seal(&UdpProbe::request(ticket.id, 5, 6)).bytes()).unwrap();
    let mut buffer = [0; 200];
    let length = udp.recv(&mut buffer).unwrap();
    let reply = ticket.open(&buffer[..length]).expect("an authentic reply");
    assert_eq!((reply.sequence, reply.received, length), (5, 1, AUTHENTIC_PROBE_BYTES));
    server.until("two forged probes", |stats| stats.refused.get(&Refusal::DatagramForm) == Some(&2));
}

#[test]
fn a_silent_server_answers_nothing_to_strangers() {
    let server = serve(|c| (c.token, c.is_silent) = (Some("s3cret".into()), true));
    let token = "s3cret".parse::<Token>().unwrap();
    let say = |from: [u8; 4], words: &str| {
        let mut stream = try_connect(from.into(), server.v4()).unwrap();
        let _ = stream.write_all(words.as_bytes());
        read_to_close(&mut stream)
    };
    let wrong = FirstLine::Control { proof: Some("other".parse::<Token>().unwrap().prove(Nonce([5; 16]))) };
    let flow = "FATHOM/1 FLOW 00112233445566778899aabbccddeeff 1 up -\n";
    let stranger = [127, 0, 0, 2];
    for words in [
        "FATHOM/1 CONTROL\n",
        &format!("{wrong}\n"),
        "FATHOM/2 X\n",
        "FATHOM/1 X\n",
        flow,
        "GET / HTTP/1.1\r\n\r\n",
        "x\n",
    ] {
        assert_eq!(say(stranger, words), b"", "{words}");
    }
    assert!(server.refused(Refusal::Stranger) >= 5);
    // This host may read the metrics, and who has a session makes HTTP probes.
    assert!(
        say([127, 0, 0, 1], "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n")
            .starts_with(b"HTTP/1.1 200")
    );
    let _open = Authentic::over(try_connect(stranger.into(), server.v4()).unwrap(), &token);
    assert!(say(stranger, "GET /probe HTTP/1.1\r\nConnection: close\r\n\r\n").starts_with(b"HTTP/1.1 200"));
}

#[test]
fn an_unknown_version_and_malformed_lines_get_a_reason() {
    let server = serve(|_| ());
    for (line, code) in [
        ("FATHOM/2 CONTROL\n", ErrorCode::Version),
        ("FATHOM/1 CONTRL\n", ErrorCode::Malformed),
        ("FATHOM/1 CONTROL a b\n", ErrorCode::Malformed),
        ("FATHOM/1 FLOW 12 1 up -\n", ErrorCode::Malformed),
    ] {
        assert_eq!(error(Control::try_open(server.v4(), line).err()), code, "{line}");
    }
    for (line, code) in [
        ("{\"fly\":{}}\n", ErrorCode::Malformed),
        ("hello\n", ErrorCode::Malformed),
        ("{\"report_every\":{\"ms\":49}}\n", ErrorCode::Malformed),
        ("{\"report_every\":{\"ms\":10001}}\n", ErrorCode::Malformed),
    ] {
        let mut control = Control::open(server.v4());
        control.stream.write_all(line.as_bytes()).unwrap();
        assert_eq!(error(control.next()), code, "{line}");
        assert_eq!(control.next(), None, "closed after an error");
    }
    let mut control = Control::open(server.v4());
    control.stream.write_all(&vec![b'x'; 70_000]).unwrap();
    assert_eq!(error(control.next()), ErrorCode::Malformed, "a line beyond 64 KiB");
}

#[test]
fn fields_of_a_later_version_are_ignored_and_lines_may_come_in_parts() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    for part in ["{\"report_every\":{\"ms\":50,\"colour\":", "\"red\"}}\n{\"by", "e\":{}}\n"] {
        control.stream.write_all(part.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(matches!(control.next(), Some(ServerMessage::Bye { .. })));
}

#[test]
fn messages_may_come_with_the_first_line() {
    let server = serve(|_| ());
    let said = exchange(server.v4(), b"FATHOM/1 CONTROL\n{\"bye\":{}}\n");
    let said = String::from_utf8(said).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("hello") && lines[1].contains("bye"), "{said}");
}

#[test]
fn sessions_beyond_the_limit_are_refused_until_one_ends() {
    let server = serve(|c| c.max_sessions = 2);
    let (first, _second) = (Control::open(server.v4()), Control::open(server.at("::1")));
    assert_ne!(first.session, _second.session);
    let refused = Control::try_open(server.v4(), "FATHOM/1 CONTROL\n").err();
    assert_eq!(error(refused), ErrorCode::Full);
    drop(first);
    server.until("the first session ends with its connection", |s| s.open_sessions == 1);
    Control::open(server.v4());
    assert_eq!(server.stats().sessions, 3);
}

#[test]
fn sessions_that_come_and_go_leave_nothing_behind() {
    let server = serve(|_| ());
    for _ in 0..100 {
        let control = Control::open(server.v4());
        let _ = control.flow(1, "down -");
    }
    server.until("everything is given back", |s| s.open_sessions == 0 && s.open_connections == 0);
    assert_eq!(server.stats().sessions, 100);
}

#[test]
fn stopping_ends_sessions_and_frees_the_port() {
    let server = fathom_server::Server::start(fathom_server::Config {
        listen: vec!["127.0.0.1".parse().unwrap()],
        port: fathom_test_support::unused_port(),
        ..Default::default()
    })
    .unwrap();
    let address = (std::net::Ipv4Addr::LOCALHOST, server.local_port()).into();
    let mut control = Control::open(address);
    let (mut flow, _) = control.flow(1, "down -");
    control.say(&ClientMessage::ReportEvery { ms: 50 });
    let start = std::time::Instant::now();
    server.stop();
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(control.last(), None);
    read_to_close(&mut flow);
    let again = UdpSocket::bind(address).unwrap();
    drop(again);
    assert!(std::net::TcpStream::connect(address).is_err());
}

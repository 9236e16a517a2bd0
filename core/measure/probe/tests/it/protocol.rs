//! The protocol: its document, its messages, its limits.
use crate::protocol_bytes::check;
use fathom_probe::protocol::*;
use fathom_units::{Bytes, Direction, Rate, Rng};
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

#[test]
fn first_lines_equal_the_specification() {
    let id = "00112233445566778899aabbccddeeff";
    let flow = |direction, cc: Option<&str>, mac| {
        FirstLine::Flow(FlowRequest {
            session: id.parse().unwrap(),
            number: 7,
            direction,
            congestion_control: cc.map(|c| c.parse().unwrap()),
            load: None,
            class: 0,
            mac,
        })
    };
    let mac: Mac = "f".repeat(32).parse().unwrap();
    let proof = ControlProof { nonce: id.parse().unwrap(), mac };
    let at_rate = |load: FlowLoad, code| {
        let FirstLine::Flow(flow) = flow(Direction::Down, None, code) else { panic!("no flow") };
        FirstLine::Flow(FlowRequest { load: Some(load), ..flow })
    };
    let marked = |load, code| {
        let FirstLine::Flow(flow) = flow(Direction::Down, None, code) else { panic!("no flow") };
        FirstLine::Flow(FlowRequest { load, class: 184, ..flow })
    };
    let rate = Rate::from_bits_per_second(5_000_000);
    let cases = [
        ("FATHOM/1 CONTROL".into(), FirstLine::Control { proof: None }),
        (format!("FATHOM/1 CONTROL {id} {mac}"), FirstLine::Control { proof: Some(proof) }),
        (format!("FATHOM/1 FLOW {id} 7 up cubic"), flow(Direction::Up, Some("cubic"), None)),
        (format!("FATHOM/1 FLOW {id} 7 down -"), flow(Direction::Down, None, None)),
        (format!("FATHOM/1 FLOW {id} 7 down - {mac}"), flow(Direction::Down, None, Some(mac))),
        (format!("FATHOM/1 FLOW {id} 7 down - pace=5000000"), at_rate(FlowLoad::Paced(rate), None)),
        (
            format!("FATHOM/1 FLOW {id} 7 down - udp=5000000 {mac}"),
            at_rate(FlowLoad::Datagrams(rate), Some(mac)),
        ),
        (format!("FATHOM/1 FLOW {id} 7 down - objects {mac}"), at_rate(FlowLoad::Objects, Some(mac))),
        (format!("FATHOM/1 FLOW {id} 7 down - class=184"), marked(None, None)),
        (
            format!("FATHOM/1 FLOW {id} 7 down - udp=5000000 class=184 {mac}"),
            marked(Some(FlowLoad::Datagrams(rate)), Some(mac)),
        ),
        ("GET /probe HTTP/1.1".into(), FirstLine::Http),
    ];
    for (text, value) in cases {
        assert_eq!(FirstLine::parse(text.as_bytes()), Ok(value.clone()), "{text}");
        assert_eq!(value.to_string(), text);
    }
}

#[test]
fn invalid_first_lines_are_rejected() {
    use FirstLineError as E;
    let long = format!("FATHOM/1 CONTROL {}", "x".repeat(240));
    let id = "00112233445566778899aabbccddeeff";
    let of = |text: &str| FirstLine::parse(text.as_bytes()).unwrap_err();
    for text in ["", "SSH-2.0-x", "\u{16}\u{3}\u{1}", "get / HTTP/1.1", " FATHOM/1 CONTROL"] {
        assert_eq!(of(text), E::Foreign, "{text:?}");
    }
    assert_eq!(of("FATHOM/2 CONTROL"), E::Version);
    assert_eq!(of(&long), E::NotALine);
    assert_eq!(of("FATHOM/1 CONTROL \u{e9}"), E::NotALine);
    let malformed = [
        "FATHOM/1 CONTROL s3cret".into(),
        format!("FATHOM/1 CONTROL {id}"),
        format!("FATHOM/1 CONTROL {id} {}", &id[1..]),
        format!("FATHOM/1 CONTROL {id} {id} {id}"),
        format!("FATHOM/1 FLOW {id} 7 up cubic {id} x"),
        "FATHOM/1".into(),
        "FATHOM/1 CONTROL ".into(),
        "FATHOM/1 CONTROL  a".into(),
        "FATHOM/1 control".into(),
        format!("FATHOM/1 FLOW {id} 7 up"),
        format!("FATHOM/1 FLOW {id} 7 up cubic x"),
        format!("FATHOM/1 FLOW {id} +7 up cubic"),
        format!("FATHOM/1 FLOW {id} 4294967296 up cubic"),
        format!("FATHOM/1 FLOW {id} 7 left cubic"),
        format!("FATHOM/1 FLOW {id} 7 up sixteen_letters_"),
        format!("FATHOM/1 FLOW {id} 7 up a/b"),
        format!("FATHOM/1 FLOW {} 7 up -", &id[1..]),
        format!("FATHOM/1 FLOW {id} 7 up - pace=0"),
        format!("FATHOM/1 FLOW {id} 7 up - udp=+5"),
        format!("FATHOM/1 FLOW {id} 7 up - udp=10000000001"),
        format!("FATHOM/1 FLOW {id} 7 up - sctp=5"),
        format!("FATHOM/1 FLOW {id} 7 up - objects"),
        format!("FATHOM/1 FLOW {id} 7 down - objects=5"),
        format!("FATHOM/1 FLOW {id} 7 up - pace=5 udp=5"),
        format!("FATHOM/1 FLOW +{} 7 up -", &id[1..]),
    ];
    for text in malformed {
        assert!(matches!(of(&text), E::Malformed(_)), "{text}: {:?}", of(&text));
    }
}

#[test]
fn requests_for_objects() {
    assert_eq!(object_request(Bytes(30_000), 10), b"30000    \n");
    assert_eq!(object_request(Bytes(30_000), 3), b"30000\n");
    for (line, object) in [(&b"30000    "[..], Some(Bytes(30_000))), (b"1", Some(Bytes(1)))] {
        assert_eq!(requested_object(line), object);
    }
    for bad in [&b""[..], b" 1", b"0", b"+1", b"1 1", b"18446744073709551616", b"\xff"] {
        assert_eq!(requested_object(bad), None, "{bad:?}");
    }
}

#[test]
fn answers_to_flows() {
    let ok = FlowAnswer::Ok { congestion_control: "bbr".parse().unwrap() };
    assert_eq!(FlowAnswer::parse(b"OK bbr"), Ok(ok));
    let udp = FlowAnswer::Udp { token: 0xab };
    assert_eq!(udp.to_string(), "OK udp 00000000000000ab");
    assert_eq!(FlowAnswer::parse(b"OK udp 00000000000000ab"), Ok(udp));
    let err = |code, message: &str| Ok(FlowAnswer::Err { code, message: message.into() });
    assert_eq!(FlowAnswer::parse(b"ERR full 64 flows are open"), err(ErrorCode::Full, "64 flows are open"));
    assert_eq!(FlowAnswer::parse(b"ERR of_tomorrow"), err(ErrorCode::Other, ""));
    for bad in
        [&b"OK"[..], b"OK ", b"OK udp ", b"OK udp ab", b"OK udp +0000000000000ab", b"NO", b"", b"\xff\xfe"]
    {
        assert!(FlowAnswer::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn control_lines_equal_the_specification() {
    let line = |m: &ServerMessage| String::from_utf8(m.to_line()).unwrap();
    let hello = ServerMessage::Hello {
        session: SessionId([0xab; 16]),
        address: "2001:db8::1".parse().unwrap(),
        version: "0.1.0".into(),
        congestion_controls: vec!["cubic".into()],
        limits: Limits { seconds: 600, bytes: 5, flows: 64 },
        loads: vec!["udp".into()],
        mac: None,
    };
    assert_eq!(
        line(&hello),
        "{\"hello\":{\"session\":\"abababababababababababababababab\",\"address\":\"2001:db8::1\",\
         \"version\":\"0.1.0\",\"congestion_controls\":[\"cubic\"],\
         \"limits\":{\"seconds\":600,\"bytes\":5,\"flows\":64},\"loads\":[\"udp\"]}}\n"
    );
    let up = FlowReport { number: 1, bytes: 2, ..FlowReport::default() };
    let down = FlowReport {
        number: 3,
        bytes: 4,
        rtt_us: Some(5),
        cwnd_bytes: Some(6),
        retransmits: Some(7),
        delivered_bytes: Some(8),
        unsent_bytes: Some(9),
        receiver_limited_us: Some(10),
        datagrams: None,
    };
    assert_eq!(
        line(&ServerMessage::Report { at_ns: 9, flows: vec![up, down], others: 0 }),
        "{\"report\":{\"at_ns\":9,\"flows\":[{\"number\":1,\"bytes\":2},\
         {\"number\":3,\"bytes\":4,\"rtt_us\":5,\"cwnd_bytes\":6,\"retransmits\":7,\"delivered_bytes\":8,\
         \"unsent_bytes\":9,\"receiver_limited_us\":10}]}}\n"
    );
    let control = HopReport {
        hop: 3,
        address: "198.51.100.1".parse().unwrap(),
        sent_ns: 9,
        rtt_us: 10,
        in_flow: false,
    };
    let in_flow = HopReport { in_flow: true, ..control };
    assert_eq!(
        line(&ServerMessage::Hops { replies: vec![control, in_flow] }),
        "{\"hops\":{\"replies\":[{\"hop\":3,\"address\":\"198.51.100.1\",\"sent_ns\":9,\"rtt_us\":10},\
         {\"hop\":3,\"address\":\"198.51.100.1\",\"sent_ns\":9,\"rtt_us\":10,\"in_flow\":true}]}}\n"
    );
    assert_eq!(ClientMessage::ProbeHops {}.to_line(), b"{\"probe_hops\":{}}\n");
    assert_eq!(ClientMessage::ReportEvery { ms: 50 }.to_line(), b"{\"report_every\":{\"ms\":50}}\n");
    assert_eq!(ClientMessage::Bye {}.to_line(), b"{\"bye\":{}}\n");
    for unknown in ["{}", "{\"fly\":{}}", "{\"bye\":{},\"bye\":{}}", "[]", "null", "{\"report_every\":{}}"] {
        assert!(ClientMessage::parse(unknown.as_bytes()).is_err(), "{unknown}");
    }
    // A field and a code of a future version.
    assert_eq!(ClientMessage::parse(b"{\"bye\":{\"why\":1}}"), Ok(ClientMessage::Bye {}));
    let error = ServerMessage::parse(b"{\"error\":{\"code\":\"weather\",\"message\":\"m\",\"x\":0}}");
    assert_eq!(error, Ok(ServerMessage::Error { code: ErrorCode::Other, message: "m".into() }));
}

#[test]
fn deep_and_long_json_is_rejected() {
    for text in ["[".repeat(60_000), "{\"report\":".repeat(6_000), "\"".repeat(60_000)] {
        assert!(ClientMessage::parse(text.as_bytes()).is_err());
        assert!(ServerMessage::parse(text.as_bytes()).is_err());
    }
}

#[test]
fn lines_are_bounded() {
    let mut reader = LineReader::new(4);
    reader.push(b"abc\nde\r\n");
    assert_eq!(reader.next_line(), Ok(Some(b"abc".to_vec())));
    assert_eq!(reader.next_line(), Ok(Some(b"de".to_vec())));
    assert_eq!(reader.next_line(), Ok(None));
    reader.push(b"abc");
    assert_eq!(reader.next_line(), Ok(None));
    reader.push(b"d");
    assert_eq!(reader.next_line(), Err(LineTooLong { limit_bytes: 4 }));
    let mut whole = LineReader::new(4);
    whole.push(b"abcd\nrest");
    assert!(whole.next_line().is_err(), "too long though it has ended");
}

#[test]
fn a_udp_probe_has_the_specified_offsets() {
    let probe = UdpProbe {
        kind: UdpKind::Reply,
        session: SessionId(core::array::from_fn(|i| i as u8)),
        sequence: 0x0101,
        client_send_ns: 0x0202,
        server_receive_ns: 0x0303,
        server_send_ns: 0x0404,
        received: 0x0505,
        class: Some(0xb9),
    };
    let bytes = probe.encode();
    assert_eq!((&bytes[..4], bytes[4], &bytes[5..8]), (&b"FTH1"[..], 2, &[1, 0xb9, 0][..]));
    assert_eq!(UdpProbe::decode(&bytes), Ok(probe));
    assert_eq!(UdpProbe::request(probe.session, 1, 2).encode()[5..8], [0; 3]);
    assert_eq!(bytes[8..24], probe.session.0);
    let fields: Vec<u64> = bytes[24..].chunks(8).map(|b| u64::from_be_bytes(b.try_into().unwrap())).collect();
    assert_eq!(fields, [0x0101, 0x0202, 0x0303, 0x0404, 0x0505]);
    assert_eq!(UdpProbe::decode(&bytes[..63]), Err(UdpProbeError::Length(63)));
    assert_eq!(UdpProbe::decode(&[0; 64]), Err(UdpProbeError::Magic));
    let mut odd = bytes;
    odd[4] = 5;
    assert_eq!(UdpProbe::decode(&odd), Err(UdpProbeError::Kind(5)));
    assert_eq!(UdpProbe::request(probe.session, 1, 2).encode()[40..], [0; 24]);
}

#[test]
fn http_heads() {
    let (request, length) = parse_request(b"GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET").unwrap().unwrap();
    assert_eq!((request, length), (HttpRequest { path: "/x", close: false }, 28));
    let close = |text: &str| parse_request(text.as_bytes()).unwrap().unwrap().0.close;
    assert!(close("GET / HTTP/1.0\r\n\r\n"));
    assert!(close("GET / HTTP/1.1\r\nconnection: keep-alive, Close\r\n\r\n"));
    assert!(!close("GET / HTTP/1.1\r\nconnection: keep-alive\r\n\r\n"));
    let answer = http_response(200, "text/plain", b"hello");
    let (response, head) = parse_response(&answer).unwrap().unwrap();
    let body = HttpBody::Bytes(5);
    assert_eq!(
        response,
        HttpResponse { status: 200, body, close: false, location: None, retry_after: None, http3_port: None }
    );
    assert_eq!(&answer[head..], b"hello");
    let request_error = |text: &str| parse_request(text.as_bytes()).unwrap_err();
    assert_eq!(request_error("POST / HTTP/1.1\r\n\r\n"), HttpError::Method);
    assert_eq!(request_error("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), HttpError::Body);
    assert_eq!(request_error("GET /\r\n\r\n"), HttpError::Malformed);
    let unended = "GET / HTTP/1.1\r\n".to_owned() + &"x: y\r\n".repeat(700);
    assert_eq!(request_error(&unended), HttpError::TooLong(HTTP_HEAD_LIMIT_BYTES));
    assert_eq!(parse_request(&unended.as_bytes()[..HTTP_HEAD_LIMIT_BYTES - 1]), Ok(None));
    let response_error = |text: &str| parse_response(text.as_bytes()).unwrap_err();
    let body_of = |text: &str| parse_response(text.as_bytes()).unwrap().unwrap().0.body;
    assert_eq!(body_of("HTTP/1.1 200 OK\r\n\r\n"), HttpBody::UntilClose);
    assert_eq!(body_of("HTTP/1.1 204 No Content\r\n\r\n"), HttpBody::Bytes(0));
    let both = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(body_of(both), HttpBody::Chunked);
    assert_eq!(response_error("HTTP/1.1 2x0 OK\r\n\r\n"), HttpError::Malformed);
    let two = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
    assert_eq!(response_error(two), HttpError::Malformed);
}

#[test]
fn http3_is_offered_by_alternatives_on_the_same_host() {
    for (fields, expected) in [
        ("Alt-Svc: h3=\":443\"; ma=86400, h3-29=\":444\"\r\n", Some(443)),
        ("alt-svc: h2=\":1\",h3=\":8443\"\r\n", Some(8443)),
        ("Alt-Svc: clear\r\nAlt-Svc: h3=\":443\"\r\n", Some(443)),
        ("Alt-Svc: h3=\"other.example:443\"\r\n", None),
        ("Alt-Svc: h3=\":0\", h3=\":99999\", h3=\":\r\n", None),
        ("", None),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        assert_eq!(parse_response(head.as_bytes()).unwrap().unwrap().0.http3_port, expected, "{fields}");
    }
}

#[test]
fn a_host_cannot_smuggle_a_request() {
    let request = probe_request("evil\r\n\r\nGET / HTTP/1.1");
    let (_, length) = parse_request(&request).unwrap().unwrap();
    assert_eq!(length, request.len());
    let other = get_request("a b", "/x HTTP/1.1\r\nX: y");
    assert!(other.starts_with(b"GET /xHTTP/1.1X:y HTTP/1.1\r\nHost: ab\r\nUser-Agent: fathom/"));
    let upload = String::from_utf8(post_request("h", "/up", 7)).unwrap();
    assert!(upload.starts_with("POST /up HTTP/1.1\r\n") && upload.ends_with("\r\nContent-Length: 7\r\n\r\n"));
}

#[test]
fn secrets_are_not_shown() {
    let token: Token = "abc".parse().unwrap();
    assert!(!format!("{token:?}").contains("abc"));
    let key = token.session_key(Nonce([1; 16]), Nonce([2; 16]));
    assert_eq!(format!("{key:?}"), "SessionKey(..)");
}

/// HMAC-SHA-256 of Python's `hmac`, of the documented inputs.
#[test]
fn codes_equal_the_specification() {
    let token: Token = "s3cret".parse().unwrap();
    let (client, server) = (Nonce([1; 16]), Nonce([2; 16]));
    let id = SessionId([3; 16]);
    let key = token.session_key(client, server);
    let (direction, congestion_control) = (Direction::Up, None);
    let request = FlowRequest {
        session: id,
        number: 7,
        direction,
        congestion_control,
        load: None,
        class: 0,
        mac: None,
    };
    assert_eq!(token.prove(client).mac.to_string(), "5794973b325397391b02ab356452a5a3");
    assert_eq!(key.of_client().to_string(), "15fde5cb5d92699ddd712d3f05b587a0");
    assert_eq!(key.of_server(id).to_string(), "fde490dcc297bfcd7fb218297819e24c");
    assert_eq!(key.of_flow(&request).to_string(), "cf135820ed6c982dd5089584ab3886c0");
    let probe = UdpProbe::request(id, 5, 6);
    let ticket = Ticket { id, key: Some(key) };
    let datagram = ticket.seal(&probe);
    assert_eq!(
        Mac(datagram.bytes()[64..].try_into().unwrap()).to_string(),
        "2e92677cf640e151170cae2df2980ec8"
    );
}

#[test]
fn what_was_changed_is_not_authentic() {
    let token: Token = "s3cret".parse().unwrap();
    let proof = token.prove(Nonce([1; 16]));
    assert!(token.accepts(&proof));
    for other in ["s3cre", "s3crets", "S3cret"] {
        assert!(!other.parse::<Token>().unwrap().accepts(&proof), "{other}");
    }
    assert!(!token.accepts(&ControlProof { nonce: Nonce([2; 16]), ..proof }));
    let key = token.session_key(Nonce([1; 16]), Nonce([2; 16]));
    assert_ne!(key, token.session_key(Nonce([2; 16]), Nonce([1; 16])));
    let ticket = Ticket { id: SessionId([3; 16]), key: Some(key) };
    let plain = Ticket { key: None, ..ticket };
    let probe = UdpProbe::request(ticket.id, 5, 6);
    let (sealed, open) = (ticket.seal(&probe), plain.seal(&probe));
    assert_eq!((ticket.open(sealed.bytes()), plain.open(open.bytes())), (Some(probe), Some(probe)));
    assert_eq!((sealed.bytes().len(), open.bytes().len()), (AUTHENTIC_PROBE_BYTES, UDP_PROBE_BYTES));
    assert_eq!((ticket.open(open.bytes()), plain.open(sealed.bytes())), (None, None));
    for at in 0..sealed.bytes().len() {
        let mut changed = sealed.bytes().to_vec();
        changed[at] ^= 1;
        assert_eq!(ticket.open(&changed), None, "byte {at}");
        assert_eq!(ticket.open(&sealed.bytes()[..at]), None, "{at} bytes");
    }
    let other = Ticket { id: SessionId([4; 16]), ..ticket };
    assert_eq!(other.open(sealed.bytes()), None);
}

/// Valid messages, truncated and with changed bytes.
#[test]
fn arbitrary_input_does_not_panic() {
    let id = SessionId([7; 16]);
    let forms: Vec<Vec<u8>> = vec![
        format!("FATHOM/1 FLOW {id} 4294967295 down reno\nOK reno\nERR full words\n").into_bytes(),
        b"FATHOM/1 CONTROL token\n{\"report_every\":{\"ms\":50}}\n{\"bye\":{}}\n".to_vec(),
        ServerMessage::Report { at_ns: u64::MAX, flows: vec![], others: 0 }.to_line(),
        ServerMessage::Error { code: ErrorCode::Limit, message: "a \"b\" \u{1f600}".into() }.to_line(),
        [probe_request("h"), http_response(200, "text/plain", b"x")].concat(),
        http_response(431, "text/plain", b"x"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: 1\r\n\r\n".to_vec(),
        UdpProbe::request(id, u64::MAX, 3).encode().to_vec(),
    ];
    let seed = 1;
    let mut rng = Rng::new(seed);
    for form in &forms {
        (0..=form.len()).for_each(|cut| check(&form[..cut]));
    }
    for _ in 0..20_000 {
        let mut bytes = forms[rng.below(forms.len() as u64) as usize].clone();
        for _ in 0..rng.below(6) {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] = rng.next_u64() as u8;
        }
        check(&bytes);
    }
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    let folder = root().join("fuzz/corpus/protocol");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{count} files in {}", folder.display());
}

#[test]
fn the_specification_lists_every_code_and_limit() {
    let text = std::fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let codes = ["full", "token", "version", "limit", "malformed", "session", "number"];
    for code in codes {
        assert_ne!(ErrorCode::from_name(code), ErrorCode::Other, "{code}");
        assert!(text.contains(&format!("`{code}`")), "code {code} is not in docs/protocol.md");
    }
    let limits = [
        format!("default {DEFAULT_PORT}"),
        format!("at most {FIRST_LINE_LIMIT_BYTES} bytes"),
        format!("within {FIRST_LINE_TIMEOUT}").replace("5s", "5 s"),
        format!("at most {} KiB", CONTROL_LINE_LIMIT_BYTES / 1024),
        format!("{REPORT_EVERY_MIN_MS} to 10,000"),
        format!("{UDP_PROBE_BYTES} bytes, request and reply alike"),
        format!("1 to {TOKEN_LIMIT_BYTES} visible"),
        format!("1 to {CONGESTION_CONTROL_LIMIT_BYTES} letters"),
        format!("{} KiB for a head", HTTP_HEAD_LIMIT_BYTES / 1024),
    ];
    assert_eq!(REPORT_EVERY_MAX_MS, 10_000);
    for limit in limits {
        assert!(text.contains(&limit), "\"{limit}\" is not in docs/protocol.md");
    }
}

//! Attacks. During each of them a client that behaves well is served.
//!
//! All of 127.0.0.0/8 is this host, so attackers and clients can have different addresses and
//! networks.
use crate::client::{Control, PATIENCE, TestServer, ask, read_line, serve};
use fathom_probe::protocol::{ErrorCode, ServerMessage, UdpProbe};
use fathom_server::{Event, Refusal, SessionEnd};
use fathom_units::{Bytes, Duration};
use socket2::{Domain, SockAddr, SockRef, Socket, Type};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration as StdDuration;

/// The client that behaves well; its network has nothing else.
const GOOD: Ipv4Addr = Ipv4Addr::new(127, 9, 9, 9);

/// A connection from `client`; nothing if the server reset it at once.
pub(crate) fn try_connect(client: Ipv4Addr, server: SocketAddr) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SockAddr::from(SocketAddr::from((client, 0)))).unwrap();
    socket.connect_timeout(&server.into(), PATIENCE).ok()?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Some(stream)
}

fn open_from(client: Ipv4Addr, server: SocketAddr) -> Result<Control, ServerMessage> {
    Control::over(try_connect(client, server).expect("a connection"), "FATHOM/1 CONTROL\n")
}

/// A session with a load flow in each direction and a UDP probe, and an HTTP probe.
fn is_served_well(server: &TestServer) {
    let mut control = open_from(GOOD, server.v4()).unwrap_or_else(|m| panic!("refused: {m:?}"));
    let mut flows = Vec::new();
    for (number, rest) in ["up -", "down -"].iter().enumerate() {
        let mut flow = try_connect(GOOD, server.v4()).expect("a connection for a flow");
        writeln!(flow, "FATHOM/1 FLOW {} {number} {rest}", control.session).unwrap();
        assert!(read_line(&mut flow).starts_with("OK"));
        flows.push(flow);
    }
    let probe = UdpProbe::request(control.session, 1, 5).encode();
    assert!(ask(&control.udp(), &probe, PATIENCE).is_some());
    let mut http = try_connect(GOOD, server.v4()).expect("a connection for HTTP");
    http.write_all(b"GET /probe HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_line(&mut http).contains("200"));
    control.bye();
}

fn is_reset(mut stream: TcpStream) -> bool {
    stream.read(&mut [0; 100]).map_or(true, |got| got == 0)
}

#[test]
fn idle_sessions_of_one_address_lock_nobody_out() {
    let server = serve(|_| ());
    let attacker = Ipv4Addr::new(127, 1, 1, 1);
    let held: Vec<_> = (0..32).map(|_| open_from(attacker, server.v4())).collect();
    assert_eq!(held.iter().filter(|session| session.is_ok()).count(), 4);
    let refused = held.iter().find_map(|session| session.as_ref().err()).unwrap();
    let ServerMessage::Error { code: ErrorCode::Full, message } = refused else { panic!("{refused:?}") };
    assert_eq!(message, "127.1.1.1 has its share of sessions (4)");
    is_served_well(&server);
    assert_eq!(server.refused(Refusal::SessionShare), 28);
}

#[test]
fn sessions_of_several_networks_give_way_to_another_network() {
    let server = serve(|_| ());
    let attackers: Vec<_> = (0..16_u8).map(|n| Ipv4Addr::new(127, 1, n / 4, n)).collect();
    let mut held: Vec<_> =
        attackers.iter().map(|from| open_from(*from, server.v4()).expect("a place")).collect();
    is_served_well(&server);
    server.until("one was replaced", |s| s.refused.get(&Refusal::SessionReplaced) == Some(&1));
    // The oldest session of the largest network; all have four.
    let last = held[0].last();
    assert!(matches!(last, Some(ServerMessage::Error { code: ErrorCode::Full, .. })), "{last:?}");
    let events = server.events();
    assert!(events.iter().any(|event| matches!(
        event,
        Event::SessionEnded { client, end: SessionEnd::Refused(_), .. } if *client == attackers[0]
    )));
    held.remove(0);
    // The client has left, so its place is free.
    assert!(open_from(attackers[0], server.v4()).is_ok());
}

#[test]
fn a_session_without_use_ends() {
    let server = serve(|c| c.max_idle = Duration::from_millis(300));
    let mut control = Control::open(server.v4());
    let last = control.last();
    let Some(ServerMessage::Error { code: ErrorCode::Limit, message }) = last else { panic!("{last:?}") };
    assert_eq!(message, "the session was idle for 300ms");
    assert_eq!(server.refused(Refusal::Idle), 1);
}

#[test]
fn probes_keep_a_session_open() {
    let server = serve(|c| c.max_idle = Duration::from_millis(1000));
    let control = Control::open(server.v4());
    let mut idle = Control::open(server.v4());
    let probe = UdpProbe::request(control.session, 1, 5).encode();
    // Until the later session has ended: a line of it, or its end, becomes readable.
    idle.stream.set_read_timeout(Some(StdDuration::from_millis(50))).unwrap();
    while idle.stream.peek(&mut [0]).is_err() {
        assert!(ask(&control.udp(), &probe, PATIENCE).is_some());
    }
    assert!(matches!(idle.last(), Some(ServerMessage::Error { code: ErrorCode::Limit, .. })));
    assert!(ask(&control.udp(), &probe, PATIENCE).is_some());
    assert_eq!(server.refused(Refusal::Idle), 1);
}

#[test]
fn idle_connections_of_four_networks_lock_nobody_out() {
    let server = serve(|c| c.max_connections = 64);
    let mut held = Vec::new();
    for network in 1..=4 {
        let from = Ipv4Addr::new(127, 2, network, 1);
        held.extend((0..20).filter_map(|_| try_connect(from, server.v4())));
    }
    // Four times a quarter: all places.
    server.until("all places are held", |s| s.refused.get(&Refusal::ConnectionShare) == Some(&16));
    is_served_well(&server);
    assert!(server.refused(Refusal::ConnectionReplaced) > 0, "{:?}", server.stats());
}

#[test]
fn thousands_of_connections_lock_nobody_out() {
    let server = serve(|_| ());
    let address = server.v4();
    // Four attackers, each with connections that it holds and then drops.
    let floods: Vec<_> = (1..=4)
        .map(|network| {
            std::thread::spawn(move || {
                let from = Ipv4Addr::new(127, 3, network, 1);
                let mut held = std::collections::VecDeque::new();
                for _ in 0..2_500 {
                    held.extend(try_connect(from, address));
                    if held.len() > 200 {
                        held.pop_front()
                            .map(|s: TcpStream| SockRef::from(&s).set_linger(Some(StdDuration::ZERO)));
                    }
                }
            })
        })
        .collect();
    for _ in 0..5 {
        is_served_well(&server);
    }
    floods.into_iter().for_each(|flood| flood.join().unwrap());
    server.until("all are given back", |s| s.open_connections == 0);
}

#[test]
fn flows_of_a_session_leave_flows_for_others() {
    let server = serve(|_| ());
    let attacker = Ipv4Addr::new(127, 4, 1, 1);
    let sessions: Vec<_> = (0..4).map(|_| open_from(attacker, server.v4()).expect("a place")).collect();
    let mut flows = Vec::new();
    for session in &sessions {
        for number in 0..66 {
            let Some(mut flow) = try_connect(attacker, server.v4()) else { continue };
            writeln!(flow, "FATHOM/1 FLOW {} {number} down -", session.session).unwrap();
            let answer = read_line(&mut flow);
            assert_eq!(answer.starts_with("OK"), number < 64, "{number}: {answer}");
            flows.push(flow);
        }
    }
    assert_eq!(server.refused(Refusal::Flows), 8);
    is_served_well(&server);
}

#[test]
fn a_flow_comes_from_the_address_of_its_session() {
    let server = serve(|_| ());
    let victim = open_from(GOOD, server.v4()).unwrap_or_else(|m| panic!("refused: {m:?}"));
    // Even another address of the same network.
    let mut thief = try_connect(Ipv4Addr::new(127, 9, 9, 8), server.v4()).unwrap();
    writeln!(thief, "FATHOM/1 FLOW {} 1 down -", victim.session).unwrap();
    assert_eq!(read_line(&mut thief), "ERR session the session is of another address than 127.9.9.8");
    assert!(is_reset(thief));
    assert_eq!(server.refused(Refusal::FlowAddress), 1);
}

#[test]
fn probes_beyond_the_rate_of_a_session_are_not_answered() {
    let server = serve(|_| ());
    let control = open_from(Ipv4Addr::new(127, 5, 1, 1), server.v4()).unwrap_or_else(|m| panic!("{m:?}"));
    let socket = control.udp();
    let probe = UdpProbe::request(control.session, 1, 5).encode();
    // The clock may enter a new second between two bursts.
    for _ in 0..200_000 {
        let _ = socket.send(&probe);
        if server.refused(Refusal::DatagramRate) > 0 {
            break;
        }
    }
    assert!(server.refused(Refusal::DatagramRate) > 0, "{:?}", server.stats());
    is_served_well(&server);
}

#[test]
fn an_address_has_a_quota_of_bytes_for_all_its_sessions() {
    let server = serve(|c| c.max_hourly_bytes = Bytes(3_000_000));
    let attacker = Ipv4Addr::new(127, 6, 1, 1);
    let mut control = open_from(attacker, server.v4()).unwrap_or_else(|m| panic!("refused: {m:?}"));
    let mut flow = try_connect(attacker, server.v4()).unwrap();
    writeln!(flow, "FATHOM/1 FLOW {} 1 down -", control.session).unwrap();
    crate::client::read_to_close(&mut flow);
    let last = control.last();
    let Some(ServerMessage::Error { code: ErrorCode::Limit, message }) = last else { panic!("{last:?}") };
    assert_eq!(message, "127.6.1.1 has used its data of this hour: try again in 60 min");
    drop(control);
    let again = open_from(attacker, server.v4()).err();
    assert!(matches!(again, Some(ServerMessage::Error { code: ErrorCode::Limit, .. })), "{again:?}");
    assert_eq!(server.refused(Refusal::Quota), 2);
    // The last call of a flow moves up to 1 MiB.
    let moved = server.stats().down_bytes;
    assert!(moved <= 3_000_000 + (1 << 20), "{moved}");
    is_served_well(&server);
}

#[test]
fn every_refusal_is_an_event_and_a_metric() {
    let server = serve(|_| ());
    for _ in 0..3 {
        assert!(is_reset({
            let mut stream = try_connect(GOOD, server.v4()).unwrap();
            stream.write_all(b"SSH-2.0-x\r\n").unwrap();
            stream
        }));
    }
    server.until("three were refused", |s| s.refused.get(&Refusal::FirstLine) == Some(&3));
    let client = Some(GOOD.into());
    let expected = Event::Refused { reason: Refusal::FirstLine, count: 3, client };
    assert_eq!(server.events(), [expected]);
    assert_eq!(server.events(), []);
    let mut stream = try_connect(GOOD, server.v4()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("fathom_serve_refused_total{reason=\"first_line\"} 3\n"), "{text}");
}

#[test]
fn clients_learn_that_they_share_the_server() {
    let server = serve(|_| ());
    let mut first = open_from(GOOD, server.v4()).unwrap_or_else(|m| panic!("refused: {m:?}"));
    let second = open_from(Ipv4Addr::new(127, 7, 1, 1), server.v4()).unwrap_or_else(|m| panic!("{m:?}"));
    let mut flows = Vec::new();
    for (from, session) in [(GOOD, first.session), (Ipv4Addr::new(127, 7, 1, 1), second.session)] {
        let mut flow = try_connect(from, server.v4()).unwrap();
        writeln!(flow, "FATHOM/1 FLOW {session} 1 up -").unwrap();
        assert!(read_line(&mut flow).starts_with("OK"));
        flow.set_nonblocking(true).unwrap();
        flows.push(flow);
    }
    first.say(&fathom_probe::protocol::ClientMessage::ReportEvery { ms: 50 });
    let start = std::time::Instant::now();
    loop {
        for flow in &mut flows {
            let _ = flow.write(&[0; 100_000]);
        }
        if let Some(ServerMessage::Report { others, .. }) = first.next()
            && others == 1
        {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "no report of the other session");
    }
}

/// Runs in a process whose address space is limited once the server runs.
fn exhausted_threads() {
    let server = serve(|_| ());
    let attacker = Ipv4Addr::new(127, 8, 1, 1);
    let session = open_from(attacker, server.v4()).unwrap_or_else(|m| panic!("refused: {m:?}"));
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let used: u64 = statm.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let (pid, limit) = (std::process::id().to_string(), format!("--as={}", used + 6_000_000));
    let limited = std::process::Command::new("prlimit").args(["--pid", &pid, &limit]).status();
    assert!(limited.expect("prlimit of util-linux").success());
    let mut flows = Vec::new();
    let refused = (0..64).find_map(|number| {
        let mut flow = try_connect(attacker, server.v4()).expect("a connection");
        writeln!(flow, "FATHOM/1 FLOW {} {number} up -", session.session).unwrap();
        let answer = read_line(&mut flow);
        flows.push(flow);
        (!answer.starts_with("OK")).then_some(answer)
    });
    let refused = refused.expect("a flow without a thread");
    assert!(refused.starts_with("ERR full the server could not start a thread: "), "{refused}");
    assert_eq!(server.refused(Refusal::Threads), 1);
    // The threads of the flows end, and then others can start.
    drop(flows);
    drop(session);
    server.until("the flows have ended", |s| s.open_sessions == 0 && s.open_connections == 0);
    is_served_well(&server);
}

#[test]
fn want_of_threads_is_said() {
    // The limit applies to a process, so this test runs itself again in a separate one.
    const INNER: &str = "FATHOM_TEST_FEW_THREADS";
    if std::env::var_os(INNER).is_some() {
        return exhausted_threads();
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "attack::want_of_threads_is_said", "--nocapture"])
        .env(INNER, "1")
        // A stack no longer fits when small allocations still do.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{errors}");
}

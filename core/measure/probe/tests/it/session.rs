//! The control connection in virtual time: a single session, and one that is kept open.
use fathom_probe::protocol::{
    ClientMessage, ErrorCode, Limits, Nonce, ServerMessage, SessionId, Ticket, Token,
};
use fathom_probe::session::{
    ConnectionId, Credentials, KeeperInput, KeeperOutput, Session, SessionError, SessionEvent, SessionKeeper,
    SessionOutput, SessionPolicy,
};
use fathom_units::{Duration, Time};

const S: fn(u64) -> Duration = Duration::from_secs;

const fn at(seconds: u64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}
fn hello(seconds: u64) -> Vec<u8> {
    let message = ServerMessage::Hello {
        session: SessionId([7; 16]),
        address: "192.0.2.1".parse().unwrap(),
        version: "0.9\x1b[2J".into(),
        congestion_controls: vec!["cubic".into()],
        limits: Limits { seconds, bytes: 1, flows: 1 },
        loads: vec![],
        mac: None,
    };
    message.to_line()
}
fn refusal(code: ErrorCode) -> Vec<u8> {
    ServerMessage::Error { code, message: "not\x07 today".into() }.to_line()
}
/// A connection established at time 0 that waits 5 s for Hello; its first line was sent.
fn connected() -> Session {
    let mut session = Session::new(None, S(5), Time::ZERO);
    let first = SessionOutput::Send(b"FATHOM/1 CONTROL\n".to_vec());
    assert_eq!(session.poll_output(), Some(first));
    session
}
fn opened() -> Session {
    let mut session = connected();
    session.handle_input(&hello(600));
    assert_eq!(events(&mut session).len(), 1);
    session
}
fn outputs(session: &mut Session) -> Vec<SessionOutput> {
    std::iter::from_fn(|| session.poll_output()).collect()
}
fn events(session: &mut Session) -> Vec<SessionEvent> {
    let event = |output| match output {
        SessionOutput::Event(event) => event,
        SessionOutput::Send(bytes) => panic!("sent {bytes:?}"),
    };
    outputs(session).into_iter().map(event).collect()
}
fn end(session: &mut Session) -> SessionError {
    match events(session).pop() {
        Some(SessionEvent::Ended(error)) => error,
        other => panic!("not the end: {other:?}"),
    }
}

/// Client and server agree on a key; a server that does not know the token is found out.
#[test]
fn a_session_with_a_token_is_proven_by_both_sides() {
    let token: Token = "secret".parse().unwrap();
    let (nonce, challenge, id) = (Nonce([1; 16]), Nonce([2; 16]), SessionId([7; 16]));
    let begin = || {
        let credentials = Credentials { token: token.clone(), nonce };
        let mut session = Session::new(Some(credentials), S(5), Time::ZERO);
        let proof = token.prove(nonce);
        let first = format!("FATHOM/1 CONTROL {nonce} {}\n", proof.mac);
        assert_eq!(session.poll_output(), Some(SessionOutput::Send(first.into_bytes())));
        session
    };
    let key = token.session_key(nonce, challenge);
    let hello = |mac| {
        ServerMessage::Hello {
            session: id,
            address: "192.0.2.1".parse().unwrap(),
            version: "1".into(),
            congestion_controls: vec![],
            limits: Limits { seconds: 1, bytes: 1, flows: 1 },
            loads: vec![],
            mac,
        }
        .to_line()
    };
    let challenge = ServerMessage::Challenge { nonce: challenge }.to_line();
    let mut session = begin();
    session.handle_input(&challenge);
    let response = ClientMessage::Response { mac: key.of_client() }.to_line();
    assert_eq!(session.poll_output(), Some(SessionOutput::Send(response)));
    session.handle_input(&hello(Some(key.of_server(id))));
    let [SessionEvent::Opened(hello_of_server)] = &events(&mut session)[..] else { panic!("not opened") };
    assert_eq!(hello_of_server.session, Ticket { id, key: Some(key) });
    // Another server: without a challenge, without a proof, and with that of another session.
    let mut unchallenged = begin();
    unchallenged.handle_input(&hello(None));
    assert_eq!(end(&mut unchallenged), SessionError::NotProven);
    for mac in [None, Some(key.of_server(SessionId([8; 16])))] {
        let mut cheated = begin();
        cheated.handle_input(&[challenge.clone(), hello(mac)].concat());
        assert!(matches!(cheated.poll_output(), Some(SessionOutput::Send(_))));
        assert_eq!(end(&mut cheated), SessionError::NotProven);
    }
    // A challenge to a client without a token.
    let mut without = connected();
    without.handle_input(&challenge);
    assert!(matches!(end(&mut without), SessionError::NotFathom(_)));
}

#[test]
fn a_session_works_with_bytes_split_anywhere() {
    let mut stream = hello(600);
    stream.extend(ServerMessage::Report { at_ns: 5, flows: vec![], others: 2 }.to_line());
    let bye = ServerMessage::Bye { up_bytes: 1, down_bytes: 2, udp_received: 3, udp_refused: 4 };
    stream.extend(bye.to_line());
    for size in [1, 7, 100, 10_000] {
        let mut session = connected();
        stream.chunks(size).for_each(|part| session.handle_input(part));
        let events = events(&mut session);
        let [SessionEvent::Opened(hello), report, last] = &events[..] else { panic!("{events:?}") };
        assert_eq!((hello.version.as_str(), hello.limits.seconds), ("0.9.[2J", 600));
        assert_eq!(*report, SessionEvent::Report { at_ns: 5, flows: vec![], others: 2 });
        assert_eq!(*last, SessionEvent::Bye { udp_received: 3 });
        session.handle_close(None);
        assert_eq!(end(&mut session), SessionError::Closed);
    }
}

#[test]
fn reports_are_requested_within_limits_and_once() {
    let mut greeting = connected();
    greeting.report_every(S(1));
    greeting.say_bye();
    assert_eq!(outputs(&mut greeting), [], "before Hello nothing may be sent");
    let mut session = opened();
    for ms in [1, 20, 50, 700, 1_000_000] {
        session.report_every(Duration::from_millis(ms));
    }
    session.say_bye();
    let sent: Vec<String> = outputs(&mut session)
        .into_iter()
        .map(|output| match output {
            SessionOutput::Send(bytes) => String::from_utf8(bytes).unwrap(),
            SessionOutput::Event(event) => panic!("{event:?}"),
        })
        .collect();
    let report = |ms| format!("{{\"report_every\":{{\"ms\":{ms}}}}}\n");
    assert_eq!(sent, [report(50), report(700), report(10_000), "{\"bye\":{}}\n".into()]);
}

/// An older server would end the session at a line that it does not know.
#[test]
fn probes_of_hops_are_requested_only_from_a_server_that_lists_them() {
    let (mut session, mut greeting) = (connected(), connected());
    session.handle_input(&hello(600));
    let [SessionEvent::Opened(mut hello)] = <[_; 1]>::try_from(events(&mut session)).unwrap() else {
        panic!("not opened")
    };
    session.probe_hops(&hello);
    assert_eq!(outputs(&mut session), []);
    hello.loads.push("hops".into());
    greeting.probe_hops(&hello);
    assert_eq!(outputs(&mut greeting), [], "before Hello");
    session.probe_hops(&hello);
    assert_eq!(outputs(&mut session), [SessionOutput::Send(b"{\"probe_hops\":{}}\n".to_vec())]);
    session.handle_input(&ServerMessage::Hops { replies: vec![] }.to_line());
    assert_eq!(events(&mut session), [SessionEvent::Hops(vec![])]);
}

#[test]
fn a_rejection_differs_from_another_service() {
    let mut refused = connected();
    refused.handle_input(&refusal(ErrorCode::Token));
    let rejected = SessionError::Rejected { code: ErrorCode::Token, message: "not. today".into() };
    assert_eq!(end(&mut refused), rejected);
    refused.handle_input(&hello(600));
    assert_eq!(outputs(&mut refused), [], "nothing follows the end");

    let report = ServerMessage::Report { at_ns: 0, flows: vec![], others: 0 }.to_line();
    let long = [b'x'; 100_000];
    for other in [&b"SSH-2.0-OpenSSH_9.9\r\n"[..], b"HTTP/1.1 400 Bad Request\r\n", &long, &report] {
        let mut session = connected();
        session.handle_input(other);
        let error = end(&mut session);
        assert!(matches!(error, SessionError::NotFathom(_)), "{error:?}");
    }
    let mut closed = connected();
    closed.handle_close(None);
    assert!(matches!(end(&mut closed), SessionError::NotFathom(_)));
    let mut broken = connected();
    broken.handle_close(Some("connection reset".into()));
    assert_eq!(end(&mut broken), SessionError::Connection("connection reset".into()));
}

#[test]
fn an_incomplete_hello_times_out() {
    let mut session = connected();
    session.handle_input(&hello(600)[..40]);
    assert_eq!(session.poll_timeout(), Some(at(5)));
    session.handle_timeout(at(4));
    assert_eq!(outputs(&mut session), []);
    session.handle_timeout(at(5));
    assert_eq!(end(&mut session), SessionError::Timeout(S(5)));
    assert_eq!(session.poll_timeout(), None);
    assert_eq!(opened().poll_timeout(), None, "an open session may be silent");
}

#[test]
fn violations_end_a_session_but_a_second_hello_is_only_reported() {
    let mut session = opened();
    session.handle_input(&hello(600));
    assert_eq!(events(&mut session), [SessionEvent::SecondHello]);
    session.handle_input(b"{\"report\":3}\n{\"bye\":{}}\n");
    let error = end(&mut session);
    assert!(matches!(&error, SessionError::Protocol(_)), "{error:?}");
    assert!(error.to_string().contains("invalid control message"), "{error}");
    let mut flooded = opened();
    flooded.handle_input(&[b'x'; 100_000]);
    assert!(matches!(end(&mut flooded), SessionError::Protocol(_)));
    let mut limited = opened();
    limited.handle_input(&refusal(ErrorCode::Limit));
    assert!(matches!(end(&mut limited), SessionError::Rejected { code: ErrorCode::Limit, .. }));
}

const fn policy(sessions: usize) -> SessionPolicy {
    SessionPolicy {
        credentials: None,
        connect_timeout: Some(S5),
        patience: S5,
        retry_after: S5,
        pause: Duration::from_secs(1),
        sessions,
    }
}
const S5: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    /// Opens sessions with a limit of this many seconds.
    Serves(u64),
    /// Refuses connections.
    IsDown,
    /// Does not respond.
    IsGone,
    /// Rejects sessions.
    IsFull,
    /// Closes each session right after opening it.
    HangsUp,
    /// Accepts connections and sends nothing.
    IsSilent,
}

struct World {
    keeper: SessionKeeper,
    now: Time,
    /// Every output except sent bytes, with its second.
    seen: Vec<(u64, KeeperOutput)>,
}

impl World {
    fn new(sessions: usize) -> Self {
        World { keeper: SessionKeeper::new(policy(sessions)), now: Time::ZERO, seen: Vec::new() }
    }
    /// Runs until a second and returns the new outputs.
    fn run(&mut self, until: u64, manner: Manner) -> Vec<(u64, KeeperOutput)> {
        self.seen.clear();
        while self.now <= at(until) {
            self.keeper.handle_timeout(self.now);
            self.answer(manner);
            let next = self.keeper.poll_timeout().unwrap_or(Time::MAX);
            assert!(next > self.now, "{next} is not after {}", self.now);
            self.now = next;
        }
        self.now = at(until);
        std::mem::take(&mut self.seen)
    }
    fn answer(&mut self, manner: Manner) {
        while let Some(output) = self.keeper.poll_output() {
            match &output {
                KeeperOutput::Connect(id) => self.connect(*id, manner),
                KeeperOutput::Send(id, bytes) => {
                    assert_eq!(bytes, b"FATHOM/1 CONTROL\n");
                    self.greet(*id, manner);
                    continue;
                }
                KeeperOutput::Opened(..) | KeeperOutput::Close(..) => {}
            }
            self.seen.push((self.now.as_nanos() / 1_000_000_000, output));
        }
    }
    fn connect(&mut self, id: ConnectionId, manner: Manner) {
        match manner {
            Manner::IsGone => {}
            Manner::IsDown => self.input(id, KeeperInput::Closed(Some("refused".into()))),
            _ => self.input(id, KeeperInput::Connected),
        }
    }
    fn greet(&mut self, id: ConnectionId, manner: Manner) {
        match manner {
            Manner::Serves(seconds) => self.input(id, KeeperInput::Received(&hello(seconds))),
            Manner::HangsUp => {
                self.input(id, KeeperInput::Received(&hello(600)));
                self.input(id, KeeperInput::Closed(None));
            }
            Manner::IsFull => self.input(id, KeeperInput::Received(&refusal(ErrorCode::Full))),
            Manner::IsSilent | Manner::IsDown | Manner::IsGone => {}
        }
    }
    fn input(&mut self, id: ConnectionId, input: KeeperInput<'_>) {
        self.keeper.handle_input(id, input, self.now);
    }
}

fn attempts(seen: &[(u64, KeeperOutput)]) -> Vec<u64> {
    let begun = seen.iter().filter(|(_, output)| matches!(output, KeeperOutput::Connect(_)));
    begun.map(|(second, _)| *second).collect()
}
fn closed(seen: &[(u64, KeeperOutput)]) -> Vec<(u64, u64, Option<SessionError>)> {
    let close = |(second, output): &(u64, KeeperOutput)| match output {
        KeeperOutput::Close(id, why) => Some((*second, id.0, why.clone())),
        _ => None,
    };
    seen.iter().filter_map(close).collect()
}

#[test]
fn a_session_is_renewed_before_it_expires() {
    let mut world = World::new(2);
    let seen = world.run(400, Manner::Serves(100));
    assert_eq!(attempts(&seen), [0, 90, 180, 270, 360]);
    // The previous session stays open for late replies.
    assert_eq!(closed(&seen), [(180, 0, None), (270, 1, None), (360, 2, None)]);
    assert_eq!((world.keeper.current(), world.keeper.problem()), (Some(ConnectionId(4)), None));
    // The server ends the previous session at its time limit: nothing is lost.
    world.input(ConnectionId(3), KeeperInput::Closed(None));
    let later = world.run(401, Manner::Serves(100));
    assert_eq!(closed(&later), [(400, 3, Some(SessionError::Closed))]);
    assert_eq!((world.keeper.current(), world.keeper.problem()), (Some(ConnectionId(4)), None));

    let alone = World::new(1).run(100, Manner::Serves(100));
    assert_eq!(closed(&alone), [(90, 0, None)]);
}

#[test]
fn a_failed_renewal_is_retried_during_the_session() {
    let mut world = World::new(2);
    world.run(89, Manner::Serves(100));
    let seen = world.run(96, Manner::IsFull);
    assert_eq!(attempts(&seen), [90, 95]);
    assert_eq!((world.keeper.current(), world.keeper.problem()), (Some(ConnectionId(0)), None));
    assert_eq!(attempts(&world.run(101, Manner::Serves(100))), [100]);
    assert_eq!(world.keeper.current(), Some(ConnectionId(3)));
}

#[test]
fn after_a_restart_of_the_server_there_is_a_new_session() {
    let mut world = World::new(2);
    world.run(30, Manner::Serves(600));
    world.input(ConnectionId(0), KeeperInput::Closed(None));
    // Immediately, and then every five seconds.
    let seen = world.run(43, Manner::IsDown);
    assert_eq!(attempts(&seen), [30, 35, 40]);
    assert_eq!(world.keeper.current(), None);
    assert_eq!(world.keeper.problem(), Some(&SessionError::Connection("refused".into())));
    let again = world.run(50, Manner::Serves(600));
    assert_eq!(attempts(&again), [45]);
    assert_eq!((world.keeper.current(), world.keeper.problem()), (Some(ConnectionId(4)), None));
}

#[test]
fn failing_servers_are_retried_after_a_pause() {
    for (manner, expected) in [
        (Manner::IsDown, vec![0, 5, 10]),
        (Manner::IsFull, vec![0, 5, 10]),
        (Manner::IsGone, vec![0, 10]),
        (Manner::IsSilent, vec![0, 10]),
        (Manner::HangsUp, (0..=12).collect()),
        (Manner::Serves(0), (0..=12).collect()),
    ] {
        let seen = World::new(1).run(12, manner);
        assert_eq!(attempts(&seen), expected, "{manner:?}");
    }
    assert_eq!(attempts(&World::new(1).run(1_000_000, Manner::Serves(u64::MAX))), [0]);
}

#[test]
fn events_of_an_abandoned_connection_are_ignored() {
    let mut world = World::new(1);
    world.run(6, Manner::IsGone);
    for input in [KeeperInput::Connected, KeeperInput::Received(&hello(600)), KeeperInput::Closed(None)] {
        world.input(ConnectionId(0), input);
    }
    assert_eq!(world.keeper.poll_output(), None);
    assert!(matches!(world.keeper.problem(), Some(SessionError::Connection(_))));
    // Connected twice, and bytes before that.
    world.run(9, Manner::IsGone);
    world.keeper.handle_timeout(at(10));
    assert_eq!(world.keeper.poll_output(), Some(KeeperOutput::Connect(ConnectionId(1))));
    world.input(ConnectionId(1), KeeperInput::Received(&hello(600)));
    world.input(ConnectionId(1), KeeperInput::Connected);
    world.input(ConnectionId(1), KeeperInput::Connected);
    let sent = KeeperOutput::Send(ConnectionId(1), b"FATHOM/1 CONTROL\n".to_vec());
    assert_eq!(world.keeper.poll_output(), Some(sent));
    assert_eq!(world.keeper.poll_output(), None);
}

//! Properties of arbitrary bytes; the fuzz target `other_protocols` runs the same function.
use fathom_protocol::crusader::{self, Connection, Stream};
use fathom_protocol::iperf3::datagrams::Numbers;
use fathom_protocol::iperf3::{Client, Cookie, Mode, Output, Plan, datagrams, server};
use fathom_protocol::irtt::{self, Asked, Layout, Params, Request};
use fathom_protocol::measurement_lab::{SpeedTest, congestion_control, locate};
use fathom_protocol::{http3, netperf, network_quality, stamp};
use fathom_units::{Direction, Duration, WallTime};

/// # Panics
/// If a property is violated.
pub(crate) fn check(bytes: &[u8]) {
    let _ = network_quality::parse(bytes);
    let _ = core::str::from_utf8(bytes).map(congestion_control);
    let _ = locate(bytes, SpeedTest::Ndt7);
    if let Ok(Some(status)) = http3::status(bytes) {
        assert!(
            http3::status(&[bytes, &[0xff; 9]].concat()) == Ok(Some(status)),
            "later bytes change nothing"
        );
    }
    datagram(bytes);
    assert!(!datagrams::is_answer(bytes) || bytes.len() == 4);
    for numbers in [Numbers::Narrow, Numbers::Wide] {
        let Some(before) = numbers.before(bytes) else { continue };
        let mut again = bytes.to_vec();
        numbers.write(before, 0, &mut again);
        assert_eq!((numbers.before(&again), datagrams::sent_us(&again)), (Some(before), Some(0)));
    }
    if let Some(response) = bytes.first_chunk() {
        assert_ne!(netperf::data_port(response), Ok(0));
        assert!(netperf::greeted(response).is_err() || bytes[3] == 3);
    }
    let served = serve(&[bytes]);
    let whole = follow(&[bytes]);
    for at in [1, bytes.len() / 2] {
        let (first, second) = bytes.split_at(at.min(bytes.len()));
        assert_eq!(follow(&[first, second]), whole, "split at {at}");
        assert_eq!(serve(&[first, second]), served, "split at {at}");
        for direction in [None, Some(Direction::Up), Some(Direction::Down)] {
            assert_eq!(join(direction, &[first, second]), join(direction, &[bytes]), "split at {at}");
        }
    }
    let ends = whole.iter().filter(|o| matches!(o, Output::Results(_) | Output::Failed(_)));
    assert_eq!(ends.count(), 1, "a test ends once: {whole:?}");
}

/// What both ends of irtt and STAMP make of a datagram: nothing, or a reply of the same length.
fn datagram(bytes: &[u8]) {
    if let Ok(params) = Params::decode(bytes) {
        assert_eq!(Params::decode(&params.encode()), Ok(Params { version: 1, ..params }));
    }
    let replies = [Layout::default(), Layout::FATHOM, Layout { received_stats: 3, stamp_at: 4, clock: 3 }]
        .map(|layout| irtt::echo_reply(bytes, layout, (1, 1), Default::default(), false));
    if let Ok(Request::Echo { .. }) = irtt::request(bytes) {
        assert!(replies[0].is_ok(), "a probe without fields has a reply");
    }
    let reflected = stamp::reflect(bytes, 64, WallTime(1), WallTime(2));
    for reply in replies.into_iter().flatten().chain(reflected.clone()) {
        assert_eq!(reply.len(), bytes.len());
    }
    assert!(reflected.is_none_or(|reply| stamp::reply(&reply, 0).is_some() || bytes[14..16] != [0, 0]));
    let _ = stamp::reply(bytes, 1);
    let _ = crusader::reply(bytes, 0);
    for key in [None, Some(&b"key"[..])] {
        let asked = Asked::new(Params { layout: Layout::FATHOM, ..Params::default() }, key);
        let Ok(session) = asked.opened(bytes) else { continue };
        let _ = session.reply(bytes);
        assert!(session.probe(0).len() <= 1_500);
    }
}

/// What a server does if a client sends these parts and closes the connection.
fn serve(parts: &[&[u8]]) -> Vec<server::Output> {
    let mut server = server::Server::default();
    let mut outputs = Vec::new();
    for part in parts {
        server.handle_input(part);
        while let Some(output) = server.poll_output() {
            match output {
                server::Output::AwaitStreams(_) => server.start(),
                server::Output::Stop => server.report(&[], "cubic", 1.0),
                _ => {}
            }
            outputs.push(output);
        }
    }
    server.handle_close();
    outputs.extend(std::iter::from_fn(|| server.poll_output()));
    let ends = |output: &&server::Output| matches!(output, server::Output::Done | server::Output::Failed(_));
    assert_eq!(outputs.iter().filter(ends).count(), 1, "a test ends once: {outputs:?}");
    outputs
}

/// What a connection to crusader does if the server sends these parts and closes it.
fn join(direction: Option<Direction>, parts: &[&[u8]]) -> Vec<crusader::Output> {
    let duration = Duration::from_secs(1);
    let stream = direction.map(|direction| Stream { client: 0, group: 0, number: 0, direction, duration });
    let mut connection = Connection::new(stream);
    parts.iter().for_each(|part| connection.handle_input(part));
    connection.handle_close();
    let outputs: Vec<_> = std::iter::from_fn(|| connection.poll_output()).collect();
    let ends = |o: &&crusader::Output| matches!(o, crusader::Output::Ready | crusader::Output::Failed(_));
    assert_eq!(outputs.iter().filter(ends).count(), 1, "a connection ends once: {outputs:?}");
    outputs
}

/// What a client does if the server sends these parts and closes the connection.
fn follow(parts: &[&[u8]]) -> Vec<Output> {
    let plan = Plan { mode: Mode::Bidirectional, streams: 1, congestion_control: None, udp: None };
    let mut client = Client::new(plan, &Cookie::new([7; 36]));
    parts.iter().for_each(|part| client.handle_input(part));
    client.handle_close();
    std::iter::from_fn(|| client.poll_output()).collect()
}

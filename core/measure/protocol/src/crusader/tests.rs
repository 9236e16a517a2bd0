use super::*;
use alloc::string::ToString;
use alloc::vec;

fn all(connection: &mut Connection) -> Vec<Output> {
    core::iter::from_fn(|| connection.poll_output()).collect()
}
fn hello(version: u64) -> Vec<u8> {
    framed(&[&MAGIC.to_le_bytes(), &version.to_le_bytes()])
}
fn stream(direction: Direction) -> Stream {
    Stream { client: 3, group: 1, number: 2, direction, duration: Duration::from_secs(60) }
}
/// Hello as crusader 0.3.2 sends it.
const HELLO: [u8; 24] =
    [16, 0, 0, 0, 0, 0, 0, 0, 0xcb, 0x59, 0x7c, 0xae, 0x82, 0xab, 0x72, 0x53, 3, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn the_control_connection_reports_arrivals_and_starts_of_load() {
    let mut control = Connection::new(None);
    let joining = [&HELLO[..], &[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    assert_eq!(all(&mut control), [Output::Send(joining)]);
    control.handle_input(&HELLO);
    let joined = message(to_client::NEW_CLIENT, &[&[1], &7_u64.to_le_bytes()]);
    joined.iter().for_each(|byte| control.handle_input(&[*byte]));
    let get = vec![4, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0];
    assert_eq!(all(&mut control), [Output::Joined(7), Output::Send(get)]);
    let fields = [2_u64, 5_000, 0, 5_100, 2].map(u64::to_le_bytes).concat();
    let arrivals = message(to_client::LATENCY_MEASURES, &[&fields]);
    let scheduled = message(to_client::SCHEDULED_LOADS, &[&1_u64.to_le_bytes(), &[1, 0, 0, 0], &[9; 8]]);
    let counts = message(to_client::MEASURE, &[&[0; 24]]);
    control.handle_input(&[arrivals, counts, scheduled].concat());
    let expected = vec![Arrival { index: 0, at_us: 5_000 }, Arrival { index: 2, at_us: 5_100 }];
    assert_eq!(all(&mut control), [Output::Arrived(expected), Output::Scheduled]);
    let start = [&[24, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0][..], &[0; 8]];
    assert_eq!(schedule(6), start.concat());
}

#[test]
fn a_stream_is_ready_once_the_server_waits() {
    let mut down = Connection::new(Some(stream(Direction::Down)));
    let Some(Output::Send(request)) = down.poll_output() else { panic!("no request") };
    let fields = [&[5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0][..], &60_000_000_u64.to_le_bytes(), &[0; 8]].concat();
    assert!(request.starts_with(&HELLO) && request.ends_with(&fields), "{request:?}");
    down.handle_input(&[hello(3), message(to_client::WAITING_FOR_BYTE, &[])].concat());
    assert_eq!(all(&mut down), [Output::Send(vec![1])]);
    down.handle_input(&[message(to_client::WAITING_FOR_LOAD, &[]), vec![0; 99]].concat());
    assert_eq!(all(&mut down), [Output::Ready]);

    let mut up = Connection::new(Some(stream(Direction::Up)));
    let Some(Output::Send(upload)) = up.poll_output() else { panic!("no request") };
    assert!(upload.ends_with(&1_000_000_u64.to_le_bytes()), "{upload:?}");
    up.handle_input(&[hello(3), message(to_client::WAITING_FOR_LOAD, &[])].concat());
    assert_eq!(all(&mut up), [Output::Send(message(to_server::SEND_BYTE, &[]))]);
    up.handle_input(&[1]);
    assert_eq!(all(&mut up), [Output::Ready]);
}

#[test]
fn every_failure_ends_the_connection_with_its_reason() {
    let after_hello = |bytes: Vec<u8>| [hello(3), bytes].concat();
    let many = message(to_client::LATENCY_MEASURES, &[&u64::MAX.to_le_bytes(), &[0; 32]]);
    let cases = [
        (hello(2), "version 2 of crusader's protocol (expected 3"),
        (b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), "does not speak crusader: a message of"),
        (framed(&[&[0; 16]]), "another greeting"),
        (framed(&[b"short"]), "another greeting"),
        (after_hello(message(to_client::NEW_CLIENT, &[&[0]])), "no place for another client"),
        (after_hello(message(to_client::NEW_CLIENT, &[&[1, 2]])), "message [0, 0, 0, 0, 1, 2]"),
        (after_hello(many), "message [1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]"),
        (after_hello(message(to_client::WAITING_FOR_LOAD, &[])), "message [7, 0, 0, 0]"),
        (after_hello(u64::MAX.to_le_bytes().to_vec()), "bytes (at most 65536)"),
        (after_hello(framed(&[])), "message []"),
    ];
    for (bytes, expected) in cases {
        let mut control = Connection::new(None);
        control.handle_input(&bytes);
        let Some(Output::Failed(error)) = all(&mut control).pop() else { panic!("{bytes:?}") };
        assert!(error.to_string().contains(expected), "{error}");
        control.handle_input(&hello(3));
        control.handle_close();
        assert!(all(&mut control).is_empty());
    }
    let mut closed = Connection::new(None);
    closed.handle_close();
    assert_eq!(all(&mut closed).pop(), Some(Output::Failed(CrusaderError::Closed)));
}

#[test]
fn probes_come_back_unchanged() {
    let sent = probe(7, 300, 64);
    assert_eq!((sent.len(), reply(&sent, 7), reply(&sent, 8)), (64, Some(300), None));
    assert_eq!(
        (reply(&sent[..16], 7), reply(&sent[..15], 7), reply(&[255; 16], u64::MAX)),
        (Some(300), None, None)
    );
}

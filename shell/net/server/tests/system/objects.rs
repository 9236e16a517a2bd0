//! Flows on which the client requests objects, and datagrams of applications.
use crate::client::{Authentic, Control, PATIENCE, SILENCE, read_to_close, serve, udp};
use fathom_probe::protocol::{ErrorCode, ServerMessage, UdpKind, UdpProbe, object_request};
use fathom_server::Refusal;
use fathom_units::Bytes;
use std::io::{Read, Write};

const OBJECTS: &str = "down - objects";

#[test]
fn each_request_is_answered_with_its_bytes() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let ServerMessage::Hello { loads, .. } = &control.hello else { panic!("{:?}", control.hello) };
    assert!(loads.iter().any(|load| load == "objects"), "{loads:?}");
    let (mut flow, answer) = control.flow(1, OBJECTS);
    assert!(answer.starts_with("OK "), "{answer}");
    // The second and third are sent together; the last is longer than a call of the server.
    for sizes in [&[1_u64][..], &[30_000, 7], &[3_000_000]] {
        let requests: Vec<u8> = sizes.iter().flat_map(|size| object_request(Bytes(*size), 500)).collect();
        flow.write_all(&requests).unwrap();
        flow.read_exact(&mut vec![0; sizes.iter().sum::<u64>() as usize]).unwrap();
    }
    flow.set_read_timeout(Some(SILENCE)).unwrap();
    assert!(flow.read(&mut [0]).is_err(), "nothing follows what was requested");
    drop(flow);
    server.until("the flow has ended", |s| s.open_connections == 1);
    assert_eq!(control.bye().1, 1 + 30_000 + 7 + 3_000_000);
}

#[test]
fn a_request_that_follows_the_first_line_is_answered() {
    let server = serve(|_| ());
    let control = Control::open(server.v4());
    let (mut flow, answer) = control.flow(1, &format!("{OBJECTS}\n5   "));
    assert!(answer.starts_with("OK "), "{answer}");
    flow.read_exact(&mut [0; 5]).unwrap();
}

#[test]
fn what_is_no_request_ends_the_flow() {
    let server = serve(|_| ());
    let control = Control::open(server.v4());
    let long = "1".repeat(5_000);
    for (number, line) in (1..).zip(["0", "-1", "+1", "1 2", "x", "", "18446744073709551616", &long]) {
        let (mut flow, _) = control.flow(number, OBJECTS);
        let _ = writeln!(flow, "{line}");
        assert_eq!(read_to_close(&mut flow), b"", "{line}");
    }
    let (_, answer) = control.flow(99, "up - objects");
    assert!(answer.starts_with("{\"error\":{\"code\":\"malformed\""), "{answer}");
}

#[test]
fn objects_count_for_the_limits_of_the_session() {
    let server = serve(|c| c.max_bytes = Bytes(5_000_000));
    let mut control = Control::open(server.v4());
    let (mut flow, _) = control.flow(1, OBJECTS);
    flow.write_all(&object_request(Bytes(u64::MAX), 500)).unwrap();
    read_to_close(&mut flow);
    let ended = control.last();
    assert!(matches!(ended, Some(ServerMessage::Error { code: ErrorCode::Limit, .. })), "{ended:?}");
    assert!(server.stats().down_bytes <= 5_000_000 + (1 << 20));
}

#[test]
fn a_datagram_of_an_application_comes_back_with_its_length_and_its_own_count() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let socket = control.udp();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    for (number, length) in (1..).zip([64, 172, 1472]) {
        let mut datagram = UdpProbe::application(control.session, number, 5).encode().to_vec();
        datagram.resize(length, 0);
        socket.send(&datagram).unwrap();
        let mut reply = [1; 2048];
        assert_eq!(socket.recv(&mut reply).unwrap(), length);
        let probe = UdpProbe::decode(&reply[..64]).unwrap();
        assert_eq!((probe.kind, probe.sequence, probe.received), (UdpKind::Reply, number, number));
        assert!(reply[64..length].iter().all(|byte| *byte == 0));
    }
    // A longer one is refused, and none counts as a probe.
    let mut datagram = UdpProbe::application(control.session, 9, 5).encode().to_vec();
    datagram.resize(1473, 0);
    socket.send(&datagram).unwrap();
    server.until("it is refused", |_| server.refused(Refusal::DatagramForm) == 1);
    assert_eq!(control.bye(), (0, 0, 0, 0));
}

#[test]
fn datagrams_of_applications_count_for_the_limits_of_the_session() {
    let server = serve(|c| c.max_bytes = Bytes(30_000));
    let mut control = Control::open(server.v4());
    let socket = control.udp();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut datagram = UdpProbe::application(control.session, 1, 5).encode().to_vec();
    datagram.resize(1472, 0);
    // Ten requests and replies are 29,440 bytes.
    for _ in 0..10 {
        socket.send(&datagram).unwrap();
        socket.recv(&mut [0; 2048]).unwrap();
    }
    socket.send(&datagram).unwrap();
    let ended = control.last();
    assert!(matches!(ended, Some(ServerMessage::Error { code: ErrorCode::Limit, .. })), "{ended:?}");
}

#[test]
fn with_a_token_the_datagram_of_an_application_needs_its_code() {
    let server = serve(|c| c.token = Some("s3cret".parse().unwrap()));
    let session = Authentic::open(server.v4(), &"s3cret".parse().unwrap());
    let socket = udp(session.stream.local_addr().unwrap().ip(), server.v4());
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let sealed = session.ticket.seal(&UdpProbe::application(session.ticket.id, 1, 5));
    let send = |code: &[u8]| {
        let mut datagram = [&sealed.bytes()[..64], code].concat();
        datagram.resize(172, 0);
        socket.send(&datagram).unwrap();
    };
    send(&[0; 16]);
    server.until("the wrong code is refused", |_| server.refused(Refusal::DatagramForm) == 1);
    send(&sealed.bytes()[64..]);
    let mut reply = [0; 2048];
    assert_eq!(socket.recv(&mut reply).unwrap(), 172);
    assert_eq!(session.ticket.open(&reply[..80]).unwrap().received, 1);
}

//! Flows of UDP datagrams.
use crate::client::{Control, SILENCE, read_line, read_to_close, serve, udp};
use fathom_probe::protocol::{ClientMessage, LoadHeader, LoadSender, Reception, ServerMessage, UdpProbe};
use fathom_server::Refusal;
use fathom_units::{Bytes, Rate, Time};
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream, UdpSocket};

/// Opens a flow of datagrams; returns it with its token.
fn open(control: &Control, number: u32, rest: &str) -> (TcpStream, u64) {
    let (stream, answer) = control.flow(number, rest);
    let token = answer.strip_prefix("OK udp ").unwrap_or_else(|| panic!("{answer}"));
    (stream, u64::from_str_radix(token, 16).unwrap())
}

/// Whether nothing arrives.
fn is_silent(socket: &UdpSocket) -> bool {
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    socket.recv(&mut [0; 2048]).is_err()
}

#[test]
fn load_goes_only_to_an_address_that_proved_that_it_receives_it() {
    let server = serve(|_| ());
    let control = Control::open(server.v4());
    let (mut flow, token) = open(&control, 5, "down - udp=2000000");
    let (own, other) = (control.udp(), udp(Ipv4Addr::new(127, 0, 0, 9).into(), server.v4()));
    let proof = |number, of| UdpProbe::proof(control.session, number, of).encode();
    for (socket, datagram, reason) in [
        (&own, proof(5, token ^ 1), Refusal::DatagramSession),
        (&own, proof(6, token), Refusal::DatagramSession),
        (&other, proof(5, token), Refusal::DatagramAddress),
    ] {
        let before = server.refused(reason);
        socket.send(&datagram).unwrap();
        server.until("the proof is refused", |_| server.refused(reason) > before);
        assert!(is_silent(socket), "{reason:?}");
    }
    own.send(&proof(5, token)).unwrap();
    assert_eq!(read_line(&mut flow), "READY");
    own.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    let mut datagram = [0; 2048];
    for sequence in 0..20 {
        let length = own.recv(&mut datagram).unwrap();
        assert_eq!((LoadHeader::decode(&datagram).unwrap().sequence, length), (sequence, 24 + 1448));
    }
    assert!(is_silent(&other));
    // The end of the connection ends the load.
    drop(flow);
    server.until("the flow has ended", |s| s.open_connections == 1);
    own.set_nonblocking(true).unwrap();
    while own.recv(&mut datagram).is_ok() {}
    own.set_nonblocking(false).unwrap();
    assert!(is_silent(&own));
}

#[test]
fn without_a_proof_the_server_sends_nothing_and_ends_the_flow() {
    let server = serve(|_| ());
    let control = Control::open(server.v4());
    let (mut flow, _) = open(&control, 1, "down - udp=2000000");
    let own = control.udp();
    assert!(read_to_close(&mut flow).is_empty());
    assert!(is_silent(&own));
}

#[test]
fn what_arrives_of_an_upload_is_counted_and_probes_are_answered_meanwhile() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let (mut flow, token) = open(&control, 1, "up - udp=2000000");
    let (own, probes) = (control.udp(), control.udp());
    own.send(&UdpProbe::proof(control.session, 1, token).encode()).unwrap();
    assert_eq!(read_line(&mut flow), "READY");
    let mut sender = LoadSender::new(Rate::from_bits_per_second(1_000_000_000), Bytes(1000), Time::ZERO);
    for number in 0..10 {
        let datagram = sender.take(Time::from_nanos(1_000_000 * (number + 1))).unwrap();
        // One is lost, and one is doubled.
        for _ in 0..[1, 1, 1, 0, 1, 1, 2, 1, 1, 1][number as usize] {
            own.send(datagram).unwrap();
        }
    }
    control.say(&ClientMessage::ReportEvery { ms: 50 });
    let expected = Reception { received: 9, lost: 1, duplicate: 1, reordered: 0, ecn: [9, 0, 0, 0] };
    loop {
        let Some(ServerMessage::Report { flows, .. }) = control.next() else { panic!("no report") };
        if flows[0].datagrams == Some(expected) {
            assert_eq!((flows[0].bytes, flows[0].rtt_us), (9_000, None));
            break;
        }
    }
    let probe = UdpProbe::request(control.session, 1, 5).encode();
    assert!(crate::client::ask(&probes, &probe, std::time::Duration::from_secs(5)).is_some());
    // What was in a queue at the end of the flow is no offence.
    flow.write_all(b"x").unwrap();
    server.until("the flow has ended", |s| s.open_connections == 1);
    own.send(sender.take(Time::from_nanos(1_000_000_000)).unwrap()).unwrap();
    assert!(is_silent(&own));
    assert_eq!(server.refused(Refusal::DatagramForm), 0);
    assert_eq!(control.bye().0, 9_000);
}

#[test]
fn the_limit_of_data_ends_a_flow_of_datagrams() {
    let server = serve(|c| c.max_bytes = Bytes(100_000));
    let control = Control::open(server.v4());
    let (mut flow, token) = open(&control, 1, "down - udp=100000000");
    control.udp().send(&UdpProbe::proof(control.session, 1, token).encode()).unwrap();
    assert_eq!(read_line(&mut flow), "READY");
    read_to_close(&mut flow);
    server.until("the flow has ended", |s| s.down_bytes > 0);
    assert!((100_000..200_000).contains(&server.stats().down_bytes), "{:?}", server.stats());
}

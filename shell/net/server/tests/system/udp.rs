//! UDP probes, and datagrams that must not be answered.
use crate::client::{Control, PATIENCE, SILENCE, ask, serve, udp};
use fathom_probe::protocol::{SessionId, UdpKind, UdpProbe};
use fathom_server::Refusal;

#[test]
fn a_probe_comes_back_with_times_and_count_over_both_families() {
    let server = serve(|_| ());
    for ip in ["127.0.0.1", "::1"] {
        let mut control = Control::open(server.at(ip));
        let socket = control.udp();
        let mut last = 0;
        for n in 1..=20 {
            let request = UdpProbe::request(control.session, 1000 + n, u64::MAX - n);
            let reply = ask(&socket, &request.encode(), PATIENCE).expect("a reply");
            let UdpProbe { server_receive_ns: received_at, server_send_ns: sent_at, .. } = reply;
            let want = UdpProbe {
                kind: UdpKind::Reply,
                server_receive_ns: received_at,
                server_send_ns: sent_at,
                received: n,
                ..request
            };
            assert_eq!(reply, want);
            assert!(last < received_at && received_at <= sent_at, "{last} {received_at} {sent_at}");
            last = sent_at;
        }
        assert_eq!(control.bye(), (0, 0, 20, 0));
    }
    assert_eq!(server.stats().udp_answered, 40);
}

#[test]
fn nothing_is_answered_to_strangers() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    let good = UdpProbe::request(control.session, 1, 1).encode();
    let here = control.udp();
    // The session identifier from another address, as with a spoofed source.
    let elsewhere = udp("127.0.0.2".parse().unwrap(), server.v4());
    assert_eq!(ask(&elsewhere, &good, SILENCE), None);
    let unknown = UdpProbe::request(SessionId([9; 16]), 1, 1).encode();
    assert_eq!(ask(&here, &unknown, SILENCE), None);
    let echo = UdpProbe { kind: UdpKind::Reply, ..UdpProbe::decode(&good).unwrap() }.encode();
    let (longer, magic) = ([good.as_slice(), b"x"].concat(), [b"FTH2", &good[4..]].concat());
    for bad in [&echo[..], &good[..63], &longer, &magic, b"", &[0; 1400]] {
        assert_eq!(ask(&here, bad, SILENCE / 4), None, "{} bytes", bad.len());
    }
    assert!(ask(&here, &good, PATIENCE).is_some(), "and after all that it still answers");
    assert_eq!(server.refused(Refusal::DatagramAddress), 1);
    assert_eq!(server.refused(Refusal::DatagramSession), 1);
    assert_eq!(server.refused(Refusal::DatagramForm), 6);
    assert_eq!(control.bye(), (0, 0, 1, 1));
    assert_eq!(ask(&here, &good, SILENCE), None, "the session is over");
    assert_eq!(server.refused(Refusal::DatagramSession), 2);
}

#[test]
fn a_server_on_all_addresses_replies_from_the_one_that_was_asked() {
    let server = serve(|c| c.listen.clear());
    for ip in ["127.0.0.1", "127.0.0.77", "::1"] {
        let control = Control::open(server.at(ip));
        // Connected, so a reply from any other address would not arrive.
        let reply = ask(&control.udp(), &UdpProbe::request(control.session, 1, 1).encode(), PATIENCE);
        assert!(reply.is_some(), "{ip}");
    }
}

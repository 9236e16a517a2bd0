//! Probes of STAMP clients, written by hand from RFC 8762 and RFC 8972.
use crate::client::{PATIENCE, SILENCE, serve};
use fathom_server::Refusal;
use fathom_test_support::unused_port;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Sequence number 7, a timestamp, an error estimate, a session identifier, and zeros.
fn probe() -> Vec<u8> {
    [&[0, 0, 0, 7, 0xee, 0xb1, 0xf5, 0, 1, 2, 3, 4, 0x94, 0x10, 0xab, 0xcd][..], &[0; 28]].concat()
}

fn seconds_since_1900() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 2_208_988_800
}

#[test]
fn a_probe_is_reflected_over_both_families_from_the_address_that_was_asked() {
    let port = unused_port();
    let server = serve(|config| {
        config.stamp_port = Some(port);
        config.listen.clear();
    });
    for ip in ["127.0.0.1", "127.0.0.9", "::1"] {
        let to = SocketAddr::new(ip.parse().unwrap(), port);
        let socket = UdpSocket::bind(if to.is_ipv6() { "[::1]:0" } else { "127.0.0.1:0" }).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let sent = [&probe()[..], &[0x80, 1, 0, 2, 0, 0, 0x80, 200, 0, 0]].concat();
        let before = seconds_since_1900();
        socket.send_to(&sent, to).unwrap();
        let mut buffer = [0; 2048];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        let reply = &buffer[..length];
        assert_eq!((from, length), (to, sent.len()));
        let stamp = |at: usize| u64::from_be_bytes(reply[at..at + 8].try_into().unwrap());
        let (departure, arrival) = (stamp(4), stamp(16));
        assert!(before <= arrival >> 32 && arrival <= departure, "{arrival:x} {departure:x}");
        assert!(departure >> 32 <= seconds_since_1900(), "{departure:x}");
        assert_eq!((&reply[..4], &reply[14..16], &reply[24..38]), (&sent[..4], &sent[14..16], &sent[..14]));
        // The hop limit of a datagram on loopback.
        assert_eq!(reply[38..44], [0, 0, 64, 0, 0, 0]);
        assert_eq!(reply[44..], [0, 1, 0, 2, 0, 0, 0x80, 200, 0, 0]);
    }
    assert_eq!(server.stats().udp_answered, 3);
}

/// Probes made of scapy's messages.
const SENDER: &str = r#"
import socket, sys, time
from scapy.contrib.stamp import *
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
for seq in range(20):
    before = time.time() + 2208988800
    probe = STAMPSessionSenderTestUnauthenticated(seq=seq, ssid=0xabcd, ts=before)
    s.sendto(bytes(probe), ("127.0.0.1", int(sys.argv[1])))
    data = s.recv(2048)
    reply = STAMPSessionReflectorTestUnauthenticated(data)
    assert len(data) == len(bytes(probe)), data.hex()
    assert (reply.seq, reply.seq_sender, reply.ssid, reply.mbz1, reply.mbz2) == (seq, seq, 0xabcd, 0, 0)
    assert reply.err_estimate.multiplier > 0 and reply.err_estimate.Z == 0
    assert abs(float(reply.ts_sender) - before) < 1e-3, reply
    assert before - 0.01 < float(reply.ts_rx) <= float(reply.ts) < before + 10, reply
print("done")
"#;

#[test]
fn a_sender_of_scapy_understands_the_replies() {
    let port = unused_port();
    let _server = serve(|config| config.stamp_port = Some(port));
    let ran = Command::new("/usr/bin/python3").args(["-c", SENDER, &port.to_string()]).output();
    let output = ran.expect("python3 is not installed: run ./setup test");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("No module"), "python3-scapy is not installed: run ./setup test");
    assert_eq!((output.stdout.as_slice(), &*errors), (&b"done\n"[..], ""));
}

#[test]
fn a_host_has_a_limit_and_short_or_long_datagrams_have_no_reply() {
    let port = unused_port();
    let server = serve(|config| config.stamp_port = Some(port));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let mut buffer = [0; 2048];
    for bad in [&b""[..], &probe()[..43], &[1; 1_501]] {
        socket.send_to(bad, ("127.0.0.1", port)).unwrap();
        assert!(socket.recv(&mut buffer).is_err(), "{} bytes", bad.len());
    }
    assert_eq!(server.refused(Refusal::DatagramForm), 3);
    // A host that means no good shares the limit with nobody else.
    let flood = UdpSocket::bind("127.0.0.4:0").unwrap();
    let answered = || server.stats().udp_answered + server.refused(Refusal::DatagramRate);
    while server.refused(Refusal::DatagramRate) == 0 {
        let before = answered();
        (0..50).for_each(|_| assert_eq!(flood.send_to(&probe(), ("127.0.0.1", port)).unwrap(), 44));
        server.until("a part arrived", |_| answered() >= before + 50);
    }
    assert!(server.stats().udp_answered >= 1_000);
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(&probe(), ("127.0.0.1", port)).unwrap();
    assert_eq!(socket.recv(&mut buffer).unwrap(), 44);
}

//! Echo, DNS and QUIC as probes.
use crate::capture::{bloated_upload, bloated_upload_folder, trace};
use fathom_capture::{Address, Packet, Transport, UdpHeader};
use fathom_flow::{Flows, Probe, ProbeKind, RttValidity, Sink, Times, Tracer};

#[derive(Default)]
struct ProbeLog(Vec<String>);

impl Sink for ProbeLog {
    fn probe(&mut self, probe: &Probe) {
        let kind = match probe.kind {
            ProbeKind::Echo => "echo",
            ProbeKind::Dns => "dns",
            ProbeKind::QuicHandshake => "handshake",
            ProbeKind::QuicSpin => "spin",
        };
        let answered = probe.answered.map_or("lost".into(), |a| ((a.at - probe.asked.at) / MS).to_string());
        let validity = if probe.validity == RttValidity::Clean { "" } else { " ambiguous" };
        self.0.push(format!("{kind} to {} {answered}{validity}", probe.ends[1].1));
    }
}

const MS: i64 = 1_000_000;

/// Datagrams: time in ms, source and destination port, length, bytes.
fn datagrams(all: &[(i64, u16, u16, u32, &[u8])]) -> (Flows, Vec<String>) {
    let mut tracer = Tracer::new(ProbeLog::default());
    for (frame, (at, source_port, destination_port, payload_bytes, payload)) in all.iter().enumerate() {
        let is_client = *source_port > 1024;
        let (client, server) = (Address::v4([10, 0, 0, 1]), Address::v4([192, 0, 2, 1]));
        let (source, destination) = if is_client { (client, server) } else { (server, client) };
        let packet = Packet {
            source,
            destination,
            hop_limit: 64,
            dscp: 0,
            ecn: 0,
            identification: None,
            ip_bytes: payload_bytes + 28,
            wire_bytes: payload_bytes + 42,
            transport: Transport::Udp(UdpHeader {
                source_port: *source_port,
                destination_port: *destination_port,
                payload_bytes: *payload_bytes,
                payload,
            }),
        };
        tracer.packet(Times { at: at * MS, frame: frame as u64 }, &packet);
    }
    let (flows, log) = tracer.finish();
    (flows, log.0)
}

#[test]
fn dns_queries_with_and_without_responses() {
    let (flows, log) = datagrams(&[
        (0, 5000, 53, 30, &[0, 1, 1, 0]),
        (1, 5001, 53, 30, &[0, 1, 1, 0]),
        (2, 5002, 53, 30, &[0, 9, 1, 0]),
        (20, 53, 5001, 90, &[0, 1, 0x81, 0]),
        // A different identifier and a second response match no request; the last one is truncated.
        (21, 53, 5000, 90, &[0, 2, 0x81, 0]),
        (22, 53, 5001, 90, &[0, 1, 0x81, 0]),
        (23, 5000, 53, 30, &[0]),
        (5000, 5000, 53, 30, &[0, 1, 1, 0]),
        (5030, 53, 5000, 90, &[0, 1, 0x81, 0]),
    ]);
    assert_eq!(log, ["dns to 53 19", "dns to 53 5030 ambiguous", "dns to 53 lost"]);
    let dns = flows.probes.dns;
    assert_eq!((dns.asked, dns.asked_again, dns.answered, dns.unanswered), (3, 1, 2, 1));
    assert_eq!((dns.rtt.moments().count, dns.rtt.moments().max), (1, 19 * MS as u64));
}

/// On all interfaces of a router each packet is captured twice. It counts once.
#[test]
fn requests_captured_twice_count_once() {
    let (client, server) = (Address::v4([10, 0, 0, 1]), Address::v4([192, 0, 2, 1]));
    // Differences of the second copy: identification, hop limit, delay; and the result.
    let rows = [
        (Some(7), 63, 900, true),
        (None, 63, 900, true),
        (Some(7), 64, 900, true),
        (None, 64, 5, true),
        (Some(8), 64, 900, false),
        (None, 64, 900, false),
    ];
    for (identification, hop_limit, later, is_copy) in rows {
        let mut tracer = Tracer::new(ProbeLog::default());
        let mut packet = |at: i64, is_query: bool, second: bool| {
            let (source, destination) = if is_query { (client, server) } else { (server, client) };
            let (source_port, destination_port) = if is_query { (5000, 53) } else { (53, 5000) };
            let payload: &[u8] = if is_query { &[0, 1, 1, 0] } else { &[0, 1, 0x81, 0] };
            let udp = UdpHeader { source_port, destination_port, payload_bytes: 30, payload };
            let packet = Packet {
                source,
                destination,
                hop_limit: if second { hop_limit } else { 64 },
                dscp: 0,
                ecn: 0,
                identification: if second { identification } else { identification.map(|_| 7) },
                ip_bytes: 58,
                wire_bytes: 72,
                transport: Transport::Udp(udp),
            };
            tracer.packet(Times { at: at * MS, frame: at as u64 }, &packet);
        };
        packet(0, true, false);
        packet(later, true, true);
        packet(1000, false, false);
        packet(1000, false, true);
        let (flows, log) = tracer.finish();
        let dns = flows.probes.dns;
        let expected = if is_copy { "dns to 53 1000" } else { "dns to 53 1000 ambiguous" };
        assert_eq!(log.0, [expected], "{identification:?} {hop_limit} {later}");
        assert_eq!((dns.asked, dns.asked_again, dns.answered), (1, u64::from(!is_copy), 1));
    }
}

#[test]
fn the_handshake_and_the_spin_bit_of_quic() {
    let initial: &[u8] = &[0xc3, 0, 0, 0, 1, 8];
    let of_version_2: &[u8] = &[0xd3, 0x6b, 0x33, 0x43, 0xcf, 8];
    let (low, high): (&[u8], &[u8]) = (&[0x40], &[0x60]);
    let (flows, log) = datagrams(&[
        (0, 5000, 443, 1200, initial),
        (40, 443, 5000, 1200, &[0xe3, 0, 0, 0, 1, 8]),
        (41, 5000, 443, 1200, &[0xe3, 0, 0, 0, 1, 8]),
        (80, 443, 5000, 100, low),
        (90, 443, 5000, 100, high),
        // Reordered: a transition 1 ms after another is ignored.
        (91, 443, 5000, 100, low),
        (92, 443, 5000, 100, high),
        (140, 443, 5000, 100, low),
        (200, 443, 5000, 100, high),
        // Retransmitted before the response; version 2; too short for a client's Initial; not QUIC.
        (300, 5001, 443, 1250, of_version_2),
        (400, 5001, 443, 1250, of_version_2),
        (430, 443, 5001, 1250, of_version_2),
        (500, 5002, 443, 100, initial),
        (501, 5003, 443, 1200, &[0x16, 3, 1, 2, 0, 1]),
        (502, 5004, 443, 1200, initial),
    ]);
    let expected = [
        "handshake to 443 40",
        "handshake to 5000 1",
        "spin to 443 50 ambiguous",
        "spin to 443 60 ambiguous",
    ];
    assert_eq!(log[..4], expected);
    assert_eq!(log[4..], ["handshake to 443 130 ambiguous"]);
    let handshake = flows.probes.quic_handshake;
    assert_eq!((handshake.asked_again, handshake.answered, handshake.unanswered), (1, 3, 1));
    assert_eq!(flows.probes.quic_spin.rtt.moments().count, 2);
}

/// Compares with ping's output, which is slightly larger because ping runs in user space.
#[test]
fn echoes_equal_the_output_of_ping() {
    let path = bloated_upload_folder().join("ping.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let times: Vec<f64> = text
        .lines()
        .filter_map(|line| line.split_once("time="))
        .map(|(_, rest)| rest.split(' ').next().unwrap().parse().unwrap())
        .collect();
    let (flows, _) = trace(&bloated_upload("snd"), ProbeLog::default());
    let echo = &flows.probes.echo;
    assert_eq!((echo.asked, echo.answered, echo.unanswered), (1292, times.len() as u64, 1));
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let captured = echo.rtt.moments().mean().unwrap() / 1e6;
    assert!(captured <= mean && mean - captured < 5.0, "{mean} and {captured} ms");
}

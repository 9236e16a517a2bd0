//! Captures contain exactly the packets that passed each point.
use crate::ends::{connect, pings};
use crate::{Alone, options, start};
use fathom_capture::{Packet, Reader, Step, Transport, dissect};
use fathom_lab::{CaptureOptions, CaptureReport, Lab, LabOptions, LossReason, Side};
use fathom_units::Direction;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A separate directory per test.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("captures-{}-{name}", std::process::id()))
}

fn capturing(hops: &str, capture: CaptureOptions) -> Alone {
    start(hops, &LabOptions { capture: Some(capture), ..options() })
}

fn hop(name: &str, inside: &str) -> String {
    format!("[[hop]]\nname = \"{name}\"\nup = {{ {inside} }}\ndown = {{ {inside} }}\n")
}

/// The results of `one` for time and packet of each packet in the file.
fn packets<T>(path: &Path, mut one: impl FnMut(i64, &Packet<'_>) -> T) -> Vec<T> {
    let bytes = std::fs::read(path).unwrap();
    let (mut reader, mut at, mut made) = (Reader::new(), 0, Vec::new());
    while at < bytes.len() {
        let (used, step) = reader.step(&bytes[at..]).unwrap();
        if let Step::Frame(frame) = step {
            let packet = dissect(frame.link, frame.original_len, frame.bytes).unwrap();
            made.push(one(frame.at, &packet));
        }
        at += used;
    }
    made
}

/// The report; checks that it agrees with the files on the number of packets.
fn finish(lab: Alone, directory: &Path) -> CaptureReport {
    let report = lab.lab.finish().unwrap().capture.unwrap();
    for file in &report.files {
        let seen = packets(&directory.join(&file.name), |at, _| at);
        assert_eq!((seen.len() as u64, 0), (file.packets, file.missing), "{}", file.name);
        assert!(seen.is_sorted(), "{}: its times go back", file.name);
    }
    report
}

/// Sends numbered datagrams, all at once.
fn burst(lab: &Lab, count: u16) {
    let to = lab.in_server(|| UdpSocket::bind((lab.server_address().v4, 0)).unwrap()).unwrap();
    let socket = lab.in_client(|| UdpSocket::bind((lab.client_address().v4, 0)).unwrap()).unwrap();
    for number in 0..count {
        let mut datagram = [0; 972];
        datagram[..2].copy_from_slice(&number.to_be_bytes());
        socket.send_to(&datagram, to.local_addr().unwrap()).unwrap();
    }
    // Until the queue is empty: it sends one per 8 ms.
    to.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    while to.recv(&mut [0; 1000]).is_ok() {}
}

fn number(packet: &Packet<'_>) -> Option<u16> {
    let Transport::Udp(udp) = &packet.transport else { return None };
    Some(u16::from_be_bytes([udp.payload[0], udp.payload[1]]))
}

#[test]
fn what_a_queue_drops_is_in_the_files_before_it_and_named_by_its_number() {
    let directory = folder("drops");
    let line =
        hop("link", "rate = \"1mbit\", delay = \"3ms\", queue = \"fifo limit 20p\", overhead = \"0b\"");
    let lab = capturing(&line, CaptureOptions::new(directory.clone()));
    burst(&lab, 100);
    let report = finish(lab, &directory);
    let numbers = |file: &str| packets(&directory.join(file), |_, packet| number(packet));
    let sent = numbers("client.pcap");
    let all: BTreeSet<_> = (0..100).map(Some).collect();
    assert!(sent.iter().copied().collect::<BTreeSet<_>>().is_superset(&all));
    let lost: BTreeSet<_> = report.losses.iter().map(|loss| sent[loss.frame.unwrap() as usize - 1]).collect();
    assert!(report.losses.iter().all(|loss| loss.reason == LossReason::Overlimit));
    // 20 wait and one is being sent; more get through if the sender was interrupted.
    assert!(lost.len() == report.losses.len() && (40..=79).contains(&lost.len()), "{lost:?}");
    assert_eq!(report.around(0, Direction::Up), ["client.pcap", "hop1-near.pcap"]);
    assert_eq!(report.around(0, Direction::Down), ["server.pcap", "hop1-far.pcap"]);
    for behind in ["hop1-near.pcap", "hop1-far.pcap", "server.pcap"] {
        let arrived: BTreeSet<_> = numbers(behind).into_iter().filter(Option::is_some).collect();
        assert_eq!(arrived, all.difference(&lost).copied().collect(), "{behind}");
    }
}

#[test]
fn behind_a_queue_packets_are_as_far_apart_as_the_link_takes_for_them() {
    let directory = folder("spacing");
    let line =
        hop("link", "rate = \"1mbit\", delay = \"3ms\", queue = \"fifo limit 20p\", overhead = \"0b\"");
    let lab = capturing(&line, CaptureOptions::new(directory.clone()));
    burst(&lab, 15);
    finish(lab, &directory);
    let times = |file: &str| -> Vec<i64> {
        let seen = packets(&directory.join(file), |at, packet| number(packet).map(|_| at));
        seen.into_iter().flatten().collect()
    };
    let (near, far) = (times("hop1-near.pcap"), times("hop1-far.pcap"));
    // 1000 bytes at 1 Mbit/s: times inside the line are its own, not those of a thread.
    assert_eq!(near.len(), 15);
    let mut gaps: Vec<_> = near.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    // If the sender is interrupted, some gaps are larger.
    assert_eq!([gaps[0], gaps[gaps.len() / 2]], [8_000_000; 2], "{near:?}");
    assert!(near.iter().zip(&far).all(|(near, far)| far - near == 11_000_000), "{near:?} {far:?}");
}

#[test]
fn pings_are_seen_once_at_each_point_with_a_hop_less_behind_each_router() {
    let directory = folder("hops");
    let line = hop("one", "delay = \"1ms\"") + &hop("two", "delay = \"1ms\"");
    let lab = capturing(&line, CaptureOptions::new(directory.clone()));
    pings(&lab, 3, Duration::from_millis(10));
    let report = finish(lab, &directory);
    let hop_limits = |file: &str| {
        let seen = packets(&directory.join(file), |_, packet| match &packet.transport {
            Transport::Icmp(icmp) if !icmp.is_v6 => Some((icmp.kind, packet.hop_limit)),
            _ => None,
        });
        let mut seen: Vec<_> = seen.into_iter().flatten().collect();
        seen.sort_unstable();
        seen
    };
    let expected = [(64, 62), (64, 62), (64, 62), (63, 62), (63, 63), (63, 63), (62, 64)];
    assert_eq!(report.files.len(), expected.len());
    for (file, (request, reply)) in report.files.iter().zip(expected) {
        let both_ways = [[(0, reply); 3], [(8, request); 3]].concat();
        assert_eq!(hop_limits(&file.name), both_ways, "{} ({})", file.name, file.place);
    }
}

#[test]
fn super_packets_are_cut_unless_they_are_asked_for() {
    for super_packets in [false, true] {
        let directory = folder(if super_packets { "super" } else { "cut" });
        let line = hop("fast", "rate = \"1gbit\", delay = \"1ms\"");
        let options = CaptureOptions { super_packets, ..CaptureOptions::new(directory.clone()) };
        let lab = capturing(&line, options);
        send_megabyte(&lab);
        let report = finish(lab, &directory);
        for file in &report.files {
            let is_end = ["client.pcap", "server.pcap"].contains(&file.name.as_str());
            let sizes = packets(&directory.join(&file.name), |_, packet| u64::from(tcp_payload(packet)));
            let longest = sizes.iter().max().copied();
            assert_eq!(longest > Some(1448), super_packets && is_end, "{}: {longest:?}", file.name);
            assert!(sizes.iter().sum::<u64>() >= 1_000_000, "{}: a part is missing", file.name);
        }
    }
}

fn send_megabyte(lab: &Lab) {
    let (mut client, mut server) = connect(lab, false);
    let reader = lab.within(Side::Server, || std::thread::spawn(move || server.read_to_end(&mut Vec::new())));
    client.write_all(&vec![0; 1_000_000]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(reader.unwrap().join().unwrap().unwrap(), 1_000_000);
}

fn tcp_payload(packet: &Packet<'_>) -> u32 {
    match &packet.transport {
        Transport::Tcp(tcp) => tcp.payload_bytes,
        _ => 0,
    }
}

//! TCP delivers the sent bytes despite losses, reordering and marks: the kernel accepts our headers
//! and checksums.
use crate::ends::connect;
use crate::one_link;
use fathom_units::Rng;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

const LENGTH: usize = 8_000_000;

fn content(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..LENGTH / 8).flat_map(|_| rng.next_u64().to_be_bytes()).collect()
}

fn transfer(mut from: TcpStream, mut to: TcpStream, seed: u64) {
    let sent = content(seed);
    let copy = sent.clone();
    let sender = thread::spawn(move || {
        from.write_all(&copy).unwrap();
        from.shutdown(Shutdown::Write).unwrap();
        from
    });
    let mut received = Vec::new();
    to.read_to_end(&mut received).unwrap();
    assert!(received == sent, "{} bytes arrived, or others than were sent", received.len());
    drop(sender.join().unwrap());
}

#[test]
fn both_ways_over_both_versions_through_losses_and_reordering() {
    let lab = one_link(
        "rate = \"100mbit\", delay = \"1ms\", queue = \"fifo limit 30p\", loss = \"0.2%\", \
         reorder = \"0.5%\", reorder_delay = \"1ms\", duplicate = \"0.2%\"",
    );
    for v6 in [false, true] {
        let up = connect(&lab, v6);
        transfer(up.0, up.1, 1);
        let down = connect(&lab, v6);
        transfer(down.1, down.0, 2);
    }
    let report = lab.lab.finish().unwrap();
    let dropped: u64 = report.queues.iter().map(|q| q.dropped_packets).sum();
    assert!(dropped > 0, "the queue was never full: {:?}", report.queues);
    assert_eq!(report.strays.refused_packets, 0);
}

#[test]
fn at_a_rate_at_which_super_packets_pass_whole() {
    let lab = one_link("rate = \"10gbit\", delay = \"0ms\", queue = \"fifo limit 1000p\"");
    for v6 in [false, true] {
        let (client, server) = connect(&lab, v6);
        transfer(client, server, 3);
    }
}

/// The shaper delays packets on an idle wire, and ACKs are filtered.
#[test]
fn through_cake_and_its_ack_filter() {
    let lab = one_link(
        "rate = \"1gbit\", delay = \"2ms\", queue = \"cake bandwidth 80mbit diffserv4 wash ack-filter-aggressive\"",
    );
    let begin = std::time::Instant::now();
    for v6 in [false, true] {
        let (client, server) = connect(&lab, v6);
        transfer(client, server, 4);
    }
    // 16 MB at 80 Mbit/s.
    assert!(begin.elapsed().as_secs_f64() > 1.6, "{:?}", begin.elapsed());
    let report = lab.lab.finish().unwrap();
    assert!(report.queues.iter().all(|queue| queue.dropped_packets < 2000), "{:?}", report.queues);
    assert_eq!(report.strays.refused_packets, 0);
}

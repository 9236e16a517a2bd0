//! Observations under load: the maximum of each queue, at the rate of its link.
use crate::fixture::known;
use fathom_audit::{Facts, Observed, Tree, audit};
use fathom_run::QueuePoint;
use fathom_units::Time;

fn sample(inflight: &str, backlog: &str, sent: &str) -> Tree {
    let mut tree = Tree::default();
    let files = [
        ("sys/class/net/eth0/flags", "0x1003"),
        ("sys/class/net/eth0/type", "1"),
        ("sys/class/net/eth0/mtu", "1500"),
        ("sys/class/net/eth0/tx_queue_len", "1000"),
        ("sys/class/net/eth0/device/uevent", "DRIVER=some"),
        ("sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit", "30000"),
        ("sys/class/net/eth0/queues/tx-0/byte_queue_limits/inflight", inflight),
        ("sys/class/net/eth0/statistics/tx_bytes", sent),
        ("proc/sys/net/ipv4/tcp_notsent_lowat", "4294967295"),
        ("replies/tcp", "notsent_bytes 62500"),
        ("proc/sys/net/ipv4/tcp_wmem", "4096 16384 4194304"),
        ("proc/net/route", "head\neth0\t00000000\t0\t3\t0\t0\t0\t00000000"),
        ("proc/net/tcp", SOCKETS),
    ];
    for (path, text) in files {
        tree.insert(path, text.as_bytes().to_vec());
    }
    tree.insert("replies/qdisc", format!("eth0 pfifo_fast handle=0 backlog_bytes={backlog}").into_bytes());
    tree
}

/// One socket that sends, one that listens.
const SOCKETS: &str =
    "head\n 0: 0100007F:1 0100007F:2 01 0001E848:00000000 00\n 1: 0:1 0:0 0A FFFFFFFF:00000000 00";

#[test]
fn the_maximum_of_all_samples() {
    let samples = [("1000", "0", "0"), ("20000", "250000", "1250000"), ("500", "90000", "2500000")];
    let mut observed = Observed::default();
    for (second, (inflight, backlog, sent)) in samples.iter().enumerate() {
        observed.add(&sample(inflight, backlog, sent), Time::from_nanos(second as u64 * 1_000_000_000));
    }
    assert_eq!((observed.samples, observed.span.as_secs_f64()), (3, 2.0));
    // It sent 1,250,000 bytes per second while packets were queued: 10 Mbit/s.
    let queues = audit(&Facts::of(&sample("0", "0", "0")), &known(""), Some(&observed)).queues;
    let is = |number: u8| move |point: &&QueuePoint| point.queue.kind().number() == number;
    let of = |number: u8| queues.iter().map(|queue| &queue.point).find(is(number)).expect("a queue point");
    let millis = |number: u8| of(number).observed_delay_s.map(|delay_s| delay_s * 1e3);
    // 250000 * 8 / 10e6, 20000 * 8 / 10e6.
    assert_eq!((millis(6), millis(9)), (Some(200.0), Some(16.0)));
    // 62500 * 8 / 10e6, and 125000 * 8 / 10e6 of the socket that is not listening.
    assert_eq!((millis(1), millis(2)), (Some(50.0), Some(100.0)));
}

#[test]
fn without_observation_no_queue_point_has_observed_values() {
    let queues = audit(&Facts::of(&sample("9", "9", "9")), &known("eth0=10mbit"), None).queues;
    let is_observed = |point: &QueuePoint| point.observed_bytes.is_some() || point.observed_delay_s.is_some();
    assert!(!queues.iter().any(|queue| is_observed(&queue.point)));
}

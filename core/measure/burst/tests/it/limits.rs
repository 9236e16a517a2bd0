//! Rate, size and kind of limit of buffers that drop at their end.
use crate::common::Path;
use fathom_burst::{Buffer, BurstPlanner, estimate, responses};
use fathom_run::{BufferLimit, ManagementRule};
use fathom_units::{Bytes, Rng};

const BUDGET: u64 = 40_000_000;

fn close(name: &str, measured: f64, truth: f64, tolerance: f64) {
    assert!((measured / truth - 1.0).abs() <= tolerance, "{name}: {measured} instead of {truth}");
}

/// A rate of 0.2 to 300 Mbit/s and a buffer of 20 to 2,000 packets, of at most 20 s.
fn draw(rng: &mut Rng) -> (f64, f64) {
    let mut log = |low: f64, high: f64| low * (high / low).powf(rng.next_f64());
    let rate = log(2e5, 3e8);
    (rate, log(20.0, (20.0 * rate / 8.0 / 1442.0).clamp(21.0, 2_000.0)))
}

/// The rate is found within 1 %, the buffer within 3 % and one packet, and what it counts.
#[test]
fn random_buffers_of_bytes_and_packets() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let (rate, packets) = draw(&mut rng);
        let counts_packets = seed % 2 == 0;
        let (text, truth, limit) = if counts_packets {
            (format!("fifo limit {packets:.0}p"), packets.round(), BufferLimit::Packets)
        } else {
            let bytes = (packets * 1442.0).round();
            (format!("fifo limit {bytes:.0}b"), bytes, BufferLimit::Bytes)
        };
        let name = format!("seed {seed}: {text} at {:.2} Mbit/s", rate / 1e6);
        let buffer = Path::new(&text, &format!("{rate:.0}bit")).measure(BUDGET).expect(&name);
        close(&name, buffer.rate_bits_per_second.value, rate, 0.01);
        close(&name, buffer.overhead_bytes, 14.0, 0.3);
        assert_eq!((buffer.limit, buffer.is_lower_bound), (Some(limit), false), "{name}: {buffer:?}");
        assert_eq!(buffer.rule, Some(ManagementRule::TailDrop), "{name}");
        if counts_packets {
            let measured = buffer.packets.expect(&name);
            close(&name, measured.value, truth, 0.03 + 1.0 / truth);
            assert!((measured.value - truth).abs() <= measured.error.max(0.03 * truth) + 1.0, "{name}");
        } else {
            close(&name, buffer.bytes.value, truth, 0.03 + 242.0 / truth);
        }
    }
}

/// Datagrams are sent for less than a second where a full buffer of up to 0.2 s drops them, without
/// those far apart.
#[test]
fn sending_takes_less_than_a_second() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut log = |low: f64, high: f64| low * (high / low).powf(rng.next_f64());
        let (rate, full_s) = (log(1e6, 1e8), log(0.02, 0.2));
        let text = format!("fifo limit {:.0}b", (rate * full_s / 8.0).max(20.0 * 1442.0));
        let bursts = Path::new(&text, &format!("{rate:.0}bit")).bursts(BUDGET);
        let sending_s = |burst: &fathom_run::Burst| {
            let of_burst = burst.before as usize..(burst.before + burst.count) as usize;
            let sent = &burst.sent_ns[of_burst];
            (sent[sent.len() - 1] - sent[0]) as f64 / 1e9
        };
        let all_s: f64 = bursts.iter().map(sending_s).sum();
        assert!(all_s < 1.0, "seed {seed}: {text} at {:.2} Mbit/s: {all_s:.2} s", rate / 1e6);
    }
}

/// Longer packets are lost, and no ICMP error says so: the other sizes are enough.
#[test]
fn a_path_that_loses_long_packets_is_measured_with_shorter_ones() {
    for (queue, limit) in
        [("fifo limit 200kb", BufferLimit::Bytes), ("fifo limit 150p", BufferLimit::Packets)]
    {
        let mut path = Path::new(queue, "5mbit");
        path.mtu = 1300;
        let (mut planner, mut bursts) = (BurstPlanner::new(Bytes(BUDGET)), Vec::new());
        while let Some(plan) = planner.next_burst() {
            let mut burst = path.send(&plan);
            // The record of a download is that of its receiver.
            if limit == BufferLimit::Packets && burst.received_ns.iter().all(Option::is_none) {
                (burst.sent_ns, burst.received_ns) = (Vec::new(), Vec::new());
                assert_eq!(burst.lost(), 32);
            }
            planner.add(&burst);
            bursts.push(burst);
        }
        assert_eq!(bursts.iter().filter(|burst| burst.payload_bytes == 1400).count(), 1, "{queue}");
        let buffer = estimate(&responses(&bursts)).unwrap();
        close("rate", buffer.rate_bits_per_second.value, 5e6, 0.01);
        assert_eq!((buffer.limit, buffer.is_lower_bound), (Some(limit), false), "{queue}: {buffer:?}");
        assert_eq!(buffer.rule, Some(ManagementRule::TailDrop), "{queue}");
        match buffer.packets {
            Some(packets) => close("buffer", packets.value, 150.0, 0.03),
            None => close("buffer", buffer.bytes.value, 204_800.0, 0.03),
        }
    }
}

#[test]
fn a_token_bucket_lets_its_burst_pass() {
    let buffer = Path::new("tbf rate 4mbit burst 16kb limit 100kb", "100mbit").measure(BUDGET).unwrap();
    close("rate", buffer.rate_bits_per_second.value, 4e6, 0.01);
    close("bucket", buffer.bucket_bytes.unwrap(), 16_384.0, 0.03);
    close("buffer", buffer.bytes.value, 102_400.0, 0.03);
    assert_eq!(buffer.limit, Some(BufferLimit::Bytes));
    // The one packet that passes any link is no bucket.
    assert_eq!(Path::new("fifo limit 100p", "10mbit").measure(BUDGET).unwrap().bucket_bytes, None);
}

/// A buffer larger than the budget gives a bound, and no more is sent.
#[test]
fn a_budget_is_enforced_and_gives_a_bound() {
    let mut path = Path::new("fifo limit 10mb", "8mbit");
    let Buffer { bytes, is_lower_bound, limit, rule, .. } = path.measure(2_000_000).unwrap();
    assert!(path.sent_bytes <= 2_000_000, "{}", path.sent_bytes);
    assert_eq!((is_lower_bound, limit, rule), (true, None, None));
    assert!((300_000.0..2_000_000.0).contains(&bytes.value), "{}", bytes.value);
    // Too little for a burst.
    let mut poor = Path::new("fifo limit 100p", "8mbit");
    assert_eq!((poor.measure(40_000), poor.sent_bytes), (None, 0));
}

/// A link as fast as the host shows no queue.
#[test]
fn a_link_that_the_host_cannot_fill_gives_nothing() {
    assert_eq!(Path::new("fifo limit 100p", "20gbit").measure(BUDGET), None);
}

/// Bursts that only check the size find it with less data. They end where another measurement would
/// have to go on: in a buffer of more than 2 s, and where an AQM drops.
#[test]
fn a_check_finds_a_size_and_ends_early() {
    let mut path = Path::new("fifo limit 256kb", "5mbit");
    let buffer = path.check(10_000_000).unwrap();
    close("buffer", buffer.bytes.value, 262_144.0, 0.03);
    assert_eq!((buffer.limit, buffer.is_lower_bound), (Some(BufferLimit::Bytes), false));
    assert!(path.sent_bytes < 2_500_000, "{}", path.sent_bytes);
    let mut deep = Path::new("fifo limit 4mb", "5mbit");
    let reached = deep.check(10_000_000).unwrap();
    assert!(reached.is_lower_bound && (1.5..2.1).contains(&reached.delay_s), "{reached:?}");
    assert!(deep.sent_bytes < 4_000_000, "{}", deep.sent_bytes);
    let mut managed =
        Path::new("red limit 400kb min 30kb max 90kb avpkt 1000b burst 55 probability 2%", "5mbit");
    let held = managed.check(10_000_000).unwrap();
    assert!(held.is_lower_bound && managed.sent_bytes < 2_000_000, "{held:?}, {}", managed.sent_bytes);
}

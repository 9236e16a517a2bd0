//! Two queues in a row: the size is that of the slowest link's buffer, and no other is claimed.
use crate::common::Path;
use fathom_run::{BufferLimit, ManagementRule};

const BUDGET: u64 = 40_000_000;

/// A burst fills the first buffer too, or only makes it longer: 20 Mbit/s, then 5 Mbit/s.
#[test]
fn the_buffer_of_the_slowest_link_is_measured() {
    for first in [20, 50, 100, 1_000] {
        for (second, bytes, limit) in [
            ("fifo limit 60000b", 60_000.0, BufferLimit::Bytes),
            ("fifo limit 250000b", 250_000.0, BufferLimit::Bytes),
            ("fifo limit 40p", 57_680.0, BufferLimit::Packets),
            ("fifo limit 200p", 288_400.0, BufferLimit::Packets),
        ] {
            let name = format!("{first} packets, then {second}");
            let path = Path::new(&format!("fifo limit {first}p"), "20mbit");
            let buffer = path.then(second, "5mbit").measure(BUDGET).expect(&name);
            let error = buffer.bytes.value / bytes - 1.0;
            assert!((buffer.rate_bits_per_second.value / 5e6 - 1.0).abs() < 0.01, "{name}: {buffer:?}");
            // Too few pass the first queue of 20 packets.
            if buffer.is_lower_bound {
                assert!(first == 20 && error < 0.0 && buffer.rule.is_none(), "{name}: {buffer:?}");
                continue;
            }
            assert!(error.abs() < 0.02, "{name}: {buffer:?}");
            assert_eq!((buffer.limit, buffer.rule), (Some(limit), Some(ManagementRule::TailDrop)), "{name}");
            if let Some(before) = buffer.first {
                assert!((before.packets / f64::from(first) - 1.0).abs() < 0.03, "{name}: {before:?}");
                assert!((before.rate_bits_per_second / 20e6 - 1.0).abs() < 0.05, "{name}: {before:?}");
            }
        }
    }
}

/// The first queue lost packets that the second one had room for.
#[test]
fn both_full_buffers_are_reported() {
    let first_of = |rate: &str| {
        let mut path = Path::new("fifo limit 50p", rate).then("fifo limit 250000b", "5mbit");
        path.measure(BUDGET).unwrap().first
    };
    let first = first_of("20mbit").unwrap();
    assert!((first.packets - 50.0).abs() < 1.0 && (first.packet_bytes - 1_442.0).abs() < 2.0, "{first:?}");
    // A much faster link shows no queue.
    assert_eq!(first_of("100mbit"), None);
}

/// A link that is hardly faster than the slowest one: nothing but a bound.
#[test]
fn a_first_link_that_is_hardly_faster_gives_a_bound() {
    for first in ["20p", "50p", "1000p"] {
        let path = Path::new(&format!("fifo limit {first}"), "7mbit");
        let buffer = path.then("fifo limit 250000b", "5mbit").measure(BUDGET).unwrap();
        assert_eq!(
            (buffer.is_lower_bound, buffer.rule, buffer.limit),
            (true, None, None),
            "{first}: {buffer:?}"
        );
    }
}

/// An AQM of the slowest link is recognized behind another queue.
#[test]
fn an_aqm_behind_another_queue() {
    for first in ["20p", "50p", "100p", "1000p"] {
        for second in ["codel", "fq_codel"] {
            let path = Path::new(&format!("fifo limit {first}"), "20mbit");
            let buffer = path.then(second, "5mbit").measure(BUDGET).unwrap();
            assert_eq!(buffer.rule, Some(ManagementRule::Codel), "{first}, {second}: {buffer:?}");
        }
    }
}

/// What a token bucket lets pass waits for the next link: the rate is that of the bucket.
#[test]
fn a_bucket_that_passes_into_a_second_queue() {
    for (bucket, second) in [
        ("20kb", "30p"),
        ("20kb", "1000p"),
        ("100kb", "30p"),
        ("100kb", "100p"),
        ("100kb", "1000p"),
        ("400kb", "30p"),
    ] {
        let name = format!("{bucket}, then {second}");
        let path = Path::new(&format!("tbf rate 5mbit burst {bucket} limit 150000b"), "1gbit");
        let buffer = path.then(&format!("fifo limit {second}"), "20mbit").measure(BUDGET).expect(&name);
        assert!((buffer.rate_bits_per_second.value / 5e6 - 1.0).abs() < 0.01, "{name}: {buffer:?}");
        let is_right = (buffer.bytes.value / 150_000.0 - 1.0).abs() < 0.03;
        assert!(is_right || buffer.is_lower_bound && buffer.rule.is_none(), "{name}: {buffer:?}");
    }
}

//! How queues drop.
use crate::common::{Path, policed};
use fathom_run::{BufferLimit, ManagementRule};
use fathom_units::Rng;

const BUDGET: u64 = 40_000_000;

/// The queue disciplines at rates at which they show.
#[test]
fn each_discipline_is_recognized() {
    let red = "red limit 400kb min 30kb max 90kb avpkt 1000b burst 55 probability 2%";
    let cases = [
        ("codel", ManagementRule::Codel, &["500kbit", "5mbit", "50mbit"][..]),
        ("codel limit 10000p", ManagementRule::Codel, &["5mbit", "50mbit"]),
        ("codel variant linux", ManagementRule::Codel, &["1mbit", "5mbit", "50mbit"]),
        ("cake", ManagementRule::Codel, &["500kbit", "5mbit", "50mbit"]),
        ("pie", ManagementRule::Pie, &["500kbit", "5mbit", "50mbit"]),
        ("pie variant linux", ManagementRule::Pie, &["1mbit", "5mbit", "50mbit"]),
        (red, ManagementRule::Red, &["100kbit", "500kbit", "5mbit", "50mbit", "300mbit"]),
        ("fifo limit 256000b drop head", ManagementRule::HeadDrop, &["500kbit", "5mbit", "50mbit"]),
        ("fifo limit 256000b", ManagementRule::TailDrop, &["100kbit", "5mbit", "300mbit"]),
    ];
    for (queue, rule, rates) in cases {
        for rate in rates {
            let buffer = Path::new(queue, rate).measure(BUDGET).unwrap();
            assert_eq!(buffer.rule, Some(rule), "{queue} at {rate}: {buffer:?}");
        }
    }
}

/// At 100 kbit/s a packet takes longer than the intervals of CoDel: no rule, and no size.
#[test]
fn a_slow_line_hides_the_law_of_an_aqm() {
    for queue in ["codel", "fq_codel", "cake", "pie"] {
        let Some(buffer) = Path::new(queue, "100kbit").measure(BUDGET) else { continue };
        assert_eq!(buffer.rule, None, "{queue}: {buffer:?}");
        assert!(buffer.is_lower_bound || buffer.limit == Some(BufferLimit::Packets), "{queue}: {buffer:?}");
    }
}

#[test]
fn a_queue_that_drops_at_its_head_has_a_size() {
    let buffer = Path::new("fifo limit 256000b drop head", "5mbit").measure(BUDGET).unwrap();
    assert!((buffer.bytes.value / 256_000.0 - 1.0).abs() < 0.03, "{buffer:?}");
    assert_eq!(buffer.limit, Some(BufferLimit::Bytes));
}

/// A busy host sends in clumps, of which a full buffer loses many in a row: no RED.
#[test]
fn a_host_that_stalls_does_not_change_the_rule() {
    for (queue, rate) in
        [("fifo limit 131072b", "16mbit"), ("fifo limit 1875000b", "25mbit"), ("fifo limit 100p", "5mbit")]
    {
        let mut path = Path::new(queue, rate);
        path.stalls_every = 25_000_000;
        let buffer = path.measure(BUDGET).unwrap();
        assert_eq!(buffer.rule, Some(ManagementRule::TailDrop), "{queue}: {buffer:?}");
        assert!(!buffer.is_lower_bound, "{queue}: {buffer:?}");
    }
}

/// The time of the last datagram before a pause can be that of its end.
#[test]
fn a_late_time_of_sending_is_no_rule() {
    for stalls_every in [17_000_000, 25_000_000, 41_000_000] {
        let mut path = Path::new("fifo limit 131072b", "16mbit");
        (path.stalls_every, path.stamps_late) = (stalls_every, true);
        let buffer = path.measure(BUDGET).unwrap();
        assert_eq!(buffer.rule, Some(ManagementRule::TailDrop), "{stalls_every}: {buffer:?}");
    }
}

/// Loss that does not depend on the queue is no AQM, and the buffer is found nevertheless: packets
/// that are lost behind the link occupied it, so its rate and the buffer appear smaller.
#[test]
fn random_loss_is_no_rule() {
    for seed in 0..20 {
        let mut path = Path::lossy("fifo limit 100p", "10mbit", "2%", seed);
        let buffer = path.measure(BUDGET).unwrap();
        let is_plain = matches!(buffer.rule, None | Some(ManagementRule::TailDrop));
        assert!(is_plain, "seed {seed}: {buffer:?}");
        let packets = buffer.packets.map_or(100.0, |packets| packets.value);
        assert!((92.0..103.0).contains(&packets), "seed {seed}: {buffer:?}");
    }
}

#[test]
fn a_policer_has_a_rate_and_a_bucket_and_no_queue() {
    for (rate, bucket) in [(4e6, 30_000.0), (20e6, 250_000.0)] {
        let buffer = policed(rate, bucket, BUDGET).unwrap();
        assert_eq!(buffer.rule, Some(ManagementRule::Policer), "{buffer:?}");
        assert!((buffer.rate_bits_per_second.value / rate - 1.0).abs() < 0.05, "{buffer:?}");
        let measured = buffer.bucket_bytes.unwrap();
        assert!((measured / bucket - 1.0).abs() < 0.1, "{buffer:?}");
    }
}

/// At random rates, no discipline has the name of another, and nearly all have their own.
#[test]
fn no_discipline_is_called_another() {
    let kinds = [
        ("codel", Some(ManagementRule::Codel)),
        ("codel variant linux", Some(ManagementRule::Codel)),
        ("cake", Some(ManagementRule::Codel)),
        ("pie", Some(ManagementRule::Pie)),
        ("pie variant linux", Some(ManagementRule::Pie)),
        ("fq_pie", Some(ManagementRule::Pie)),
        ("dualpi2", None),
    ];
    for (queue, rule) in kinds {
        let mut named = 0;
        for seed in 0..20 {
            let rate = format!("{:.0}bit", 1.5e6 * 20_f64.powf(Rng::new(seed).next_f64()));
            let buffer = Path::new(queue, &rate).measure(BUDGET).unwrap();
            assert!(buffer.rule.is_none() || buffer.rule == rule, "{queue} at {rate}: {buffer:?}");
            assert!(buffer.drops_early, "{queue} at {rate}: {buffer:?}");
            named += usize::from(buffer.rule.is_some());
        }
        assert!(rule.is_none() || named >= 18, "{queue}: {named} of 20");
    }
    assert!(!Path::new("fifo limit 100p", "10mbit").measure(BUDGET).unwrap().drops_early);
}

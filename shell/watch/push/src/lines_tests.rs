//! Which points have the address of a router.
use super::*;
use fathom_units::{Duration, WallTime};
use fathom_watch_plan::RouterNow;
use fathom_watch_samples::{Tally, Unit};

const MINUTE: u64 = 60_000_000_000;
/// The stretch begins at minute 100.
const START: u64 = 100;

/// Columns of a minute each with these counts of sent and answered probes.
fn columns(counts: &[(u64, u64)]) -> Vec<Column> {
    let one = |(at, (sent, answered)): (u64, &(u64, u64))| Column {
        from: WallTime(at * MINUTE),
        to: WallTime((at + 1) * MINUTE),
        tally: Tally { sent: *sent, answered: *answered, lost: sent - answered, ..Tally::default() },
        ..Column::default()
    };
    (START..).zip(counts).map(one).collect()
}

/// The address and the minutes of the points of a router that is known for some minutes, when it is
/// minute `now`.
fn points(probe: &str, counts: &[(u64, u64)], now: u64, known_min: u64) -> Option<(String, Vec<u64>)> {
    let text = "[[target]]\nname = 'far'\nhost = 'far.example.net'\nprobe = 'hops'\n";
    let names = Names::of(&fathom_watch_plan::parse(text, "watch.toml").unwrap(), "this host");
    let router = RouterNow {
        target: "far".into(),
        probe: "hop 2".into(),
        address: "192.0.2.1".parse().unwrap(),
        known_for: Duration::from_nanos(known_min * MINUTE),
    };
    let routers = KnownRouters::at(WallTime(now * MINUTE), vec![router]);
    let (mut cursor, labels) = (Cursor::default(), vec![("site".to_owned(), "berlin".to_owned())]);
    let ran = vec![true; counts.len()];
    let mut maker =
        Maker { names: &names, routers: &routers, labels: &labels, cursor: &mut cursor, ran: &ran };
    let key = SeriesKey { target: "far".into(), probe: probe.into(), unit: Unit::Seconds };
    let (mut found, mut counters) = (None, 0);
    let take = |line: &Line<'_>| {
        if *line.family != Family::HOP {
            counters += 1;
            return Ok(());
        }
        let own: Vec<&str> = line.labels.iter().map(|(name, _)| *name).collect();
        assert_eq!(own, ["site", "target", "probe", "address"], "and no group or host");
        assert!(line.points.iter().all(|point| point.value == Value::Number(1.0)));
        let minutes = line.points.iter().map(|point| point.at_ms * NANOS_PER_MILLI / MINUTE).collect();
        assert!(found.replace((line.labels[3].1.to_owned(), minutes)).is_none(), "one line");
        Ok(())
    };
    maker.each_line(&key, &columns(counts), take).unwrap();
    assert_eq!(counters, 7, "its delays are sent as before");
    found
}

#[test]
fn a_router_has_a_point_for_each_step_in_which_it_answered() {
    let minutes = |all: &[u64]| Some(("192.0.2.1".to_owned(), all.to_vec()));
    let counts = [(60, 60), (60, 0), (0, 0), (60, 1)];
    assert_eq!(points("hop 2", &counts, 104, 50), minutes(&[101, 104]));
    assert_eq!(points("hop 2", &[(60, 0)], 101, 50), None, "it may be gone");
    assert_eq!(points("hop 1", &counts, 104, 50), None, "its address is unknown");
}

#[test]
fn points_from_before_the_address_was_known_have_none() {
    let minutes = |all: &[u64]| Some(("192.0.2.1".to_owned(), all.to_vec()));
    let counts = [(60, 60); 4];
    // The path changed at minute 102: the first two steps had another router.
    assert_eq!(points("hop 2", &counts, 104, 2), minutes(&[103, 104]));
    // After an outage of a day, in which the path stayed the same, or changed.
    assert_eq!(points("hop 2", &counts, START + 1_440, 1_440), minutes(&[101, 102, 103, 104]));
    assert_eq!(points("hop 2", &counts, START + 1_440, 60), None);
    // A step in which the address became known may have both.
    let router = |known_for| {
        let known_for = Duration::from_nanos(known_for);
        let address = "192.0.2.1".parse().unwrap();
        let one = RouterNow { target: "far".into(), probe: "hop 2".into(), address, known_for };
        let key = SeriesKey { target: "far".into(), probe: "hop 2".into(), unit: Unit::Seconds };
        KnownRouters::at(WallTime(104 * MINUTE), vec![one]).get(&key).unwrap().since_ms
    };
    assert_eq!(router(MINUTE), 103 * 60_000);
    assert_eq!(router(MINUTE - 1), 103 * 60_000 + 1);
    assert_eq!(router(u64::MAX), 0, "no overflow");
}

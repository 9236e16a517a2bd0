//! Events, levels and counts.
use super::support::{Dir, HOUR, SECOND, START, key, open};
use fathom_units::WallTime;
use fathom_watch_samples::{Level, Unit};
use fathom_watch_store::{Event, HistoryConfig, HistoryReader, SeriesKey};

fn event(at: u64, kind: &str) -> Event {
    Event {
        at: WallTime(START + at * SECOND),
        until: None,
        series: None,
        kind: kind.into(),
        text: format!("{kind} at {at}"),
        value: Some(at as f64),
    }
}

#[test]
fn events_are_read_in_order_and_can_end_later() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &HistoryConfig::default());
    let id = history.series(&key("one")).expect("room for one");
    history.event(&Event { series: Some(id), ..event(50, "path") });
    let loss = history.event(&event(10, "loss"));
    history.save(WallTime(START));
    drop(history);
    let mut again = open(&dir.0, &HistoryConfig::default());
    let late = again.event(&event(100, "late"));
    assert!(late > loss);
    again.end_event(loss, WallTime(START + 40 * SECOND));
    again.save(WallTime(START));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    let mut between = |from: u64, to: u64| -> Vec<String> {
        let (from, to) = (WallTime(START + from * SECOND), WallTime(START + to * SECOND));
        reader.events(from, to).expect("it can be read").into_iter().map(|(_, e)| e.text).collect()
    };
    assert_eq!(between(0, 1_000), ["loss at 10", "path at 50", "late at 100"]);
    assert_eq!(between(30, 50), ["loss at 10"], "it lasted into this time");
    assert_eq!(between(40, 50), [""; 0]);
    assert_eq!(between(50, 51), ["path at 50"]);
    let (_, path) =
        reader.events(WallTime(START), WallTime(START + HOUR)).expect("it can be read").swap_remove(1);
    assert_eq!(path, Event { series: Some(id), ..event(50, "path") });
}

#[test]
fn levels_are_kept_to_one_percent() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &HistoryConfig::default());
    let uplink = SeriesKey { target: "host".into(), probe: "eth0 up".into(), unit: Unit::BitsPerSecond };
    let id = history.series(&uplink).expect("room for one");
    let values = [Some(0.0), None, Some(1.0), Some(35_000_000.0), Some(1e11)];
    let at = |n: usize| WallTime(START + n as u64 * SECOND);
    for (n, value) in values.into_iter().enumerate() {
        history.record_levels(id, &[Level { at: at(n), value }]);
    }
    history.save(at(9));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    assert_eq!(reader.series().expect("it can be read"), [(id, uplink)]);
    let levels = reader.levels(id, at(0), at(9)).expect("it can be read");
    assert_eq!(levels.len(), values.len());
    for (n, (level, value)) in levels.iter().zip(values).enumerate() {
        assert_eq!(level.at, at(n));
        let near = |k: f64, v: f64| (k - v).abs() <= v * 0.0109;
        assert_eq!(level.value.is_some(), value.is_some());
        assert!(level.value.zip(value).is_none_or(|(k, v)| near(k, v)), "{level:?} of {value:?}");
    }
}

#[test]
fn duplicates_and_reordering_are_counted_at_every_zoom() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &super::support::seldom());
    let id = history.series(&key("one")).expect("room for one");
    for second in (0..2 * 86_400).step_by(600) {
        let at = WallTime(START + second * SECOND);
        history.count(id, at, 2, 1);
        assert!(history.flush(at).is_empty());
    }
    let end = WallTime(START + 2 * 86_400 * SECOND);
    history.save(end);
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    for count in [1, 2, 48, 288, 2_000] {
        let columns = reader.columns(id, WallTime(START), end, count).expect("it can be read");
        let sum = columns.iter().fold((0, 0), |(d, r), c| (d + c.tally.duplicates, r + c.tally.reordered));
        assert_eq!(sum, (576, 288), "{count} columns");
    }
}

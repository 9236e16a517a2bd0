//! Departure times and sizes of datagrams.
use crate::workload::workload;
use fathom_scenario::{Departure, Timetable};
use fathom_units::{Duration, Rng, Time};

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Departures before `until`, each with its length.
fn leaving(keys: &str, first: Time, until: Time) -> Vec<(Time, u16)> {
    let mut timetable = Timetable::new(workload(keys).kind, first).unwrap();
    let (mut rng, mut all) = (Rng::new(1), Vec::new());
    while timetable.due() < until {
        let now = timetable.due();
        let Departure { key_frame, single } = timetable.take(now, &mut rng);
        all.extend((0..key_frame).map(|_| (now, timetable.size())));
        all.extend(single.map(|len| (now, len)));
    }
    all
}

#[test]
fn datagrams_keep_their_rate_and_key_frames_their_beat() {
    // A packet of 1500 bytes every millisecond.
    let even = leaving("kind = \"cbr\"\nrate = \"12mbit\"", at(3), at(10_003));
    assert_eq!((even.len(), even[0], even[1]), (10_000, (at(3), 1500), (at(4), 1500)));
    // 1400 bytes every 100 ms; each second starts with a key frame of ten.
    let camera = "kind = \"video\"\nrate = \"112kbit\"\nsize = 1400\nkey_frame = \"13720b\"\nevery = \"1s\"";
    let camera = leaving(camera, at(0), at(10_000));
    assert_eq!(camera.len(), 100 + 10 * 10);
    assert_eq!(camera.iter().filter(|(when, _)| *when == at(2_000)).count(), 11);
}

#[test]
fn calls_and_games_keep_time_whatever_their_size() {
    for (keys, every_ms, len) in
        [("kind = \"call\"", 20, 200), ("kind = \"game\"\nsize = 90\ninterval = \"15ms\"", 15, 90)]
    {
        let all = leaving(keys, at(7), at(7 + 100 * every_ms));
        let expected: Vec<_> = (0..100).map(|number| (at(7 + number * every_ms), len)).collect();
        assert_eq!(all, expected, "{keys}");
    }
}

/// With 20,000 draws the mean is within 3 %, which is four standard deviations.
#[test]
fn random_datagrams_have_their_means() {
    let keys = "kind = \"poisson\"\nrate = \"8mbit\"\nsize = 1000\nsizes = \"exponential\"";
    let all = leaving(keys, at(0), at(20_000));
    let near = |value: f64, mean: f64| (value / mean - 1.0).abs() < 0.03;
    assert!(near(all.len() as f64, 20_000.0), "{} datagrams, seed 1", all.len());
    let bytes: u64 = all.iter().map(|(_, len)| u64::from(*len)).sum();
    assert!(near(bytes as f64 / all.len() as f64, 1000.0), "{bytes} bytes, seed 1");
}

#[test]
fn a_late_start_continues_from_then() {
    let mut timetable = Timetable::new(workload("kind = \"call\"").kind, at(0)).unwrap();
    let departure = timetable.take(at(5), &mut Rng::new(1));
    assert_eq!((departure.single, timetable.due()), (Some(200), at(25)));
    let nothing = Departure { key_frame: 0, single: None };
    assert_eq!(timetable.take(at(24), &mut Rng::new(1)), nothing);
    assert!(Timetable::new(workload("kind = \"bulk\"").kind, at(0)).is_none());
}

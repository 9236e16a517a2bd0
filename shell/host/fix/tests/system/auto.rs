//! The rates follow a variable-rate link, with kernel TCP through it.
use crate::modem::{DEVICE, Modem, mbit};
use crate::watchdog;
use fathom_client::TestConfig;
use fathom_fix::auto::{AutoConfig, AutoProgress, PassiveRtt, Status, auto};
use fathom_os::clock::Clock;
use fathom_reflectors::ReflectConfig;
use fathom_shape::autorate::{Bounds, Config, Delay, DelaySample};
use fathom_shaper::{Framing, ShaperKind};
use fathom_units::{Duration, PerDirection};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Up 10, then 3 Mbit/s; down constant. Half a second of buffer at 10 Mbit/s.
const VARYING: PerDirection<&str> = PerDirection {
    up: "trace = \"steps.trace\", queue = \"fifo limit 625000b\", overhead = \"0b\"",
    down: "rate = \"40mbit\", queue = \"fifo limit 1000000b\", overhead = \"0b\"",
};
const STEPS: &str = "0s 10mbit\n8s 3mbit\n";

/// Values of a tick.
struct Seen {
    s: f64,
    up: f64,
    down: f64,
    delay_ms: Option<f64>,
}

fn config(modem: &Modem, seconds: u64) -> AutoConfig {
    let clock = Clock::start();
    let server = TestConfig { clock, ..TestConfig::new(&modem.server()) };
    let up = Bounds { min: mbit(2), start: mbit(9), max: mbit(15) };
    let down = Bounds { min: mbit(8), start: mbit(37), max: mbit(45) };
    AutoConfig {
        place: modem.place(),
        shaper: Some(ShaperKind::FlowHash),
        framing: Framing::default(),
        round_trip: None,
        rates: Config::new(PerDirection { up, down }).unwrap(),
        reflectors: ReflectConfig { server: Some(server), hosts: Vec::new(), clock },
        passive: false,
        duration: Some(Duration::from_secs(seconds)),
        commit: false,
        metrics: None,
    }
}

/// Runs `--auto` and records each tick, with the time since the link was created.
fn run(modem: &Modem, config: &AutoConfig) -> (Status, Vec<Seen>, Vec<String>) {
    let (mut seen, mut notes) = (Vec::new(), Vec::new());
    let stop = AtomicBool::new(false);
    let mut report = |progress: AutoProgress<'_>| match progress {
        AutoProgress::Tick(status) => seen.push(Seen {
            s: modem.age().as_secs_f64(),
            up: status.directions.up.rate.as_bits_per_second() as f64 / 1e6,
            down: status.directions.down.rate.as_bits_per_second() as f64 / 1e6,
            delay_ms: status.directions.up.delay_s.map(|s| s * 1e3),
        }),
        AutoProgress::Note(words) => notes.push(words.to_owned()),
        AutoProgress::Plan(_) => {}
    };
    let watchdog = watchdog::command(&modem.place().folder);
    let status = modem.inside(|| auto(config, watchdog, &stop, &mut report)).unwrap();
    (status, seen, notes)
}

fn median(mut values: Vec<f64>) -> f64 {
    assert!(!values.is_empty());
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn between(seen: &[Seen], from: f64, to: f64, of: impl Fn(&Seen) -> Option<f64>) -> Vec<f64> {
    seen.iter().filter(|one| (from..to).contains(&one.s)).filter_map(of).collect()
}

/// A CUBIC upload until `until` is set.
fn upload(modem: &Modem, until: &AtomicBool) {
    let listener = modem.beyond(|| TcpListener::bind((modem.server_ip(), 5001))).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = vec![0; 1 << 16];
            while stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
        });
        let mut stream = modem.inside(|| TcpStream::connect((modem.server_ip(), 5001))).unwrap();
        let bytes = vec![0; 1 << 14];
        while !until.load(Ordering::Relaxed) && stream.write_all(&bytes).is_ok() {}
        drop(stream);
    });
}

fn run_beside_an_upload(modem: &Modem, config: &AutoConfig) -> (Status, Vec<Seen>, Vec<String>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| upload(modem, &is_over));
        let ran = run(modem, config);
        is_over.store(true, Ordering::Relaxed);
        ran
    })
}

/// One line per half second, to debug a failure.
fn story(seen: &[Seen]) -> String {
    let line = |one: &Seen| {
        format!("{:5.1} s: up {:6.2} down {:6.2} Mbit/s, {:?} ms\n", one.s, one.up, one.down, one.delay_ms)
    };
    seen.iter().step_by(10).map(line).collect()
}

/// The downlink carried only ACKs.
fn assert_down_was_not_cut(seen: &[Seen]) {
    let least = seen.iter().map(|one| one.down).fold(f64::MAX, f64::min);
    assert!(least >= 36.9, "down was cut to {least}");
}

#[test]
fn the_rate_follows_the_line_and_a_damaged_file_is_kept_aside() {
    let modem = Modem::over("auto", VARYING, STEPS);
    let folder = modem.place().folder;
    std::fs::write(folder.join("line0.autorate"), "fathom-autorate 9\n").unwrap();
    let before = modem.shown();
    let config = config(&modem, 20);
    let (status, seen, notes) = run_beside_an_upload(&modem, &config);
    eprintln!("{}", story(&seen));
    let up = |from, to| median(between(&seen, from, to, |one| Some(one.up)));
    let delay = |from, to| median(between(&seen, from, to, |one| one.delay_ms));
    assert!((7.0..=10.6).contains(&up(4.0, 8.0)), "at 10: {}", up(4.0, 8.0));
    assert!((2.0..=3.3).contains(&up(13.0, 20.0)), "at 3: {}", up(13.0, 20.0));
    for (from, to) in [(4.0, 8.0), (13.0, 20.0)] {
        assert!(delay(from, to) < 25.0, "{from} to {to} s: {} ms", delay(from, to));
    }
    assert_down_was_not_cut(&seen);
    // One per 50 ms under load.
    assert!(status.answers > 125, "{} answers", status.answers);
    assert_eq!(modem.shown(), before);
    assert!(modem.place().read().unwrap().is_none());
    assert!(Status::read(&modem.place()).is_none());
    let learned = std::fs::read_to_string(folder.join("line0.autorate")).unwrap();
    assert!(learned.starts_with("fathom-autorate 1\nrate up "), "{learned}");
    assert!(notes[0].contains("line 1: expected \"fathom-autorate 1\""), "{notes:?}");
    let aside = std::fs::read_to_string(folder.join("line0.autorate-damaged")).unwrap();
    assert_eq!(aside, "fathom-autorate 9\n");
}

/// What the simulator cannot test: the kernel's capture, and round-trip times from it.
#[test]
fn round_trips_of_tcp_that_passes_are_taken() {
    let modem = Modem::over("passive", VARYING, STEPS);
    let is_over = AtomicBool::new(false);
    let delays = std::thread::scope(|scope| {
        scope.spawn(|| upload(&modem, &is_over));
        let delays = modem.inside(|| {
            let mut passive = PassiveRtt::open(DEVICE).unwrap();
            let (begun, mut delays) = (Instant::now(), Vec::new());
            while delays.len() < 20 && begun.elapsed().as_secs() < 20 {
                std::thread::sleep(std::time::Duration::from_millis(50));
                delays.extend(passive.take());
            }
            delays
        });
        is_over.store(true, Ordering::Relaxed);
        delays
    });
    let trip = |sample: &DelaySample| match sample.delay {
        Delay::RoundTrip(time) => time.as_secs_f64() * 1e3,
        Delay::OneWay(_) => panic!("{sample:?}"),
    };
    let trips: Vec<f64> = delays.iter().map(trip).collect();
    // The path takes 10 ms, its buffer up to half a second.
    assert!(trips.len() >= 20 && trips.iter().all(|ms| (9.9..700.0).contains(ms)), "{trips:?}");
}

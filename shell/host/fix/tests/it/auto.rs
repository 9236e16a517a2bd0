//! The rates follow a line that varies, with real kernel TCP through it.
use crate::guard;
use crate::modem::{Modem, mbit};
use fathom_client::{ReflectConfig, TestConfig};
use fathom_fix::auto::{AutoConfig, AutoTell, Status, auto};
use fathom_os::clock::Clock;
use fathom_shape::autorate::{Bounds, Config};
use fathom_shaper::{Framing, Rung};
use fathom_units::{Duration, PerDirection};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Up 10, then 3, then 10 Mbit/s again; down as ever. Half a second of buffer at 10 Mbit/s.
const VARYING: [&str; 2] =
    ["trace = \"steps.trace\", queue = \"fifo limit 625000b\", overhead = \"0b\"", STEADY_DOWN];
const STEADY_DOWN: &str = "rate = \"40mbit\", queue = \"fifo limit 1000000b\", overhead = \"0b\"";
const STEPS: &str = "0s 10mbit\n25s 3mbit\n50s 10mbit\n";

/// What was seen of a tick.
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
        rung: Some(Rung::FlowHash),
        framing: Framing::default(),
        rates: Config::new(PerDirection { up, down }).unwrap(),
        reflectors: ReflectConfig { server: Some(server), hosts: Vec::new(), clock },
        passive: false,
        duration: Some(Duration::from_secs(seconds)),
        commit: false,
        metrics: None,
    }
}

/// Keeps the rates right and notes each tick, with the time since the line began.
fn run(modem: &Modem, config: &AutoConfig) -> (Status, Vec<Seen>) {
    let mut seen = Vec::new();
    let stop = AtomicBool::new(false);
    let mut tell = |tell: AutoTell<'_>| {
        if let AutoTell::Tick(status) = tell {
            seen.push(Seen {
                s: modem.age().as_secs_f64(),
                up: status.ways.up.rate.as_bits_per_second() as f64 / 1e6,
                down: status.ways.down.rate.as_bits_per_second() as f64 / 1e6,
                delay_ms: status.ways.up.delay_s.map(|s| s * 1e3),
            });
        }
    };
    let guard = guard::command(&modem.place().folder);
    let status = modem.inside(|| auto(config, guard, &stop, &mut tell)).unwrap();
    (status, seen)
}

fn median(mut values: Vec<f64>) -> f64 {
    assert!(!values.is_empty());
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn between(seen: &[Seen], from: f64, to: f64, of: impl Fn(&Seen) -> Option<f64>) -> Vec<f64> {
    seen.iter().filter(|one| (from..to).contains(&one.s)).filter_map(of).collect()
}

/// A CUBIC upload for as long as `until` is not set.
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

fn run_beside_an_upload(modem: &Modem, config: &AutoConfig) -> (Status, Vec<Seen>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| upload(modem, &is_over));
        let ran = run(modem, config);
        is_over.store(true, Ordering::Relaxed);
        ran
    })
}

/// Each half second, for who looks why a test failed.
fn told(seen: &[Seen]) -> String {
    let line = |one: &Seen| {
        format!("{:5.1} s: up {:6.2} down {:6.2} Mbit/s, {:?} ms\n", one.s, one.up, one.down, one.delay_ms)
    };
    seen.iter().step_by(10).map(line).collect()
}

/// It carried acknowledgements alone.
fn assert_down_was_not_cut(seen: &[Seen]) {
    let least = seen.iter().map(|one| one.down).fold(f64::MAX, f64::min);
    assert!(least >= 36.9, "down was cut to {least}");
}

#[test]
fn the_rate_follows_the_line_down_and_up_again() {
    let modem = Modem::over("auto", VARYING, STEPS);
    let before = modem.shown();
    let config = config(&modem, 85);
    let (status, seen) = run_beside_an_upload(&modem, &config);
    eprintln!("{}", told(&seen));
    let up = |from, to| median(between(&seen, from, to, |one| Some(one.up)));
    let delay = |from, to| median(between(&seen, from, to, |one| one.delay_ms));
    assert!((7.0..=10.6).contains(&up(15.0, 25.0)), "at 10: {}", up(15.0, 25.0));
    assert!((2.0..=3.3).contains(&up(32.0, 50.0)), "at 3: {}", up(32.0, 50.0));
    assert!((6.0..=10.6).contains(&up(70.0, 84.0)), "at 10 again: {}", up(70.0, 84.0));
    for (from, to) in [(15.0, 25.0), (32.0, 50.0), (60.0, 84.0)] {
        assert!(delay(from, to) < 25.0, "{from} to {to} s: {} ms", delay(from, to));
    }
    assert_down_was_not_cut(&seen);
    assert!(status.answers > 300, "{} answers", status.answers);
    assert_eq!(modem.shown(), before);
    assert!(modem.place().read().unwrap().is_none());
    assert!(!Status::file(&modem.place()).exists());
    let learnt = std::fs::read_to_string(modem.place().folder.join("line0.autorate")).unwrap();
    assert!(learnt.starts_with("fathom-autorate 1\nrate up "), "{learnt}");
}

#[test]
fn the_tcp_that_passes_is_enough_to_follow_the_line() {
    let modem = Modem::over("passing", VARYING, STEPS);
    let clock = Clock::start();
    let nobody = ReflectConfig { server: None, hosts: Vec::new(), clock };
    let config = AutoConfig { reflectors: nobody, passive: true, ..config(&modem, 48) };
    let (status, seen) = run_beside_an_upload(&modem, &config);
    eprintln!("{}", told(&seen));
    let up = |from, to| median(between(&seen, from, to, |one| Some(one.up)));
    assert!((7.0..=10.6).contains(&up(15.0, 25.0)), "at 10: {}", up(15.0, 25.0));
    assert!((2.0..=3.3).contains(&up(34.0, 47.0)), "at 3: {}", up(34.0, 47.0));
    for (from, to) in [(15.0, 25.0), (34.0, 47.0)] {
        let delay = median(between(&seen, from, to, |one| one.delay_ms));
        assert!(delay < 25.0, "{from} to {to} s: {delay} ms");
    }
    assert_down_was_not_cut(&seen);
    assert!(status.answers > 300, "{} answers", status.answers);
}

/// Three of ten packets come 40 ms late, in either direction.
const NOISY: [&str; 2] = [
    "rate = \"10mbit\", reorder = \"30%\", reorder_delay = \"40ms\", queue = \"fifo limit 625000b\", overhead = \"0b\"",
    "rate = \"40mbit\", reorder = \"30%\", reorder_delay = \"40ms\", queue = \"fifo limit 1000000b\", overhead = \"0b\"",
];

#[test]
fn noise_of_an_idle_line_cuts_nothing_and_what_was_learnt_is_used_again() {
    let modem = Modem::over("noise", NOISY, "");
    let folder = modem.place().folder;
    std::fs::write(folder.join("line0.autorate"), "fathom-autorate 1\nrate up 6000000\n").unwrap();
    let begun = Instant::now();
    let (status, seen) = run(&modem, &config(&modem, 15));
    assert!(begun.elapsed().as_secs() < 60);
    assert!(seen.iter().all(|one| one.up == 6.0 && one.down == 37.0), "{:?}", status.ways);
    assert!(status.ways.up.decisions.keys().all(|why| !why.is_cut()), "{:?}", status.ways.up.decisions);
    assert!(status.answers > 20, "{} answers", status.answers);
}

#[test]
fn a_damaged_file_is_kept_aside_and_told() {
    let modem = Modem::over("damaged", NOISY, "");
    let folder = modem.place().folder;
    std::fs::write(folder.join("line0.autorate"), "fathom-autorate 9\n").unwrap();
    let stop = AtomicBool::new(false);
    let mut notes = Vec::new();
    let mut tell = |tell: AutoTell<'_>| {
        if let AutoTell::Note(words) = tell {
            notes.push(words.to_owned());
        }
    };
    let guard = guard::command(&folder);
    modem.inside(|| auto(&config(&modem, 1), guard, &stop, &mut tell)).unwrap();
    assert!(notes[0].contains("line 1: expected \"fathom-autorate 1\""), "{notes:?}");
    assert_eq!(
        std::fs::read_to_string(folder.join("line0.autorate-damaged")).unwrap(),
        "fathom-autorate 9\n"
    );
}

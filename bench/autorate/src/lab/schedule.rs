//! The traffic schedule, in seconds of a run.
use fathom_units::PerDirection;
use std::fmt::Write;
use std::ops::Range;

/// Length of a run in s.
pub(super) const LENGTH: f64 = 90.0;
/// Interval of the measuring datagrams in ms. Laws do not see them.
pub(super) const PROBE_MS: u64 = 25;
/// Sampling interval of goodput in ms.
pub(super) const SAMPLE_MS: u64 = 100;
/// Silence after which a direction counts as idle, in s.
const IDLE: f64 = 1.0;
/// Time after which all filters have forgotten a path delay, in s.
const FORGOTTEN: f64 = 2.0;

/// Unlimited bulk transfers.
struct Load {
    is_up: bool,
    flows: u32,
    seconds: Range<f64>,
}

const LOADS: [Load; 4] = [
    Load { is_up: true, flows: 2, seconds: 9.0..29.0 },
    Load { is_up: false, flows: 4, seconds: 33.0..53.0 },
    Load { is_up: true, flows: 2, seconds: 60.0..88.0 },
    Load { is_up: false, flows: 4, seconds: 60.0..88.0 },
];

/// Periods when the path beyond the line is slow while nothing is sent, with the extra delay per
/// direction in ms.
const NOISE: [(Range<f64>, PerDirection<f64>); 2] =
    [(3.0..6.0, PerDirection { up: 70.0, down: 70.0 }), (55.0..57.0, PerDirection { up: 0.0, down: 70.0 })];

/// Directions with load.
pub(super) fn loaded(at: f64) -> PerDirection<bool> {
    let is = |is_up| LOADS.iter().any(|load| load.is_up == is_up && load.seconds.contains(&at));
    PerDirection { up: is(true), down: is(false) }
}

/// Directions that have been idle for a while.
pub(super) fn idle(at: f64) -> PerDirection<bool> {
    let is = |is_up| {
        let is_over = |load: &Load| at < load.seconds.start || at > load.seconds.end + IDLE;
        LOADS.iter().filter(|load| load.is_up == is_up).all(is_over)
    };
    PerDirection { up: is(true), down: is(false) }
}

/// Current extra delay of the path in ms.
pub(super) fn noise(at: f64) -> PerDirection<f64> {
    let now = NOISE.iter().find(|(seconds, _)| seconds.contains(&at));
    now.map_or(PerDirection::default(), |(_, late)| *late)
}

/// Whether there is extra delay, or it may be remembered.
pub(super) fn is_noisy(at: f64) -> bool {
    NOISE.iter().any(|(seconds, _)| (seconds.start..seconds.end + FORGOTTEN).contains(&at))
}

/// The workloads as scenario text.
pub(super) fn workloads() -> String {
    let mut text = format!("[run]\nduration = \"{LENGTH}s\"\nsample_every = \"{SAMPLE_MS}ms\"\n");
    // Writing to a String cannot fail.
    for Load { is_up, flows, seconds: Range { start, end } } in LOADS {
        let way = if is_up { "up" } else { "down" };
        let _ = write!(
            text,
            "[[workload]]\nkind = \"bulk\"\nname = \"{way}-from-{start}\"\ndirection = \"{way}\"\nflows = {flows}\n\
             start = \"{start}s\"\nstop = \"{end}s\"\n"
        );
    }
    let _ = write!(
        text,
        "[[workload]]\nkind = \"game\"\nname = \"probe\"\nsize = 100\ninterval = \"{PROBE_MS}ms\"\n"
    );
    text
}

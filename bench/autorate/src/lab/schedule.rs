//! What is sent when, in seconds of a run.
use fathom_units::PerDirection;
use std::fmt::Write;
use std::ops::Range;

/// Of a run, s.
pub(super) const LENGTH: f64 = 90.0;
/// From one of the datagrams that measure to the next, ms. A law gets no answer to them.
pub(super) const PROBE_MS: u64 = 25;
/// Goodput is looked at so often, ms.
pub(super) const SAMPLE_MS: u64 = 100;
/// Quiet for so long a direction is idle, s.
const IDLE: f64 = 1.0;
/// And what a path did is forgotten by all filters after so long, s.
const FORGOTTEN: f64 = 2.0;

/// Bulk transfers without end of their own.
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

/// When the path beyond the line is slow while nothing is sent, and by how much in each direction, ms.
const NOISE: [(Range<f64>, PerDirection<f64>); 2] =
    [(3.0..6.0, PerDirection { up: 70.0, down: 70.0 }), (55.0..57.0, PerDirection { up: 0.0, down: 70.0 })];

/// Which directions have a load.
pub(super) fn loaded(at: f64) -> PerDirection<bool> {
    let is = |is_up| LOADS.iter().any(|load| load.is_up == is_up && load.seconds.contains(&at));
    PerDirection { up: is(true), down: is(false) }
}

/// Which directions have had none for a while.
pub(super) fn idle(at: f64) -> PerDirection<bool> {
    let is = |is_up| {
        let is_over = |load: &Load| at < load.seconds.start || at > load.seconds.end + IDLE;
        LOADS.iter().filter(|load| load.is_up == is_up).all(is_over)
    };
    PerDirection { up: is(true), down: is(false) }
}

/// What answers are later now because of the path, ms.
pub(super) fn noise(at: f64) -> PerDirection<f64> {
    let now = NOISE.iter().find(|(seconds, _)| seconds.contains(&at));
    now.map_or(PerDirection::default(), |(_, late)| *late)
}

/// True while that is so, or may be remembered.
pub(super) fn is_noisy(at: f64) -> bool {
    NOISE.iter().any(|(seconds, _)| (seconds.start..seconds.end + FORGOTTEN).contains(&at))
}

/// As a scenario says it.
pub(super) fn workloads() -> String {
    let mut text = format!("[run]\nduration = \"{LENGTH}s\"\nsample_every = \"{SAMPLE_MS}ms\"\n");
    // A String takes everything.
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

//! Numbers as people read them.
use alloc::format;
use alloc::string::String;
use fathom_units::Duration;

/// Seconds in three digits: the history knows no more.
pub(crate) fn delay(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0 ms".into(),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

pub(crate) fn percent(ratio: f64) -> String {
    format!("{:.1}%", ratio * 100.0)
}

pub(crate) fn rate(bits_per_second: f64) -> String {
    match bits_per_second {
        r if r >= 1e6 => format!("{:.1} Mbit/s", r / 1e6),
        r => format!("{:.0} kbit/s", r / 1e3),
    }
}

/// A length of time as a clock would say it: `2 h 5 min`.
pub(crate) fn length(time: Duration) -> String {
    let seconds = time.as_nanos() / 1_000_000_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 if (seconds / 60).is_multiple_of(60) => format!("{} h", seconds / 3_600),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

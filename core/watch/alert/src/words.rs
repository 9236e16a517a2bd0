//! Numbers in words.
use alloc::format;
use alloc::string::String;
use fathom_units::Duration;

/// A duration as people write it: `2 h 5 min`.
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

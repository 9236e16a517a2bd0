//! Formats numbers for people: one form for findings, reports, alerts and the command line.
//!
//! For programs and `tc(8)` use the `Display` of the types in `fathom-units`. `ui/src/format.ts`
//! has the same forms for the web pages; `golden/text.txt` tests that both agree.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod foreign;
mod nearest;
mod printable;

use alloc::format;
use alloc::string::String;
pub use foreign::{first_line, http_answer};
pub use nearest::nearest;
pub use printable::printable;

/// Seconds as milliseconds: `0.42 ms`, `5.3 ms`, `51 ms`, `1,049 ms`.
pub fn milliseconds(seconds: f64) -> String {
    format!("{} ms", milliseconds_bare(seconds))
}

/// [`milliseconds`] without the unit, for columns.
pub fn milliseconds_bare(seconds: f64) -> String {
    let ms = seconds * 1e3;
    // At these limits rounding would show one digit more.
    match libm::fabs(ms) {
        a if a < 0.995 => format!("{ms:.2}"),
        a if a < 9.95 => format!("{ms:.1}"),
        _ => thousands(ms),
    }
}

/// Seconds with one decimal below 10 s: `1.6 s`, `16 s`.
pub fn seconds(seconds: f64) -> String {
    if libm::fabs(seconds) < 9.95 { format!("{seconds:.1} s") } else { format!("{} s", thousands(seconds)) }
}

/// Seconds with three digits, to compare similar delays: `420 us`, `20.1 ms`, `1,049 ms`, `12.3 s`.
pub fn delay(seconds: f64) -> String {
    match libm::fabs(seconds) {
        0.0 => "0 ms".into(),
        // Delays in milliseconds up to 10 s, as is usual in this field.
        s if (0.000_999_5..9.995).contains(&s) => three_digits(seconds * 1e3, "ms"),
        s if s >= 9.995 => three_digits(seconds, "s"),
        s if s >= 0.999_5e-6 => three_digits(seconds * 1e6, "us"),
        _ => three_digits(seconds * 1e9, "ns"),
    }
}

/// bit/s with three digits: `3.00 Mbit/s`, `18.7 Mbit/s`, `940 Mbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")], "bit/s")
}

/// Bytes with three digits, decimal multiples: `375 kB`, `1.25 MB`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")], "B")
}

/// A ratio of 0 to 1 as percent: `0 %`, `0.4 %`, `12 %`.
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A count with its noun: `1 packet`, `2,000 packets`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", thousands(count as f64)) }
}

/// Rounded to an integer, in groups of three digits: `1,049`.
pub fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", libm::fabs(value));
    let negative = value < 0.0 && digits != "0";
    let mut text = String::from(if negative { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn scaled(value: f64, units: &[(f64, &str)], smallest: &str) -> String {
    // A unit is used from the value that rounds to 1.00 of it.
    let found = units.iter().find(|(scale, _)| value >= scale * 0.9995);
    let (scale, unit) = found.copied().unwrap_or((1.0, smallest));
    if scale == 1.0 {
        return format!("{} {unit}", thousands(value));
    }
    three_digits(value / scale, unit)
}

fn three_digits(value: f64, unit: &str) -> String {
    // At these limits rounding would show one digit more.
    match libm::fabs(value) {
        v if v >= 99.95 => format!("{} {unit}", thousands(value)),
        v if v >= 9.995 => format!("{value:.1} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}

//! Numbers as a person reads them; one spelling for the diagnosis and every report.
use alloc::format;
use alloc::string::String;

/// Seconds as milliseconds: `0.42 ms`, `5.3 ms`, `51 ms`, `1,049 ms`.
pub fn milliseconds(seconds: f64) -> String {
    format!("{} ms", milliseconds_bare(seconds))
}

/// As [`milliseconds`], without the unit, for columns.
pub fn milliseconds_bare(seconds: f64) -> String {
    let ms = seconds * 1e3;
    // The limits are those at which rounding would show one digit more.
    match libm::fabs(ms) {
        a if a < 0.995 => format!("{ms:.2}"),
        a if a < 9.95 => format!("{ms:.1}"),
        _ => thousands(ms),
    }
}

/// Seconds with as many decimals as matter: `1.6 s`, `16 s`.
pub fn seconds(seconds: f64) -> String {
    if libm::fabs(seconds) < 9.95 { format!("{seconds:.1} s") } else { format!("{} s", thousands(seconds)) }
}

/// bit/s with three digits: `3.00 Mbit/s`, `18.7 Mbit/s`, `940 Mbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    scaled(bits_per_second, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")], "bit/s")
}

/// Bytes with three digits, decimal multiples: `375 kB`, `1.25 MB`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")], "B")
}

/// 0 to 1 as percent: `0 %`, `0.4 %`, `12 %`.
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Rounded to a whole number, in groups of three: `1,049`.
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
    // A unit is used from the value on that rounds to 1.00 of it.
    let found = units.iter().find(|(scale, _)| value >= scale * 0.9995);
    let (scale, unit) = found.copied().unwrap_or((1.0, smallest));
    match value / scale {
        v if scale == 1.0 || v >= 99.95 => format!("{} {unit}", thousands(v)),
        v if v >= 9.995 => format!("{v:.1} {unit}"),
        v => format!("{v:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        let cases = [
            (0.0, "0.00 ms"),
            (0.000_42, "0.42 ms"),
            (0.005_26, "5.3 ms"),
            (0.009_96, "10 ms"),
            (1.0486, "1,049 ms"),
        ];
        for (s, text) in cases {
            assert_eq!(milliseconds(s), text);
        }
        let rates = [(0.0, "0 bit/s"), (999.0, "999 bit/s"), (3e6, "3.00 Mbit/s"), (18.74e6, "18.7 Mbit/s")];
        for (bits, text) in rates.into_iter().chain([(999.6e3, "1.00 Mbit/s"), (940e6, "940 Mbit/s")]) {
            assert_eq!(rate(bits), text);
        }
        for (b, text) in [(375e3, "375 kB"), (1.25e6, "1.25 MB"), (12.0, "12 B")] {
            assert_eq!(bytes(b), text);
        }
        for (r, text) in [(0.0, "0 %"), (0.004, "0.4 %"), (0.123, "12 %"), (1.0, "100 %")] {
            assert_eq!(percent(r), text);
        }
        for (v, text) in [(-1234.4, "-1,234"), (999.5, "1,000"), (1e6, "1,000,000"), (-0.2, "0")] {
            assert_eq!(thousands(v), text);
        }
        assert_eq!((seconds(1.64), seconds(16.4)), ("1.6 s".into(), "16 s".into()));
    }
}

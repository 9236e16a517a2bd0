//! Lines of text logs.

/// Splits off a time in brackets, as `ping -D` and `fping -D` print it: seconds since 1970.
pub(crate) fn timestamp(line: &str) -> (Option<f64>, &str) {
    let stamp = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match stamp.and_then(|(time, rest)| Some((time.parse::<f64>().ok()?, rest))) {
        Some((time, rest)) if time.is_finite() => (Some(time), rest.trim_start()),
        _ => (None, line),
    }
}

/// The number that follows `key`.
pub(crate) fn after<T: core::str::FromStr>(line: &str, key: &str) -> Option<T> {
    let (_, rest) = line.split_once(key)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The number that precedes `key`.
pub(crate) fn before<T: core::str::FromStr>(line: &str, key: &str) -> Option<T> {
    line.split_once(key)?.0.rsplit([' ', ',']).next()?.parse().ok()
}

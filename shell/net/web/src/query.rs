//! Parses query strings: every key must be known and every value valid.
use crate::reply::Refusal;
use percent_encoding::percent_decode_str;

/// Parameters of a request, removed as they are used.
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses `a=1&b=2`. Percent encodings must be UTF-8.
    ///
    /// # Errors
    /// If an encoding is invalid, or a key is given twice.
    pub fn parse(text: &str) -> Result<Query, Refusal> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (key, value) = (decode(key)?, decode(value)?);
            if pairs.iter().any(|(known, _)| *known == key) {
                return Err(Refusal::bad(format!("duplicate parameter {}", quoted(&key))));
            }
            pairs.push((key, value));
        }
        Ok(Query { pairs })
    }

    /// Takes the value of a key.
    pub fn take(&mut self, key: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == key)?;
        Some(self.pairs.swap_remove(at).1)
    }

    /// Takes the value of a key that must be given.
    ///
    /// # Errors
    /// If it is missing.
    pub fn need(&mut self, key: &str) -> Result<String, Refusal> {
        self.take(key).ok_or_else(|| Refusal::bad(format!("parameter {key} is missing")))
    }

    /// Takes an integer in a range.
    ///
    /// # Errors
    /// If it is not a whole number from `min` to `max`.
    pub fn whole(&mut self, key: &str, min: u64, max: u64) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let range = || {
            Refusal::bad(format!(
                "{key}: invalid value {} (expected a whole number from {min} to {max})",
                quoted(&text)
            ))
        };
        let value = text.parse().map_err(|_| range())?;
        if (min..=max).contains(&value) { Ok(Some(value)) } else { Err(range()) }
    }

    /// Takes a time in seconds since 1970, in nanoseconds.
    ///
    /// # Errors
    /// If it is missing, or not a time.
    pub fn moment_ns(&mut self, key: &str) -> Result<u64, Refusal> {
        let text = self.need(key)?;
        let wrong = || {
            Refusal::bad(format!(
                "{key}: invalid time {} (expected seconds since 1970-01-01 UTC, for example 1795183808.5)",
                quoted(&text)
            ))
        };
        nanoseconds(&text).ok_or_else(wrong)
    }

    /// Refuses unknown keys: otherwise a mistyped key would be ignored.
    ///
    /// # Errors
    /// If a key was not taken.
    pub fn finish(self) -> Result<(), Refusal> {
        match self.pairs.first() {
            None => Ok(()),
            Some((key, _)) => Err(Refusal::bad(format!("unknown parameter {}", quoted(key)))),
        }
    }
}

/// A decimal number of seconds, exactly: a float would be off by 100 ns.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || !digits(seconds) || !digits(decimals) {
        return None;
    }
    let nine: String = decimals.chars().chain("000000000".chars()).take(9).collect();
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nine.parse().ok()?)
}

/// Percent decoding; `+` is a space, as in forms.
///
/// # Errors
/// If an encoding is invalid, or not UTF-8.
pub fn decode(text: &str) -> Result<String, Refusal> {
    let wrong = || Refusal::bad(format!("invalid percent encoding in {}", quoted(text)));
    let has_digits = |at: usize| {
        text.as_bytes().get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    // The crate `percent-encoding` would pass on a `%` without digits.
    if text.match_indices('%').any(|(at, _)| !has_digits(at)) {
        return Err(wrong());
    }
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().map(String::from).map_err(|_| wrong())
}

/// The value in quotes, shortened and without control characters.
pub fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    let more = if text.chars().count() > 40 { "..." } else { "" };
    format!("\"{shown}{more}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_to_the_nanosecond() {
        let cases = [
            ("0", Some(0)),
            ("1795183808", Some(1_795_183_808_000_000_000)),
            ("1795183808.25", Some(1_795_183_808_250_000_000)),
            ("1.0000000019", Some(1_000_000_001)),
            ("18446744073.709551615", Some(u64::MAX)),
            ("18446744074", None),
            ("", None),
            (".5", None),
            ("-1", None),
            ("1e9", None),
            ("+1", None),
            ("1.5.2", None),
            ("NaN", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nanoseconds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn no_text_is_too_strange_to_be_answered() {
        for seed in 0..3_000 {
            let mut dice = fathom_units::Rng::new(seed);
            let parts = [
                "series",
                "from",
                "=",
                "&",
                "%",
                "%4",
                "%e2%82%ac",
                "+",
                ".",
                "-",
                "0",
                "9",
                "\u{0}",
                "\u{1f600}",
            ];
            let count = dice.next_u64() % 12;
            let text: String = (0..count).map(|_| parts[dice.next_u64() as usize % parts.len()]).collect();
            let Ok(mut query) = Query::parse(&text) else { continue };
            let results =
                [query.moment_ns("from").err(), query.whole("series", 1, 5).err(), query.finish().err()];
            for refusal in results.into_iter().flatten() {
                assert!(
                    !refusal.text.contains(['\n', '\u{0}']) && refusal.text.len() < 400,
                    "seed {seed}: {text:?}"
                );
            }
        }
    }

    #[test]
    fn wrong_queries_are_refused_in_one_line() {
        let cases = [
            ("a=%", "invalid percent encoding in \"%\""),
            ("a=%4", "invalid percent encoding in \"%4\""),
            ("a=%zz", "invalid percent encoding in \"%zz\""),
            ("a=%ff%fe", "invalid percent encoding in \"%ff%fe\""),
            ("a=1&a=2", "duplicate parameter \"a\""),
            ("%1b%5b31m=1", "unknown parameter \"\\u{1b}[31m\""),
        ];
        for (text, expected) in cases {
            let refused = Query::parse(text).and_then(Query::finish).unwrap_err();
            assert_eq!(refused.text, expected, "{text:?}");
        }
        let mut query = Query::parse("cols=1.5&n=%31+2").unwrap();
        assert_eq!(query.take("n").unwrap(), "1 2");
        assert_eq!(
            query.whole("cols", 1, 9).unwrap_err().text,
            "cols: invalid value \"1.5\" (expected a whole number from 1 to 9)"
        );
        assert!(query.finish().is_ok());
    }
}

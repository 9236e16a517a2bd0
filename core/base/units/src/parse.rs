//! Parses and formats quantities in the syntax of `tc(8)`.
use crate::{Bytes, Duration, Rate, Ratio};
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// Why a text is not a quantity. `Display` quotes the text and says what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitError {
    text: String,
    problem: Problem,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Problem {
    NoNumber,
    NoUnit,
    UnknownUnit,
    TooLarge,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Duration,
    Rate,
    Bytes,
    Ratio,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Duration => "duration",
            Kind::Rate => "rate",
            Kind::Bytes => "size",
            Kind::Ratio => "ratio",
        }
    }
    const fn example_units(self) -> [&'static str; 2] {
        match self {
            Kind::Duration => ["ms", "s"],
            Kind::Rate => ["Mbit", "Kbit"],
            Kind::Bytes => ["kb", "b"],
            Kind::Ratio => ["%", "%"],
        }
    }
    /// Units (lower case) in ns, bit/s or bytes; for ratios in millionths.
    const fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Kind::Duration => &[
                ("s", 1_000_000_000),
                ("sec", 1_000_000_000),
                ("secs", 1_000_000_000),
                ("ms", 1_000_000),
                ("msec", 1_000_000),
                ("msecs", 1_000_000),
                ("us", 1_000),
                ("usec", 1_000),
                ("usecs", 1_000),
                ("ns", 1),
                ("nsec", 1),
                ("nsecs", 1),
                ("min", 60_000_000_000),
            ],
            Kind::Rate => &[
                ("bit", 1),
                ("kbit", 1_000),
                ("mbit", 1_000_000),
                ("gbit", 1_000_000_000),
                ("tbit", 1_000_000_000_000),
                ("kibit", 1 << 10),
                ("mibit", 1 << 20),
                ("gibit", 1 << 30),
                ("bps", 8),
                ("kbps", 8_000),
                ("mbps", 8_000_000),
                ("gbps", 8_000_000_000),
                // The forms that `fathom-text` prints for people.
                ("bit/s", 1),
                ("kbit/s", 1_000),
                ("mbit/s", 1_000_000),
                ("gbit/s", 1_000_000_000),
            ],
            // tc(8): k and kb are 1024 bytes. See DECIMAL_SIZES.
            Kind::Bytes => &[
                ("b", 1),
                ("k", 1 << 10),
                ("kb", 1 << 10),
                ("m", 1 << 20),
                ("mb", 1 << 20),
                ("g", 1 << 30),
                ("gb", 1 << 30),
                ("kib", 1 << 10),
                ("mib", 1 << 20),
                ("gib", 1 << 30),
            ],
            Kind::Ratio => &[("%", 10_000)],
        }
    }
}

/// With the exact case of SI, sizes are decimal, as printed: `375 kB`. Otherwise they are tc's,
/// where `kb`, `Kb` and `KB` are 1024 bytes.
const DECIMAL_SIZES: [(&str, u64); 3] = [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, name, [a, b]) = (&self.text, self.kind.name(), self.kind.example_units());
        match self.problem {
            Problem::NoNumber => {
                write!(f, "invalid {name} \"{text}\" (expected a number and a unit such as 20{a})")
            }
            Problem::NoUnit if a == b => {
                write!(f, "{name} \"{text}\" has no unit (did you mean \"{text}{a}\"?)")
            }
            Problem::NoUnit => {
                write!(f, "{name} \"{text}\" has no unit (did you mean \"{text}{a}\" or \"{text}{b}\"?)")
            }
            Problem::UnknownUnit => {
                write!(f, "{name} \"{text}\" has an unknown unit (known:")?;
                self.kind.units().iter().try_for_each(|(unit, _)| write!(f, " {unit}"))?;
                if self.kind == Kind::Bytes {
                    DECIMAL_SIZES.iter().try_for_each(|(unit, _)| write!(f, " {unit}"))?;
                }
                write!(f, ")")
            }
            Problem::TooLarge => write!(f, "{name} \"{text}\" is too large"),
        }
    }
}
impl core::error::Error for UnitError {}

/// Value of `text` in the smallest unit of `kind`; excess decimals are truncated.
fn parse(text: &str, kind: Kind) -> Result<u64, UnitError> {
    let fail = |problem| UnitError { text: text.to_string(), problem, kind };
    let trimmed = text.trim();
    let digits = trimmed.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')).count();
    let (number, unit) = trimmed.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = ungrouped(whole).ok_or_else(|| fail(Problem::NoNumber))?;
    let is_fraction = fraction.bytes().all(|b| b.is_ascii_digit());
    if !is_fraction || (number.contains('.') && fraction.is_empty()) {
        return Err(fail(Problem::NoNumber));
    }
    let unit = unit.trim();
    if unit.is_empty() && (whole != "0" || !fraction.is_empty()) {
        return Err(fail(Problem::NoUnit));
    }
    // Zero needs no unit.
    let scale = if unit.is_empty() { Some(1) } else { lookup(kind, unit) };
    let scale = u128::from(scale.ok_or_else(|| fail(Problem::UnknownUnit))?);
    let whole: u64 = whole.parse().map_err(|_| fail(Problem::TooLarge))?;
    // No unit has a ratio to the smallest one that needs more than twelve decimals.
    let fraction = &fraction[..fraction.len().min(12)];
    let fraction_value: u128 = if fraction.is_empty() { 0 } else { fraction.parse().unwrap_or(0) };
    let divisor = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
    let value = u128::from(whole) * scale + fraction_value * scale / divisor;
    u64::try_from(value).map_err(|_| fail(Problem::TooLarge))
}

/// Removes the commas between groups of three digits; `None` without digits or if misplaced.
fn ungrouped(whole: &str) -> Option<String> {
    let mut groups = whole.split(',');
    let first = groups.next().filter(|first| !first.is_empty())?;
    let is_grouped = whole.contains(',');
    let is_whole = groups.all(|group| group.len() == 3) && (!is_grouped || first.len() <= 3);
    is_whole.then(|| whole.replace(',', ""))
}

fn lookup(kind: Kind, unit: &str) -> Option<u64> {
    let decimal = DECIMAL_SIZES.iter().filter(|_| kind == Kind::Bytes).find(|(name, _)| *name == unit);
    let known = decimal.or_else(|| kind.units().iter().find(|(name, _)| unit.eq_ignore_ascii_case(name)));
    known.map(|(_, scale)| *scale)
}

/// Writes `value / unit` (a power of ten) with at most `most` decimals, and the unit's name.
pub(crate) fn write_scaled(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    (unit, name): (u64, &str),
    most: usize,
) -> fmt::Result {
    let (whole, rest) = (value / unit, value % unit);
    let digits = unit.ilog10() as usize;
    let decimals = alloc::format!("{rest:0digits$}");
    let decimals = decimals.get(..most.min(digits)).unwrap_or_default().trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    write!(f, "{whole}{point}{decimals}{name}")
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Kind::Duration).map(Duration::from_nanos)
    }
}
impl FromStr for Rate {
    type Err = UnitError;
    /// As in tc(8), `bit` is bits and `bps` is *bytes* per second. `20.0 Mbit/s` is also accepted.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Kind::Rate).map(Rate::from_bits_per_second)
    }
}
impl FromStr for Bytes {
    type Err = UnitError;
    /// As in tc(8), `kb` is 1024 bytes, but `kB`, `MB` and `GB` in exactly this case are decimal.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse(text, Kind::Bytes).map(Bytes)
    }
}
impl FromStr for Ratio {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let ratio = Ratio(parse(text, Kind::Ratio)? as f64 / 1e6);
        let too_large = UnitError { text: text.to_string(), problem: Problem::TooLarge, kind: Kind::Ratio };
        if ratio.0 <= 1.0 { Ok(ratio) } else { Err(too_large) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tc_spellings() {
        let durations =
            [("5ms", 5_000_000), ("1.5s", 1_500_000_000), ("250 us", 250_000), ("0", 0), ("7NS", 7)];
        for (text, nanos) in durations {
            assert_eq!(text.parse(), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        let rates = [
            ("20Mbit", 20_000_000),
            ("2.5mbit", 2_500_000),
            ("1mbps", 8_000_000),
            ("64Kibit", 65_536),
            ("20.0 Mbit/s", 20_000_000),
            ("1,234 Gbit/s", 1_234_000_000_000),
        ];
        for (text, bits) in rates {
            assert_eq!(text.parse(), Ok(Rate::from_bits_per_second(bits)), "{text}");
        }
        for (text, bytes) in [
            ("1514b", 1514),
            ("64kb", 65_536),
            ("64KB", 65_536),
            ("1mb", 1_048_576),
            ("1MiB", 1_048_576),
            ("0.5k", 512),
            ("1MB", 1_000_000),
            ("375 kB", 375_000),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        assert_eq!("0.5%".parse(), Ok(Ratio(0.005)));
    }

    #[test]
    fn refuses_and_says_why() {
        let message = |r: Result<Bytes, UnitError>| r.unwrap_err().to_string();
        assert_eq!(message("64".parse()), "size \"64\" has no unit (did you mean \"64kb\" or \"64b\"?)");
        assert!(message("64 apples".parse()).contains("unknown unit"));
        assert!(message("99999999999999999999kb".parse()).contains("too large"));
        let bad = [
            "",
            "kb",
            ".5kb",
            "1.kb",
            "1.2.3kb",
            "-1kb",
            "１kb",
            "1,5kb",
            "1,0000kb",
            "1000,000kb",
            ",100kb",
        ];
        for text in bad.into_iter().chain(["1.000,5kb"]) {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        assert!("101%".parse::<Ratio>().is_err());
    }

    #[test]
    fn display_steps_at_every_unit_boundary() {
        let cases = [
            (0, "0ns"),
            (999, "999ns"),
            (1_000, "1us"),
            (999_999, "999.999us"),
            (1_000_000, "1ms"),
            (4_037_333, "4.037ms"),
            (1_000_000_000, "1s"),
            (1_050_000_000, "1.05s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
        }
        assert_eq!(Rate::from_bits_per_second(2_500_000).to_string(), "2.5Mbit");
        assert_eq!(Bytes(375_000).to_string(), "375kB");
        assert_eq!(Bytes(1514).to_string(), "1514B");
        assert_eq!(Bytes(1_234_567).to_string(), "1.234567MB");
    }

    #[test]
    fn display_round_trips() {
        let mut rng = crate::Rng::new(7);
        let edges = (0..64).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
        let decades = (0..20).flat_map(|n| [10_u64.pow(n) - 1, 10_u64.pow(n), 3 * (10_u64.pow(n) / 2)]);
        let drawn = (0..20_000).map(|_| rng.next_u64() >> rng.below(64));
        for n in edges.chain(decades).chain(drawn.collect::<alloc::vec::Vec<u64>>()).chain([u64::MAX]) {
            let (size, rate) = (Bytes(n), Rate::from_bits_per_second(n));
            assert_eq!(size.to_string().parse(), Ok(size), "{size}");
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
    }
}

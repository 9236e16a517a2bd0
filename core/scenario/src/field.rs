//! Values of a scenario file: texts that become quantities within limits.
use alloc::string::{String, ToString};
use core::fmt::{self, Display};
use core::marker::PhantomData;
use core::str::FromStr;
use fathom_qdisc::Spec;
use fathom_units::{Bytes, Duration, Rate, Ratio};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Faster lines are typing errors.
const MAX_RATE: Rate = Rate::from_bits_per_second(1_000_000_000_000);
const MAX_DELAY: Duration = Duration::from_secs(3600);
/// ATM, PPPoE, VLAN and tunnels together stay far below.
const MAX_OVERHEAD: Bytes = Bytes(256);

/// A quantity and what a scenario may say of it.
pub(crate) trait Field: FromStr<Err: Display> {
    /// What is allowed, if `self` is not.
    fn refusal(&self) -> Option<&'static str>;
}

impl Field for Rate {
    fn refusal(&self) -> Option<&'static str> {
        let fits = self.as_bits_per_second() > 0 && *self <= MAX_RATE;
        (!fits).then_some("a rate is above 0 and at most 1Tbit; leave it out for a link that takes no time")
    }
}
impl Field for Duration {
    fn refusal(&self) -> Option<&'static str> {
        (*self > MAX_DELAY).then_some("at most 1 hour")
    }
}
impl Field for Bytes {
    fn refusal(&self) -> Option<&'static str> {
        (*self > MAX_OVERHEAD).then_some("an overhead per packet is at most 256b")
    }
}
impl Field for Ratio {
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}
impl Field for Spec {
    fn refusal(&self) -> Option<&'static str> {
        None
    }
}

/// A `T` written as a string. A bare number is refused in the words of `T`'s own error, which ask for a unit.
pub(crate) struct Quantity<T>(pub(crate) T);

impl<'de, T: Field> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor(PhantomData))
    }
}

struct QuantityVisitor<T>(PhantomData<T>);

impl<T: Field> Visitor<'_> for QuantityVisitor<T> {
    type Value = Quantity<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a quantity with its unit, in quotes")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Quantity<T>, E> {
        let value: T = text.parse().map_err(E::custom)?;
        match value.refusal() {
            None => Ok(Quantity(value)),
            Some(why) => Err(E::custom(format_args!("\"{text}\" is out of range ({why})"))),
        }
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Quantity<T>, E> {
        bare(number)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Quantity<T>, E> {
        bare(number)
    }
}

/// The error for a number that is not in quotes; zero needs no unit, but quotes all the same.
fn bare<T: Field, E: Error>(number: impl Display) -> Result<Quantity<T>, E> {
    let text = number.to_string();
    let error = text.parse::<T>().err().map(|error| error.to_string());
    Err(E::custom(error.unwrap_or_else(|| alloc::format!("{text} must be in quotes"))))
}

/// A word of letters, digits, `-`, `_`, `.` with at most `max` characters; else what is wrong with it.
pub(crate) fn check_word(what: &str, text: &str, max: usize) -> Result<(), String> {
    let fits = (1..=max).contains(&text.len());
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let expected = "letters, digits, \"-\", \"_\" and \".\"";
    if fits && plain {
        return Ok(());
    }
    Err(alloc::format!("{what} \"{text}\" will not do (expected 1 to {max} {expected})"))
}

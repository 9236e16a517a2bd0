//! Values of scenario files: texts parsed to quantities and checked against limits.
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::marker::PhantomData;
use core::str::FromStr;
use fathom_qdisc::Spec;
use fathom_units::{Bytes, Duration, Rate, Ratio, dscp_of_name};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Higher rates are assumed to be a typing error.
const MAX_RATE: Rate = Rate::from_bits_per_second(1_000_000_000_000);
const MAX_DELAY: Duration = Duration::from_secs(3600);
/// ATM, PPPoE, VLAN and tunnel headers together stay well below this.
const MAX_OVERHEAD: Bytes = Bytes(256);

/// A quantity with the limits that scenarios place on it.
pub(crate) trait Field: FromStr<Err: Display> {
    /// The allowed range, if `self` is outside of it.
    fn refusal(&self) -> Option<&'static str>;
}

impl Field for Rate {
    fn refusal(&self) -> Option<&'static str> {
        let fits = self.as_bits_per_second() > 0 && *self <= MAX_RATE;
        (!fits).then_some(
            "expected a rate above 0 and at most 1Tbit; leave it out for a link without serialization delay",
        )
    }
}
impl Field for Duration {
    fn refusal(&self) -> Option<&'static str> {
        (*self > MAX_DELAY).then_some("expected at most 1 hour")
    }
}
impl Field for Bytes {
    fn refusal(&self) -> Option<&'static str> {
        (*self > MAX_OVERHEAD).then_some("expected an overhead per packet of at most 256b")
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

/// Number of bytes to send, or size of a window.
#[derive(Clone, Copy)]
pub(crate) struct Amount(pub(crate) Bytes);
/// 1 TB. More is assumed to be a typing error.
const MAX_AMOUNT: Bytes = Bytes(1_000_000_000_000);

impl FromStr for Amount {
    type Err = <Bytes as FromStr>::Err;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Amount)
    }
}
impl Field for Amount {
    fn refusal(&self) -> Option<&'static str> {
        let fits = self.0 > Bytes::ZERO && self.0 <= MAX_AMOUNT;
        (!fits).then_some("expected above 0 and at most 1 TB")
    }
}

/// Duration of a part of a run. A switch's buffer can take more than an hour to fill.
#[derive(Clone, Copy)]
pub(crate) struct Lasting(pub(crate) Duration);
const MAX_LASTING: Duration = Duration::from_secs(48 * 3600);

impl FromStr for Lasting {
    type Err = <Duration as FromStr>::Err;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Lasting)
    }
}
impl Field for Lasting {
    fn refusal(&self) -> Option<&'static str> {
        (self.0 > MAX_LASTING).then_some("expected at most 48 hours")
    }
}

/// One quantity, or several in brackets.
pub(crate) struct OneOrMore<T>(pub(crate) Vec<T>);

impl<'de, T: Field> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMoreVisitor(PhantomData))
    }
}

struct OneOrMoreVisitor<T>(PhantomData<T>);

impl<'de, T: Field> Visitor<'de> for OneOrMoreVisitor<T> {
    type Value = OneOrMore<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a quantity with its unit, in quotes, or several in brackets")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMore<T>, E> {
        QuantityVisitor(PhantomData).visit_str(text).map(|one| OneOrMore(Vec::from([one.0])))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<OneOrMore<T>, E> {
        bare::<T, E>(number).map(|one| OneOrMore(Vec::from([one.0])))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<OneOrMore<T>, E> {
        bare::<T, E>(number).map(|one| OneOrMore(Vec::from([one.0])))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OneOrMore<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element::<Quantity<T>>()? {
            all.push(item.0);
        }
        Ok(OneOrMore(all))
    }
}

/// Parses a DSCP: a number, or a name known to [`dscp_of_name`].
pub(crate) fn dscp(value: &toml::Value) -> Result<u8, String> {
    let found = match value {
        toml::Value::Integer(number) => u8::try_from(*number).ok().filter(|dscp| *dscp < 64),
        toml::Value::String(text) => dscp_of_name(text),
        _ => None,
    };
    found.ok_or_else(|| {
        alloc::format!("dscp: invalid value {value} (expected 0 to 63, ef, le, cs0 to cs7, af11 to af43)")
    })
}

/// A `T` written as a string. The error for a bare number is `T`'s own and asks for a unit.
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
            Some(why) => Err(E::custom(format_args!("invalid value \"{text}\" ({why})"))),
        }
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Quantity<T>, E> {
        bare(number)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Quantity<T>, E> {
        bare(number)
    }
}

/// Error for a number without quotes. Zero needs no unit, but it does need quotes.
fn bare<T: Field, E: Error>(number: impl Display) -> Result<Quantity<T>, E> {
    let text = number.to_string();
    let error = text.parse::<T>().err().map(|error| error.to_string());
    Err(E::custom(error.unwrap_or_else(|| alloc::format!("{text} must be in quotes"))))
}

/// Checks that `text` has 1 to `max` characters, all of them letters, digits, `-`, `_` or `.`.
pub(crate) fn check_word(what: &str, text: &str, max: usize) -> Result<(), String> {
    let fits = (1..=max).contains(&text.len());
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let expected = "letters, digits, \"-\", \"_\" and \".\"";
    if fits && plain {
        return Ok(());
    }
    Err(alloc::format!("invalid {what} \"{text}\" (expected 1 to {max} {expected})"))
}

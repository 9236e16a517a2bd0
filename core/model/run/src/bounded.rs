//! Limits for parts of files whose form in memory takes many times the space of their text.
use alloc::boxed::Box;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Parses a value with a text of at most `MAX_BYTES`.
pub(crate) fn bounded<'a, const MAX_BYTES: usize, T: DeserializeOwned, D: Deserializer<'a>>(
    from: D,
) -> Result<T, D::Error> {
    parse::<MAX_BYTES, T, D::Error>(&Box::<RawValue>::deserialize(from)?)
}

/// As [`bounded`], from a text.
pub(crate) fn parse<const MAX_BYTES: usize, T: DeserializeOwned, E: Error>(value: &RawValue) -> Result<T, E> {
    let size = value.get().len();
    if size > MAX_BYTES {
        return Err(E::custom(format_args!("a value of {size} bytes exceeds the limit of {MAX_BYTES}")));
    }
    serde_json::from_str(value.get()).map_err(E::custom)
}

//! Property of arbitrary bytes as `units`; the fuzz target of that name runs the same function.
use core::fmt::{Debug, Display};
use core::str::FromStr;
use fathom_units::{Bytes, Duration, Rate, Ratio};

/// A text is rejected, or parsed as a quantity with a printed form that can be parsed again.
pub(crate) fn check(data: &[u8]) {
    fn check<T: FromStr<Err: Display + Debug> + Display>(text: &str) {
        match text.parse::<T>() {
            Ok(value) => assert!(value.to_string().parse::<T>().is_ok(), "{text}: {value}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let Ok(text) = core::str::from_utf8(data) else { return };
    check::<Duration>(text);
    check::<Rate>(text);
    check::<Bytes>(text);
    check::<Ratio>(text);
}

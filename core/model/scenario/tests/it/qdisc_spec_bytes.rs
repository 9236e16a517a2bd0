//! Property of arbitrary bytes as `qdisc_spec`, shared with the fuzz target of that name.
use fathom_qdisc::Spec;

/// An accepted queue discipline is written as a text with the same meaning.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match text.parse::<Spec>() {
        Ok(spec) => assert_eq!(spec.to_string().parse(), Ok(spec)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

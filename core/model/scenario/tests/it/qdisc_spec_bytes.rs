//! What must hold for any bytes as `qdisc_spec`. The fuzz target of that name runs the same function.
use fathom_qdisc::Spec;

/// What is accepted as a queue discipline is written back as a text that means the same.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match text.parse::<Spec>() {
        Ok(spec) => assert_eq!(spec.to_string().parse(), Ok(spec)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

//! Texts of queue disciplines.
use fathom_qdisc::Spec;

/// What is accepted as a queue discipline is written back as a text that means the same.
pub fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match text.parse::<Spec>() {
        Ok(spec) => assert_eq!(spec.to_string().parse(), Ok(spec)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

//! What holds for any content of a file. The fuzz target runs it too.
use fathom_import::{detect, import};

/// Reading ends in an error or in a valid run, whose diagnosis does not fail.
pub(crate) fn check(bytes: &[u8]) {
    let Some(format) = detect(bytes) else { return };
    match import(format, bytes) {
        Ok(run) => {
            assert_eq!(run.check(), Ok(()));
            fathom_diagnose::diagnose(&run);
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

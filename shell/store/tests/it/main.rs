//! Integration tests of `fathom-store`.
mod files;
#[path = "../../../../core/diagnose/tests/it/line.rs"]
mod line;

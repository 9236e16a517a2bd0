//! Integration tests of `fathom-store`.
mod files;
#[path = "../../../../core/analyze/diagnose/tests/it/line.rs"]
mod line;

// `line` needs it.
use fathom_units as _;

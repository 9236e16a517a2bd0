//! Integration tests of `fathom-store`.
mod files;
#[path = "../../../../core/analyze/diagnose/tests/it/line.rs"]
mod line;

// Used by the module `line`.
use fathom_units as _;

//! Integration tests of `fathom-diagnose`.
mod line;
mod verdicts;

//! Integration tests of `fathom-diagnose`.
mod captured;
mod line;
mod upload;
mod verdicts;

//! Integration tests of `fathom-diagnose`.
mod captured;
mod line;
mod months;
mod upload;
mod verdicts;

//! Integration tests of `fathom-ecn-report`.
mod golden;
mod screen;
mod survey;

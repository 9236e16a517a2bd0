//! Integration tests of `fathom-metric`.
mod reference;

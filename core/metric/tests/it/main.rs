//! Integration tests of `fathom-metric`.
mod measure;
mod reference;

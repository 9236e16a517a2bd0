//! Integration tests of `fathom-run`.
mod measure;
mod reference;

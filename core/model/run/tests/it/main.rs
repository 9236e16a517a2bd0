//! Integration tests of `fathom-run`.
mod host_traffic;
mod measure;
mod reference;

//! Integration tests of `fathom-timeline`.
mod sawtooth;

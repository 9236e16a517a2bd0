//! Integration tests of `fathom-timeline`.
mod golden;
mod hostile;
mod read;
mod recorder;
mod sawtooth;

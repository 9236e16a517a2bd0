//! Integration tests of `fathom-trace-page`.
mod golden;
mod hostile;
mod read;
mod recorder;
mod sawtooth;

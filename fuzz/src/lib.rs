//! Fuzz targets as plain functions: each panics if what must hold does not. A file a target, so that the tests of the
//! crate it is about can include it and run the committed corpus (`core/scenario/tests/it/corpus.rs`).
pub mod qdisc_spec;
pub mod scenario;
pub mod units;

//! Samples of each tool, damaged ones, and the corpus of the fuzz target.
mod bytes;
mod echoes;
mod flent;
mod hostile;
mod samples;
mod throughput;

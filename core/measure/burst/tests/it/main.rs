//! Bursts through the queue disciplines of the emulation.
mod common;
mod limits;
mod rules;

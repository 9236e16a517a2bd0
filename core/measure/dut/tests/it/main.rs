//! Tests of simulated switches with a known truth, in virtual time.
mod switch;
mod tests;

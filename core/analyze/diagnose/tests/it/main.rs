//! Integration tests of `fathom-diagnose`.
mod applications;
mod bursts;
mod captured;
mod excluded;
mod hops;
mod line;
mod local_traffic;
mod location;
mod months;
mod probes;
mod switch;
mod switches;
mod timers;
mod upload;
mod verdicts;
mod watched;

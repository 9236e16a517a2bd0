//! Tests of the whole program and of the structure of the workspace. Tests that create namespaces
//! fail without root.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod alerts;
mod applications;
mod architecture;
mod audit;
mod browsers;
mod buffer;
mod doctor;
mod dut;
mod faults;
mod fix;
mod fix_kernel;
mod help;
mod hostile;
mod imports;
mod kernel;
mod lab;
mod location;
mod mail;
mod old_kernels;
mod path;
mod ping;
mod pipeline;
mod program;
mod releases;
mod servers;
mod sim;
mod site;
mod size;
mod trace;
mod watch;
mod watch_doors;
mod watch_past;
mod watch_upkeep;
mod windows;
mod workloads;

//! Safe wrappers of system calls: the only crate with unsafe code. Each block states why it is
//! sound.
//!
//! Modules of the same name in `linux` and `windows` have the same functions, as far as programs
//! for both need them.
#![allow(unsafe_code, reason = "this crate is the one place for it")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod bounded;
pub mod clock;
mod cpu_times;
pub mod distribution;
mod echo_error;
pub mod error;
pub mod fd;
#[cfg(target_os = "linux")]
mod linux;
pub mod local;
mod medium;
pub mod pace;
mod priority;
pub mod prompt;
mod received;
mod tcp_state;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(windows)]
pub use windows::*;

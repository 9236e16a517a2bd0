//! Safe wrappers of system calls: the only crate with unsafe code. Each block states why it is
//! sound.
//!
//! Modules of the same name in `linux`, `windows` and `macos` have the same functions, as far as
//! programs for all of them need them. `elsewhere` has what `windows` and `macos` share.
#![allow(unsafe_code, reason = "this crate is the one place for it")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod bounded;
pub mod clock;
#[cfg(unix)]
mod connection;
mod cpu_times;
pub mod distribution;
mod echo_error;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
pub mod error;
pub mod fd;
#[cfg(target_os = "linux")]
mod linux;
pub mod local;
#[cfg(target_os = "macos")]
mod macos;
mod medium;
pub mod pace;
mod priority;
pub mod prompt;
mod received;
mod tcp_state;
#[cfg(windows)]
mod windows;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(target_os = "macos")]
pub use macos::*;
#[cfg(windows)]
pub use windows::*;

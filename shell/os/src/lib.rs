//! Safe wrappers of Linux system calls: the only crate with unsafe code. Each block states why it
//! is sound.
#![allow(unsafe_code, reason = "this crate is the one place for it")]
#![deny(clippy::undocumented_unsafe_blocks)]

pub mod backlog;
pub mod clock;
pub mod confine;
pub mod cpu;
pub mod datagram;
pub mod distribution;
pub mod dump;
pub mod error;
pub mod ethtool;
pub mod files;
pub mod link;
pub mod memory;
pub mod mmsg;
pub mod names;
pub mod netlink;
pub mod netns;
mod option;
pub mod pace;
pub mod poll;
pub mod process;
pub mod raw;
pub mod ring;
pub mod route;
pub mod sched;
pub mod session;
pub mod socket;
pub mod state_dir;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    path = "no_syscall_filter.rs"
)]
pub mod syscall_filter;
pub mod tcp_info;
pub mod timestamp;
pub mod tun;
pub mod userns;

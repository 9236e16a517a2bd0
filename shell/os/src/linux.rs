//! The calls of Linux.
pub mod backlog;
pub mod confine;
pub mod cpu;
pub mod datagram;
pub mod dump;
pub mod echo;
pub mod ethtool;
pub mod files;
pub mod interface;
pub mod link;
pub mod memory;
pub mod mmsg;
pub mod names;
pub mod netlink;
pub mod netns;
pub mod next_hop;
pub(crate) mod option;
pub mod poll;
pub mod process;
pub mod raw;
pub mod resolvers;
pub mod ring;
pub mod route;
pub mod sched;
pub mod session;
pub mod socket;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    path = "linux/no_syscall_filter.rs"
)]
pub mod syscall_filter;
pub(crate) mod system_clock;
pub mod tcp_info;
pub mod timestamp;
pub mod tun;
pub mod userns;

//! Traffic control of Linux without `tc`: requests to bytes and to the command that a person would type, answers to values.
//!
//! Nothing here opens a socket. A [`Request`] names its devices; whoever sends it knows their numbers. What the kernel tells is an
//! [`Object`], kept byte by byte so that it can be given back, and read as a [`Qdisc`], an [`HtbClass`] or [`Stats`].
//! Layouts: linux/pkt_sched.h, linux/pkt_cls.h, linux/if_link.h; numbers are in the order of bytes of this machine, as netlink has it.
//!
//! By hand: `netlink-packet-route` lacks `cake_mq`, and size tables (`stab`) that are given back as they were read.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod answer;
mod attribute;
pub mod bpf;
mod class;
mod filter;
mod handle;
mod link;
mod message;
mod object;
mod qdisc;
mod rate;
mod refusal;
mod request;
mod series;
mod stats;

pub use answer::{Answer, answers};
pub use attribute::{Attribute, attributes, find};
pub use class::HtbClass;
pub use filter::{Filter, Match, Mirred, U32Key};
pub use handle::Handle;
pub use link::Link;
pub use message::{Dump, Header, Message, Verb, dump, messages};
pub use object::{Object, What};
pub use qdisc::{AckFilter, Cake, Cells, Diffserv, FlowMode, FqCodel, Htb, Kind, Qdisc, Stab, Tbf};
pub use rate::{LinkLayer, RateSpec, TICK_NANOS, ticks};
pub use refusal::Refusal;
pub use request::{Missing, Request, is_interface_name};
pub use series::series_of;
pub use stats::{CakeStats, Detail, FqCodelStats, Stats, Tin};

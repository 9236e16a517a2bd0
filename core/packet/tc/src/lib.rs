//! Linux traffic control over rtnetlink: requests as bytes and as `tc` commands, and answers.
//!
//! This crate opens no socket. A [`Request`] names its devices; the sender resolves their indexes.
//! The kernel's state is an [`Object`], kept byte by byte so that it can be restored, and readable
//! as a [`Qdisc`], an [`HtbClass`] or [`Stats`]. Layouts: linux/pkt_sched.h, linux/pkt_cls.h,
//! linux/if_link.h. As in netlink, integers are in native byte order.
//!
//! Not `netlink-packet-route`, which lacks `cake_mq` and size tables (`stab`) that round-trip.
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
pub use qdisc::{AckFilter, Cake, Cells, Diffserv, FlowMode, FqCodel, Htb, Kind, Peak, Qdisc, Stab, Tbf};
pub use rate::{LinkLayer, RateSpec, TICK_NANOS, ticks};
pub use refusal::Refusal;
pub use request::{Missing, Request, ifb_name, is_interface_name};
pub use series::series_of;
pub use stats::{CakeStats, Detail, FqCodelStats, Stats, Tin};

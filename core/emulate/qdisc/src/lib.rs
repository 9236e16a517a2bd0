//! Queue disciplines for the simulator and the lab, and for tests against handwritten timelines.
//!
//! A host builds a discipline from a [`Spec`], whose text form is, for example,
//! `fifo limit 375000b` or `fq_codel`, and drives the resulting [`AnyQdisc`] through the trait
//! [`Qdisc`]. [`Stats`] counts what happened.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod any;
mod blue;
mod bucket;
mod cake;
mod codel;
mod drr;
mod dualpi2;
mod ebdp;
mod fifo;
mod fq;
mod fq_codel;
mod fq_pie;
mod htb;
mod pie;
mod red;
mod rfc970;
mod sfb;
mod sfq;
mod spec;
mod stats;
mod store;
mod switch;
mod tbf;
mod timer;
mod turns;

pub use any::{AnyQdisc, Spec};
pub use blue::{Blue, BlueParams};
pub use cake::{AckFilter, Cake, CakeParams, Cells, Diffserv, Framing, Isolation, SizeBase, TinParams};
pub use codel::{Codel, CodelParams, ControlParams};
pub use drr::{Drr, DrrParams};
pub use dualpi2::{DualPi2, DualPi2Params};
pub use ebdp::{Astar, AstarParams, Ebdp, EbdpParams};
pub use fathom_queue::{
    Actions, Backlog, DropReason, Ecn, End, MarkReason, Packet, Plugin, PluginParams, PureAck, Qdisc,
    QueuePlugin, QueuedPacket, Sink, conformance,
};
pub use fifo::{DropFrom, Fifo, FifoParams, Limit};
pub use fq::{Fq, FqParams};
pub use fq_codel::{FqCodel, FqCodelParams};
pub use fq_pie::{FqPie, FqPieParams};
pub use htb::{Htb, HtbClass, HtbMatch, HtbParams};
pub use pie::{Pie, PieControlParams, PieParams};
pub use red::{Red, RedParams};
pub use rfc970::{Rfc970, Rfc970Params};
pub use sfb::{Sfb, SfbParams};
pub use sfq::{Sfq, SfqParams};
pub use spec::{SingleQueueParams, SpecError, Variant};
pub use stats::{Count, Stats};
pub use switch::{Sharing, Switch, SwitchParams};
pub use tbf::{PeakParams, Tbf, TbfParams, TbfQueue};

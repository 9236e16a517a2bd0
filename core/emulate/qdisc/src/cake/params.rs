//! The parameters of CAKE.
use super::diffserv::Diffserv;
use super::framing::Framing;
use crate::Variant;
use fathom_units::{Bytes, Duration, Rate};

/// Parameters of [`Cake`](crate::Cake). The defaults are those of `tc-cake(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeParams {
    /// Shaper rate (`bandwidth`); `None` disables the shaper (`unlimited`, the default).
    pub rate: Option<Rate>,
    /// Adjust the rate to the arrivals (`autorate-ingress`), starting from `rate`.
    pub autorate: bool,
    /// The round-trip time that the AQM is tuned for; default 100 ms.
    pub rtt: Duration,
    /// How the DSCP selects a packet's tin; default [`Diffserv::Diffserv3`].
    pub diffserv: Diffserv,
    /// What shares the rate fairly; default [`Isolation::Triple`].
    pub isolation: Isolation,
    /// Clear the DSCP after selecting the tin.
    pub wash: bool,
    /// Which redundant ACKs to drop.
    pub ack_filter: AckFilter,
    /// Limit in wire bytes (in Linux: of memory). The default is four times what the rate sends in
    /// one RTT, at least 4 MiB and at most 10240 full packets.
    pub memory: Option<Bytes>,
    /// Shaping after the bottleneck (`ingress`): drops have used the link, so they are charged.
    pub ingress: bool,
    /// How many bytes a packet is charged for.
    pub framing: Framing,
    /// Rule for a queue's first signal. Default: what `sch_cake` documents, not what it does.
    pub variant: Variant,
}

/// What CAKE shares the rate between, in the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// `flowblind`: one queue per tin.
    Blind,
    /// `srchost`: one queue per source address.
    Source,
    /// `dsthost`: one queue per destination address.
    Destination,
    /// `hosts`: one queue per pair of addresses.
    Hosts,
    /// `flows`: one queue per flow.
    Flows,
    /// `dual-srchost`: fair between source addresses, then between the flows of each.
    DualSource,
    /// `dual-dsthost`: fair between destination addresses, then between the flows of each.
    DualDestination,
    /// `triple-isolate`: a flow's share depends on its host with more bulk flows.
    #[default]
    Triple,
}

impl Isolation {
    /// Whether flows are weighted by the bulk flows of their source, and of their destination.
    pub(super) const fn by_host(self) -> [bool; 2] {
        match self {
            Isolation::DualSource => [true, false],
            Isolation::DualDestination => [false, true],
            Isolation::Triple => [true, true],
            _ => [false, false],
        }
    }
}

/// Which queued ACKs may be dropped when a later one of the same connection arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// Redundant ACKs, but one redundant ACK always remains (`ack-filter`).
    On,
    /// Also a single redundant ACK directly before the new one (`ack-filter-aggressive`).
    Aggressive,
}

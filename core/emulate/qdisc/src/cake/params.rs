//! What can be set on CAKE.
use super::diffserv::Diffserv;
use super::framing::Framing;
use crate::Variant;
use fathom_units::{Bytes, Duration, Rate};

/// Parameters of [`Cake`](crate::Cake). Defaults are those of `tc-cake(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeParams {
    /// What the shaper lets through (`bandwidth`); `None` shapes nothing (`unlimited`, the default).
    pub rate: Option<Rate>,
    /// Set the rate from what arrives (`autorate-ingress`); `rate` is then what it begins with.
    pub autorate: bool,
    /// The round-trip time that the AQM is made for; default 100 ms.
    pub rtt: Duration,
    /// How packets are divided into tins; default [`Diffserv::Diffserv3`].
    pub diffserv: Diffserv,
    /// Between what it is fair; default [`Isolation::Triple`].
    pub isolation: Isolation,
    /// Clear the DSCP after the tin was chosen.
    pub wash: bool,
    /// Which acknowledgements may be dropped because a later one says the same.
    pub ack_filter: AckFilter,
    /// Wire bytes that it holds in all. By default four times what the rate sends in an RTT, from 4 MiB to 10240 full
    /// packets. (Linux counts memory, which is more than the bytes of a packet.)
    pub memory: Option<Bytes>,
    /// It stands behind the bottleneck (`ingress`): dropped packets have used the line too, so they are charged.
    pub ingress: bool,
    /// What a packet is charged for.
    pub framing: Framing,
    /// Whose rule for a queue's first signal; by default what `sch_cake` means to do, not what it does.
    pub variant: Variant,
}

/// Between what CAKE is fair, in the words of `tc-cake(8)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// `flowblind`: one queue in each tin.
    Blind,
    /// `srchost`: one queue for each source address.
    Source,
    /// `dsthost`: one queue for each destination address.
    Destination,
    /// `hosts`: one queue for each pair of addresses.
    Hosts,
    /// `flows`: one queue for each flow.
    Flows,
    /// `dual-srchost`: between source addresses, then between the flows of each.
    DualSource,
    /// `dual-dsthost`: between destination addresses, then between the flows of each.
    DualDestination,
    /// `triple-isolate`: a flow's share is set by that of its two hosts which has more bulk flows.
    #[default]
    Triple,
}

impl Isolation {
    /// Whether flows are weighted by their source's and by their destination's number of bulk flows.
    pub(super) const fn by_host(self) -> [bool; 2] {
        match self {
            Isolation::DualSource => [true, false],
            Isolation::DualDestination => [false, true],
            Isolation::Triple => [true, true],
            _ => [false, false],
        }
    }
}

/// Which acknowledgements in the queue may be dropped when a later one of the same connection comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// Those that leave at least one needless one behind (`ack-filter`).
    On,
    /// Also a single needless one directly before the new one (`ack-filter-aggressive`).
    Aggressive,
}

//! What the replies to probes showed, before it is judged.
use crate::{EcnFlags, PROBES, Probe};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use fathom_units::Ecn;

/// Replies to one probe at one point.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Times it was sent and answered, or has waited long enough.
    pub sent: u32,
    /// Replies of any kind.
    pub answered: u32,
    /// Those by a reset.
    pub refused: u32,
    /// Replies that show the codepoint with which the probe arrived, or for an echo the reply.
    pub seen: [u32; 4],
    /// Replies that show that the codepoint was not the sent one, but not which.
    pub unlike: u32,
    /// Flags with which a SYN arrived, and how often.
    pub flags: Vec<(EcnFlags, u32)>,
}

impl Tally {
    /// Counts a codepoint.
    pub fn see(&mut self, ecn: Ecn) {
        self.seen[ecn as usize] += 1;
    }
    /// Counts flags.
    pub fn see_flags(&mut self, flags: EcnFlags) {
        match self.flags.iter_mut().find(|(seen, _)| *seen == flags) {
            Some((_, count)) => *count += 1,
            None => self.flags.push((flags, 1)),
        }
    }
}

/// A router, or the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// Number of the hop, from 1.
    pub hop: u8,
    /// Its address, if it answered.
    pub address: Option<Ipv4Addr>,
    /// Whether it is the host.
    pub is_host: bool,
    /// Replies to each of [`PROBES`].
    pub tallies: Vec<Tally>,
}

impl Point {
    /// A point without replies.
    #[must_use]
    pub fn new(hop: u8, address: Option<Ipv4Addr>, is_host: bool) -> Self {
        Point { hop, address, is_host, tallies: PROBES.iter().map(|_| Tally::default()).collect() }
    }
    /// Replies to a probe.
    #[must_use]
    pub fn tally(&self, probe: Probe) -> &Tally {
        &self.tallies[probe.index()]
    }
    /// Replies to a probe, to be changed.
    pub fn tally_mut(&mut self, probe: Probe) -> &mut Tally {
        &mut self.tallies[probe.index()]
    }
}

/// What the segments of the host showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FromHost {
    /// Flags of the SYN-ACK after a SYN with ECE and CWR.
    pub classic_reply: Option<EcnFlags>,
    /// Flags of the SYN-ACK after a SYN with AE, CWR and ECE.
    pub accurate_reply: Option<EcnFlags>,
    /// Whether the connection negotiated ECN.
    pub has_negotiated: bool,
    /// Segments with data by codepoint.
    pub data: [u32; 4],
}

impl FromHost {
    /// Whether the host agreed to ECN, and its data arrived without ECT.
    #[must_use]
    pub fn lacks_ect(&self) -> bool {
        let total: u32 = self.data.iter().sum();
        self.has_negotiated && total > 0 && self.data[Ecn::NotEct as usize] == total
    }
}

/// All that was observed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// Routers and the host, in the order of the path.
    pub points: Vec<Point>,
    /// The segments of the host.
    pub from_host: FromHost,
    /// Where datagrams expire that get as far as what answers SYN probes as the host.
    pub intercepted_at: Option<Ipv4Addr>,
}

//! Reflects the probes of STAMP clients. There are no sessions: each probe has a reply of the same
//! size.
use crate::echo::{Request, Responder};
use crate::host_rate::HostRate;
use crate::shared::Shared;
use crate::stats::Refusal;
use fathom_os::clock::both_clocks;
use fathom_protocol::stamp::reflect;
use fathom_units::WallTime;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Probes of a host in a second, at most: one per millisecond.
const PER_SECOND: u32 = 1_000;
/// The hop limit of a probe for which the kernel reports none (RFC 5357 section 4.2.1).
const UNKNOWN_HOP_LIMIT: u8 = 255;

pub(crate) struct Stamp(HostRate);

impl Stamp {
    pub(crate) fn new() -> Stamp {
        Stamp(HostRate::new(PER_SECOND))
    }
}

impl Responder for Stamp {
    /// A frame of Ethernet: padding makes probes as long as other packets.
    const LONGEST_BYTES: usize = 1_500;

    fn answer(&mut self, shared: &Arc<Shared>, request: &Request<'_>) -> Result<(), Refusal> {
        if !self.0.admit(request.from.ip(), request.at) {
            return Err(Refusal::DatagramRate);
        }
        let (wall, now) = both_clocks(shared.clock);
        let arrival = WallTime(wall.0.saturating_sub(now.saturating_since(request.at).as_nanos()));
        let hop_limit = request.hop_limit.unwrap_or(UNKNOWN_HOP_LIMIT);
        let reply = reflect(request.bytes, hop_limit, arrival, wall).ok_or(Refusal::DatagramForm)?;
        request.reply(&reply)?;
        shared.counters.udp_answered.fetch_add(1, Relaxed);
        Ok(())
    }
}

//! Passive round-trip times of TCP flows on the interface, to remote hosts.
//!
//! Outgoing packets are captured after our own queue and incoming ones before it, so that only the
//! link and the path beyond count.
use fathom_capture::{Address, LinkType, dissect};
use fathom_flow::{Bounds, FlowId, RoundTrip, RttValidity, Sink, Times, Tracer};
use fathom_os::ring::{Framing, Ring, RingError, RingFrame};
use fathom_shape::autorate::{Delay, DelaySample};
use fathom_units::Duration;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

/// Snap length for headers: Ethernet, two VLAN tags, IPv6, the longest TCP header.
const SNAPLEN: u32 = 128;
/// Blocks of the ring processed per look: half of it. Bounded, so that looks continue even if
/// packets arrive faster than they are processed.
const BLOCKS_AT_ONCE: usize = 32;
/// Maximum number of flows. At the maximum, all flows are discarded, which loses the round trips in
/// progress.
const FLOWS: usize = 2000;
/// Maximum number of remote hosts. At the maximum, all get new numbers.
const HOSTS: usize = 1000;
/// Minimum round trips before a host counts. A host that serves one page is gone before anything is
/// learned, and would take the place of a useful one.
const LEAST_TRIPS: u32 = 10;
/// Remote hosts are numbered from here on; reflectors have lower numbers.
const FIRST_NUMBER: u16 = 0xc000;

/// Passive round-trip times of one interface.
pub struct PassiveRtt {
    ring: Ring,
    link: LinkType,
    tracer: Tracer<RttSink>,
    frames: u64,
    hosts: HashMap<Address, Host>,
    next: u16,
}

/// A remote host.
struct Host {
    number: u16,
    trips: u32,
}

/// Round trips of a remote host since the last look.
struct HostTrips {
    host: Address,
    count: u32,
    least_ns: i64,
}

/// The shortest round trip of each remote host since the last look. A host may delay an
/// acknowledgment, but no reply is too early.
#[derive(Default)]
struct RttSink {
    /// Sender of the current packet, if it came from the link.
    remote: Option<Address>,
    hosts: Vec<HostTrips>,
}

impl Sink for RttSink {
    fn round_trip(&mut self, _: FlowId, trip: &RoundTrip) {
        let Some(host) = self.remote.filter(|_| trip.validity != RttValidity::Ambiguous) else { return };
        let took_ns = trip.times.at - trip.sent_at;
        match self.hosts.iter_mut().find(|known| known.host == host) {
            Some(known) => (known.count, known.least_ns) = (known.count + 1, took_ns.min(known.least_ns)),
            None => self.hosts.push(HostTrips { host, count: 1, least_ns: took_ns }),
        }
    }
}

impl PassiveRtt {
    /// Starts capturing on an interface.
    ///
    /// # Errors
    /// What the kernel refused: it needs CAP_NET_RAW.
    pub fn open(device: &str) -> Result<PassiveRtt, RingError> {
        let ring = Ring::open(device, SNAPLEN)?;
        let link = if ring.framing() == Framing::Ethernet { LinkType::ETHERNET } else { LinkType::RAW };
        Ok(PassiveRtt { ring, link, tracer: tracer(), frames: 0, hosts: HashMap::new(), next: 0 })
    }
    /// Round trips since the last call.
    pub fn take(&mut self) -> Vec<DelaySample> {
        if self.tracer.flows() >= FLOWS {
            self.tracer = tracer();
        }
        if self.hosts.len() >= HOSTS {
            self.hosts.clear();
        }
        let PassiveRtt { ring, link, tracer, frames, .. } = self;
        let mut visit = |frame: RingFrame<'_>| {
            *frames += 1;
            note_frame(tracer, *link, *frames, &frame);
            ControlFlow::Continue(())
        };
        for _ in 0..BLOCKS_AT_ONCE {
            if ring.next_block(&mut visit).is_none() {
                break;
            }
        }
        let hosts = std::mem::take(&mut self.tracer.sink_mut().hosts);
        hosts.into_iter().filter_map(|trips| self.sample(&trips)).collect()
    }
    fn sample(&mut self, trips: &HostTrips) -> Option<DelaySample> {
        let next = &mut self.next;
        let host = self.hosts.entry(trips.host).or_insert_with(|| {
            *next = next.wrapping_add(1);
            Host { number: FIRST_NUMBER | *next, trips: 0 }
        });
        host.trips = host.trips.saturating_add(trips.count);
        let delay = Delay::RoundTrip(Duration::from_nanos(u64::try_from(trips.least_ns).ok()?));
        (host.trips >= LEAST_TRIPS).then_some(DelaySample { reflector: host.number, delay })
    }
}

fn tracer() -> Tracer<RttSink> {
    let hash_seed = RandomState::new().hash_one(());
    let bounds = Bounds { flows: FLOWS, lone_flows: FLOWS / 2, hash_seed, ..Bounds::default() };
    Tracer::bounded(RttSink::default(), bounds)
}

fn note_frame(tracer: &mut Tracer<RttSink>, link: LinkType, number: u64, frame: &RingFrame<'_>) {
    let Ok(packet) = dissect(link, frame.original_len, frame.bytes) else { return };
    tracer.sink_mut().remote = (!frame.passage.is_outgoing()).then_some(packet.source);
    tracer.packet(Times { at: frame.at, frame: number }, &packet);
}

//! Round trips of the TCP that passes the interface anyway, to the hosts beyond it.
//!
//! What leaves is captured after our own queue, what arrives before it is sent through ours: only the line and what is beyond counts.
use fathom_capture::{Address, LinkType, dissect};
use fathom_flow::{Bounds, FlowId, RoundTrip, RttValidity, Sink, Times, Tracer};
use fathom_os::ring::{Framing, Ring, RingError, RingFrame};
use fathom_shape::autorate::{Delay, DelaySample};
use fathom_units::Duration;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

/// Headers: Ethernet, two tags, IPv6, the longest TCP header.
const SNAPLEN: u32 = 128;
/// Blocks of the ring that are gone through at a look: half of it. Who is slower than what passes must still look.
const BLOCKS_AT_ONCE: usize = 32;
/// Flows that are followed; then all are forgotten, which costs the round trips that are under way.
const FLOWS: usize = 2000;
/// Remote hosts that have a number; then all get new ones.
const HOSTS: usize = 1000;
/// Round trips of a host before it counts: one that is asked for a page is gone before anything is known of it, and takes the place of
/// one that could tell.
const LEAST_TRIPS: u32 = 10;
/// Remote hosts have numbers from here on, hosts that are asked those below.
const FIRST_NUMBER: u16 = 0xc000;

/// Passive round trips of one interface.
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

/// Round trips of a remote host since it was last asked.
struct HostTrips {
    host: Address,
    count: u32,
    least_ns: i64,
}

/// The shortest round trip of each remote host since it was last asked. A host may wait before it acknowledges; no answer is too early.
#[derive(Default)]
struct RttSink {
    /// Who sent the packet that passes now, if it came from the line.
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
    /// Listens at an interface.
    ///
    /// # Errors
    /// What the kernel refused: it needs CAP_NET_RAW.
    pub fn open(device: &str) -> Result<PassiveRtt, RingError> {
        let ring = Ring::open(device, SNAPLEN)?;
        let link = if ring.framing() == Framing::Ethernet { LinkType::ETHERNET } else { LinkType::RAW };
        Ok(PassiveRtt { ring, link, tracer: tracer(), frames: 0, hosts: HashMap::new(), next: 0 })
    }
    /// What has passed since the last time.
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

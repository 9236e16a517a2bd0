//! Types of shapers, best first. Each moves the queue to this host, with the features that the
//! kernel has.
use fathom_shape::fix::Isolation;
use fathom_shape::{Codel, Framing, codel};
use fathom_tc::{
    Cake, Cells, Diffserv, Filter, FqCodel, Handle, Htb, HtbClass, Kind, LinkLayer, Match, Mirred, Peak,
    Qdisc, RateSpec, Request, Tbf, Verb, bpf,
};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate};
use std::fmt;

/// A type of shaper.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ShaperKind {
    /// CAKE on every hardware queue (Linux 7.0).
    CakeMq,
    /// CAKE.
    Cake,
    /// HTB as shaper with `fq_codel` inside.
    HtbFqCodel,
    /// TBF as shaper, which splits super-packets. Inside it, HTB schedules 256 short queues in
    /// turn; a hash assigns each flow to one.
    FlowHash,
    /// TBF with one short queue.
    Tbf,
}

impl ShaperKind {
    /// All types, best first.
    pub const ALL: [ShaperKind; 5] =
        [ShaperKind::CakeMq, ShaperKind::Cake, ShaperKind::HtbFqCodel, ShaperKind::FlowHash, ShaperKind::Tbf];
    /// Flow isolation of its queue.
    #[must_use]
    pub const fn isolation(self) -> Isolation {
        match self {
            ShaperKind::CakeMq | ShaperKind::Cake | ShaperKind::HtbFqCodel | ShaperKind::FlowHash => {
                Isolation::PerFlow
            }
            ShaperKind::Tbf => Isolation::Shared,
        }
    }
    /// Whether its queue has an AQM, which needs a round-trip time.
    #[must_use]
    pub const fn has_round_trip(self) -> bool {
        matches!(self, ShaperKind::CakeMq | ShaperKind::Cake | ShaperKind::HtbFqCodel)
    }
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ShaperKind::CakeMq => "cake_mq",
            ShaperKind::Cake => "cake",
            ShaperKind::HtbFqCodel => "htb+fq_codel",
            ShaperKind::FlowHash => "flow-hash",
            ShaperKind::Tbf => "tbf",
        }
    }
}

impl fmt::Display for ShaperKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ShaperKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        ShaperKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let known = ShaperKind::ALL.map(ShaperKind::name).join(", ");
            format!("unknown shaper {text:?} (known: {known})")
        })
    }
}

/// A shaper for one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaper {
    /// The type.
    pub kind: ShaperKind,
    /// The shaped rate.
    pub rate: Rate,
    /// Packet framing.
    pub framing: Framing,
    /// Length of the interface's own header, which it counts: 14 on Ethernet, 0 on PPP.
    pub header_bytes: u16,
    /// Largest frame of the interface in bytes: its MTU and its own header.
    pub frame_bytes: u32,
    /// It shapes ingress, after the bottleneck.
    pub ingress: bool,
    /// Round-trip time of the paths; `None` for the default of 100 ms.
    pub round_trip: Option<Duration>,
}

/// Number of queues of the flow hash, as a power of two. Flows that share a queue delay each other.
/// With 64 queues, a ping next to eight uploads shared a queue in one of eight trials and took 120
/// ms instead of 1; with 256 queues, in one of thirty.
const HASH_BITS: u32 = 8;
const QUEUES: u16 = 1 << HASH_BITS;
/// First class of the hash; and the class for packets that it cannot classify.
const FIRST_CLASS: u16 = 0x100;
const OTHERS: u16 = 0xff;
/// Size of a full Ethernet packet, as Linux counts it.
pub(crate) const FULL_PACKET: u32 = ETHERNET_FULL_FRAME.get() as u32;
/// Burst: timers have this accuracy, and nobody waits longer for another flow's burst (as in
/// sqm-scripts).
const BURST_TIME: Duration = Duration::from_millis(1);
/// Maximum delay of a packet in the single queue, or in its own queue of the hash.
const QUEUE_TIME: Duration = Duration::from_millis(15);
/// Maximum delay for ingress. The sooner senders get a signal, the less data remains in the modem:
/// with 32 downloads at 38 of 40 Mbit/s, 15 ms left 99 ms there in the first seconds and 5 ms left
/// 52. But a flow over a long path needs some queue.
const INGRESS_QUEUE_TIME: Duration = Duration::from_millis(10);
/// Minimum length of a queue in full packets: with fewer, TCP loses throughput.
const LEAST_QUEUE: u32 = 10;
/// Minimum length of a single queue for all flows, in which every packet waits for all others.
const LEAST_SINGLE_QUEUE: u32 = 5;
/// Rate of the inner scheduler relative to the shaper, so that it only schedules and never delays.
const SCHEDULER_HEADROOM: u64 = 16;

fn bytes_in(rate: Rate, time: Duration) -> u32 {
    let Bytes(bytes) = rate.bytes_in(time);
    // The kernel's limits have 32 bits, in places signed.
    u32::try_from(bytes).unwrap_or(u32::MAX).min(1 << 30)
}

impl Shaper {
    /// Number of major numbers that it uses, from its own on.
    pub const MAJORS: u16 = 2;

    fn spec(&self, rate: Rate) -> RateSpec {
        let Framing { overhead, mpu, atm } = self.framing;
        RateSpec {
            // HTB and TBF count packets with the interface's header.
            overhead: overhead.map_or(0, |bytes| bytes.saturating_sub(self.header_bytes)),
            mpu,
            link_layer: if atm { LinkLayer::Atm } else { LinkLayer::Ethernet },
            ..RateSpec::new(rate)
        }
    }
    fn burst(&self) -> u32 {
        bytes_in(self.rate, BURST_TIME).max(self.two_frames())
    }
    fn two_frames(&self) -> u32 {
        2 * self.frame_bytes.max(FULL_PACKET)
    }
    fn queue_bytes(&self) -> u32 {
        let time = if self.ingress { INGRESS_QUEUE_TIME } else { QUEUE_TIME };
        let packets = if self.kind == ShaperKind::Tbf { LEAST_SINGLE_QUEUE } else { LEAST_QUEUE };
        bytes_in(self.rate, time).max(packets * FULL_PACKET).max(self.frame_bytes)
    }
    fn cake(&self) -> Cake {
        let Framing { overhead, mpu, atm } = self.framing;
        Cake {
            rate: Some(self.rate),
            // Ingress packets were marked by other networks.
            diffserv: Some(if self.ingress { Diffserv::BestEffort } else { Diffserv::Diffserv3 }),
            ingress: self.ingress.then_some(true),
            split_gso: Some(true),
            overhead: overhead.map(i32::from),
            mpu: (mpu > 0).then_some(u32::from(mpu)),
            cells: atm.then_some(Cells::Atm),
            rtt: self.round_trip,
            ..Cake::default()
        }
    }
    /// TBF sends no packet that is larger than its burst, and a lower rate makes the burst smaller.
    /// If its first packet were larger, nothing would be sent any more. So it splits every
    /// super-packet that could be, as CAKE does: the burst of a peak rate limits the packet size.
    fn tbf(&self) -> Tbf {
        // It never limits the rate: 1.5 kB take 12 ps, and the kernel counts in nanoseconds.
        let no_limit = Rate::from_bits_per_second(1_000_000_000_000_000);
        let peak = Peak { rate: RateSpec::new(no_limit), burst: self.two_frames() };
        Tbf { rate: self.spec(self.rate), burst: self.burst(), limit: self.queue_bytes(), peak: Some(peak) }
    }
    /// Requests that replace the root of `device` with this shaper. It already shapes after the
    /// first, or briefly passes packets without a class. `major` is the major number of its root,
    /// and the next one that of the inner qdisc.
    #[must_use]
    pub fn requests(&self, device: &str, major: u16) -> Vec<Request> {
        let root = Place { device, handle: Handle::new(major, 0) };
        match self.kind {
            ShaperKind::CakeMq => vec![root.replace(Kind::CakeMq(self.cake()))],
            ShaperKind::Cake => vec![root.replace(Kind::Cake(self.cake()))],
            ShaperKind::Tbf => vec![root.replace(Kind::Tbf(self.tbf()))],
            ShaperKind::HtbFqCodel => self.htb_fq_codel(root),
            ShaperKind::FlowHash => self.flow_hash(root),
        }
    }
    fn htb_fq_codel(&self, root: Place<'_>) -> Vec<Request> {
        let own = Handle::new(root.handle.major(), 1);
        let htb = Htb { default_class: 1, ..Htb::default() };
        let Codel { target, interval, quantum } = codel(self.rate, self.round_trip);
        let fq_codel = FqCodel { quantum, target, interval, ecn: Some(true), ..FqCodel::default() };
        let inside = Handle::new(root.handle.major() + 1, 0);
        vec![
            root.replace(Kind::Htb(htb)),
            root.class(Verb::Add, self.htb_class(own)),
            root.below(own, inside, Kind::FqCodel(fq_codel)),
        ]
    }
    fn htb_class(&self, own: Handle) -> HtbClass {
        let (rate, burst) = (self.spec(self.rate), self.burst());
        HtbClass {
            parent: own.qdisc(),
            handle: own,
            rate,
            ceil: rate,
            burst,
            ceil_burst: burst,
            quantum: FULL_PACKET,
            priority: 0,
        }
    }
    fn flow_hash(&self, root: Place<'_>) -> Vec<Request> {
        let inside = Handle::new(root.handle.major() + 1, 0);
        let class = |minor| Handle::new(inside.major(), minor);
        let htb = Htb { default_class: u32::from(OTHERS), ..Htb::default() };
        let mut requests = vec![
            root.replace(Kind::Tbf(self.tbf())),
            // 1 is TBF's only class.
            root.below(Handle::new(root.handle.major(), 1), inside, Kind::Htb(htb)),
            root.class(Verb::Add, self.turn_class(class(1), inside)),
        ];
        for minor in (FIRST_CLASS..FIRST_CLASS + QUEUES).chain([OTHERS]) {
            requests.push(root.class(Verb::Add, self.turn_class(class(minor), class(1))));
            let queue = Kind::Bfifo(Some(self.queue_bytes()));
            requests.push(root.below(class(minor), Handle::NONE, queue));
        }
        let program = bpf::flow_hash(class(FIRST_CLASS).0, HASH_BITS);
        let filter =
            Filter { parent: inside, priority: 1, matches: Match::Bpf(program), class: None, action: None };
        requests.push(Request::Filter { device: root.device.to_owned(), filter });
        requests
    }
    /// A class of the scheduler. Its own rate is its share if all classes send, so that a flow
    /// below its share goes first.
    fn turn_class(&self, own: Handle, parent: Handle) -> HtbClass {
        let bits = self.rate.as_bits_per_second();
        let wide = RateSpec::new(Rate::from_bits_per_second(bits.saturating_mul(SCHEDULER_HEADROOM)));
        let share = RateSpec::new(Rate::from_bits_per_second((bits / u64::from(QUEUES)).max(8_000)));
        let rate = if parent.minor() == 0 { wide } else { share };
        let burst = 2 * FULL_PACKET;
        let ceil_burst = bytes_in(wide.rate(), BURST_TIME).max(burst);
        let burst = if parent.minor() == 0 { ceil_burst } else { burst };
        HtbClass {
            parent,
            handle: own,
            rate,
            ceil: wide,
            burst,
            ceil_burst,
            quantum: FULL_PACKET,
            priority: 0,
        }
    }
    /// The request that sets an existing shaper to this rate. Queued packets are kept.
    #[must_use]
    pub fn change_rate(&self, device: &str, major: u16) -> Request {
        let root = Place { device, handle: Handle::new(major, 0) };
        let rate = Cake { rate: Some(self.rate), ..Cake::default() };
        match self.kind {
            ShaperKind::CakeMq => root.at_root(Verb::Change, Kind::CakeMq(rate)),
            ShaperKind::Cake => root.at_root(Verb::Change, Kind::Cake(rate)),
            ShaperKind::HtbFqCodel => root.class(Verb::Change, self.htb_class(Handle::new(major, 1))),
            ShaperKind::FlowHash | ShaperKind::Tbf => root.at_root(Verb::Change, Kind::Tbf(self.tbf())),
        }
    }
}

/// Position of a qdisc.
#[derive(Clone, Copy)]
struct Place<'a> {
    device: &'a str,
    handle: Handle,
}

impl Place<'_> {
    fn at_root(self, verb: Verb, kind: Kind) -> Request {
        let qdisc = Qdisc { parent: Handle::ROOT, handle: self.handle, kind, stab: None };
        Request::Qdisc { verb, device: self.device.to_owned(), qdisc }
    }
    fn replace(self, kind: Kind) -> Request {
        self.at_root(Verb::Replace, kind)
    }
    fn below(self, parent: Handle, handle: Handle, kind: Kind) -> Request {
        let qdisc = Qdisc { parent, handle, kind, stab: None };
        Request::Qdisc { verb: Verb::Add, device: self.device.to_owned(), qdisc }
    }
    fn class(self, verb: Verb, class: HtbClass) -> Request {
        Request::Class { verb, device: self.device.to_owned(), class }
    }
}

/// Redirects all ingress packets of `device` to the egress of `to`.
pub(crate) fn redirect(device: &str, parent: Handle, priority: u16, matches: Match, to: &str) -> Request {
    let filter = Filter { parent, priority, matches, class: None, action: Some(Mirred::to(to)) };
    Request::Filter { device: device.to_owned(), filter }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of a shaper for paths with this round-trip time.
    fn shown(kind: ShaperKind, rate: u64, round_trip: Option<Duration>) -> String {
        let shaper = Shaper {
            kind,
            rate: Rate::from_bits_per_second(rate),
            framing: Framing::default(),
            header_bytes: 14,
            frame_bytes: FULL_PACKET,
            ingress: false,
            round_trip,
        };
        shaper.requests("eth0", 1).iter().map(|request| format!("{request}\n")).collect()
    }

    #[test]
    fn a_long_path_has_a_longer_interval() {
        let far = Some(Duration::from_millis(900));
        assert!(!shown(ShaperKind::Cake, 10_000_000, None).contains(" rtt "));
        assert!(shown(ShaperKind::Cake, 10_000_000, far).contains(" rtt 900000us"));
        let near = shown(ShaperKind::HtbFqCodel, 10_000_000, None);
        assert!(!near.contains(" interval ") && !near.contains(" target "), "{near}");
        let satellite = shown(ShaperKind::HtbFqCodel, 10_000_000, far);
        assert!(satellite.contains(" target 45000us interval 900000us"), "{satellite}");
        // A packet of a slow link takes longer than a twentieth of the round trip.
        let slow = shown(ShaperKind::HtbFqCodel, 100_000, far);
        assert!(slow.contains(" interval 900000us") && slow.contains(" target 18"), "{slow}");
    }
}

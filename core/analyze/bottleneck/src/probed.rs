//! Queues that UDP filled, seen by probes of the same path: echoes, DNS queries, QUIC handshakes.
//!
//! A UDP packet does not say when it was sent, so a single capture cannot show its delay. Probes
//! can: their response times rise while packets wait.
use crate::datagrams::{DatagramFlows, Datagrams, Route};
use crate::delay_curve::DelayPoint;
use crate::inspect::MIN_QUEUE_NS;
use crate::probes::Track;
use crate::report::StandingDelay;
use alloc::vec::Vec;
use fathom_capacity::{RateSpan, Step, pieces, rates};
use fathom_capture::Address;
use fathom_flow::ProbeKind;
use fathom_stats::{median, percentile};

/// Fewer bytes are not a bulk transfer, as for TCP.
const BULK_BYTES: f64 = 64_000.0;
/// Calls and games send smaller packets on average. They do not fill a queue.
const BULK_PACKET_BYTES: u64 = 500;
/// A flow that sends less while packets wait than at other times did not make them wait. Rates over
/// short times vary by several percent.
const MIN_CONTRAST: f64 = 0.9;
/// Fewer packets of a flow without bulk data are no load: five seconds of a call.
const CALL_PACKETS: u64 = 250;
/// Fewer responses are no sample.
const MIN_ANSWERS: usize = 8;
/// Minimum number of responses without load, so that the minimum is that of an empty path.
const MIN_IDLE: usize = 3;
/// A load does not explain delays if the median without it is at least this share.
const CAUSED_RATIO: f64 = 0.5;
/// Packets wait while the delay exceeds this share of its 95th percentile.
const STANDING_RATIO: f64 = 0.25;
/// Maximum number of flows of each kind that are reported.
const NAMED: usize = 8;
/// Size of an Ethernet header, which Linux counts as part of a packet.
const ETHERNET_BYTES: f64 = 14.0;

/// A queue that delayed probes.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbedQueue {
    /// The host that sent the probes, and the one that answered.
    pub ends: [Address; 2],
    /// Kind of the probes.
    pub kind: ProbeKind,
    /// Number of responses to probes that were sent during the load.
    pub answers: u64,
    /// Number of probes without a response in the whole capture.
    pub unanswered: u64,
    /// Minimum response time in the whole capture, ns.
    pub base_ns: f64,
    /// Probes were answered without load, so the minimum is that of an empty path.
    pub is_base_idle: bool,
    /// Response time above the minimum during the load.
    pub standing: StandingDelay,
    /// Its maximum, ns.
    pub max_ns: f64,
    /// Response time above the minimum over time, also without load.
    pub delays: Vec<DelayPoint>,
    /// UDP flows that may have filled the queue, largest first; empty if none was captured.
    pub loads: Vec<DatagramLoad>,
    /// Other UDP flows in the same direction, largest first.
    pub others: Vec<Route>,
    /// Rate of the link, if the load was captured after the queue.
    pub rate: Option<ArrivalRate>,
}

/// A UDP flow that sent while probes waited.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DatagramLoad {
    /// Address and port of the sender and of the receiver.
    pub ends: [(Address, u16); 2],
    /// Its rate in IP packets while probes waited; its mean rate if none waited.
    pub bits_per_second: f64,
    /// Its share of the bytes of all UDP flows in this direction at that time.
    pub bytes_ratio: f64,
    /// It was captured after the queue, so the rate is that of the arrivals.
    pub is_arriving: bool,
}

/// Rate at which UDP left a queue that was never empty.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ArrivalRate {
    /// In bits of IP packets.
    pub ip: RateSpan,
    /// In bits of Ethernet frames without checksum.
    pub frame_bits_per_second: f64,
}

/// A UDP flow of a capture, in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DatagramFlow {
    /// Address and port of the sender and of the receiver.
    pub ends: [(Address, u16); 2],
    /// Number of packets.
    pub packets: u64,
    /// Bytes of these IP packets.
    pub ip_bytes: u64,
    /// Time of the first packet, ns since the start of the capture.
    pub first_ns: f64,
    /// Time of the last packet.
    pub last_ns: f64,
}

impl DatagramFlow {
    pub(crate) fn new((ends, flow): (Route, &Datagrams)) -> Self {
        let (first_ns, last_ns) = (flow.first as f64, flow.last as f64);
        DatagramFlow { ends, packets: flow.packets, ip_bytes: flow.ip_bytes, first_ns, last_ns }
    }
}

/// Side of the capture point on which a host is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Prober,
    Answerer,
}

/// Side of `host`. Other hosts of the same network, by its usual size, are on the same side.
fn side(host: Address, [prober, answerer]: [Address; 2]) -> Option<Side> {
    let bits = if host.is_v4() { 8 } else { 64 };
    let is_near = |other: Address| other.bits() >> bits == host.bits() >> bits;
    match (host == prober, host == answerer, is_near(prober), is_near(answerer)) {
        (true, ..) | (false, false, true, false) => Some(Side::Prober),
        (_, true, ..) | (false, false, false, true) => Some(Side::Answerer),
        _ => None,
    }
}

/// Whether a flow was captured after the queue on the loop from the capture point to the answerer
/// and back; `None` if its path is unknown.
fn is_arriving(route: &Route, ends: [Address; 2]) -> Option<bool> {
    match (side(route[0].0, ends), side(route[1].0, ends)) {
        (Some(Side::Prober), Some(Side::Answerer) | None) | (None, Some(Side::Answerer)) => Some(false),
        (Some(Side::Answerer), Some(Side::Prober) | None) | (None, Some(Side::Prober)) => Some(true),
        _ => None,
    }
}

/// Times in ns, each from a start to an end, in order and without overlap.
struct Times(Vec<(f64, f64)>);

impl Times {
    fn joined(all: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut sorted: Vec<(f64, f64)> = all.collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joined: Vec<(f64, f64)> = Vec::new();
        for (from, to) in sorted {
            match joined.last_mut().filter(|last| from <= last.1) {
                Some(last) => last.1 = last.1.max(to),
                None => joined.push((from, to)),
            }
        }
        Times(joined)
    }
    fn has(&self, at: f64) -> bool {
        let next = self.0.partition_point(|span| span.0 <= at);
        next.checked_sub(1).and_then(|place| self.0.get(place)).is_some_and(|span| at <= span.1)
    }
    fn overlaps(&self, from: f64, to: f64) -> bool {
        self.0.iter().any(|span| span.0 <= to && from <= span.1)
    }
    /// Total time, counted in bins of `width` with their center in it.
    fn length(&self, width: f64) -> f64 {
        let centers = |span: &(f64, f64)| {
            let [first, last] = [span.0 / width - 0.5, span.1 / width - 0.5];
            (libm::floor(last) - libm::ceil(first) + 1.0).max(0.0)
        };
        width * self.0.iter().map(centers).sum::<f64>()
    }
    /// Bytes of a flow in these times, and its rate in bit/s.
    fn traffic(&self, flow: &Datagrams) -> Option<(f64, f64)> {
        // Packets also wait after the flow has ended, until the queue is empty.
        let (first, last) = (flow.first as f64, flow.last as f64);
        let own = self.0.iter().map(|span| (span.0.max(first), span.1.min(last)));
        let during = Times(own.filter(|span| span.0 < span.1).collect());
        let length = during.length(flow.grid.width_ns());
        let bytes: f64 = flow.bytes().filter(|(at, _)| during.has(*at)).map(|(_, bytes)| bytes).sum();
        (length > 0.0).then(|| (bytes, 8e9 * bytes / length))
    }
}

/// A flow on the path of the probes.
struct Candidate<'a> {
    route: Route,
    flow: &'a Datagrams,
    is_arriving: bool,
}

impl Candidate<'_> {
    fn is_bulk(&self) -> bool {
        self.flow.ip_bytes as f64 >= BULK_BYTES && self.flow.ip_bytes >= BULK_PACKET_BYTES * self.flow.packets
    }
    fn mean_rate(&self) -> f64 {
        8e9 * self.flow.ip_bytes as f64 / ((self.flow.last - self.flow.first) as f64).max(1.0)
    }
    fn span(&self) -> (f64, f64) {
        (self.flow.first as f64, self.flow.last as f64)
    }
}

/// The queue that the probes of `track` met, if they show that there was or was not one.
/// `base_ns` is the minimum response time of all probes and connections of this path.
pub(crate) fn probed_queue(
    ends: [Address; 2],
    kind: ProbeKind,
    track: &Track,
    base_ns: f64,
    flows: &DatagramFlows,
) -> Option<ProbedQueue> {
    let answers: Vec<DelayPoint> = track.curve().collect();
    let on_path: Vec<Candidate<'_>> = flows
        .by_size()
        .into_iter()
        .filter_map(|(route, flow)| Some(Candidate { route, flow, is_arriving: is_arriving(&route, ends)? }))
        .collect();
    let mut bulk: Vec<&Candidate<'_>> = on_path.iter().filter(|one| one.is_bulk()).collect();
    let is_call = bulk.is_empty();
    if is_call {
        // Of a call, both directions are its load.
        bulk = on_path.iter().filter(|one| one.flow.packets >= CALL_PACKETS).take(2).collect();
    }
    let active = Times::joined(bulk.iter().map(|one| one.span()));
    let is_loaded = |answer: &&DelayPoint| active.overlaps(answer.at_ns - answer.mean_ns, answer.at_ns);
    let loaded: Vec<&DelayPoint> = answers.iter().filter(is_loaded).collect();
    if loaded.len() < MIN_ANSWERS {
        return None;
    }
    let mut added: Vec<f64> = loaded.iter().map(|answer| answer.mean_ns - base_ns).collect();
    let mut at = |share| percentile(&mut added, share).unwrap_or(0.0).max(0.0);
    let standing = StandingDelay { p5_ns: at(0.05), p50_ns: at(0.5), p90_ns: at(0.9), p95_ns: at(0.95) };
    let waits_from = (STANDING_RATIO * standing.p95_ns).max(MIN_QUEUE_NS);
    let has_waited = |answer: &&&DelayPoint| answer.mean_ns - base_ns >= waits_from;
    let span = |answer: &DelayPoint| (answer.at_ns - answer.mean_ns, answer.at_ns);
    let waited = Times::joined(loaded.iter().filter(has_waited).map(|answer| span(answer)));
    let calm = Times::joined(answers.iter().filter(|answer| !has_waited(&answer)).map(span));
    let is_raised = standing.p95_ns >= MIN_QUEUE_NS;
    let idle: Vec<f64> =
        answers.iter().filter(|answer| !is_loaded(answer)).map(|answer| answer.mean_ns - base_ns).collect();
    // Delays that are about as long without the load have another cause.
    let idle_p50_ns = median(idle.iter().copied()).filter(|_| idle.len() >= MIN_IDLE);
    let is_always = idle_p50_ns.is_some_and(|calm_ns| calm_ns >= CAUSED_RATIO * standing.p50_ns);
    let loads = if is_raised && (is_call || is_always) {
        Vec::new()
    } else {
        // Single late responses say nothing about the rate.
        let waited = if is_raised { &waited } else { &Times(Vec::new()) };
        loads(&bulk, &on_path, [waited, &calm])
    };
    if loads.is_empty() && kind != ProbeKind::Echo {
        // A slow server delays its answers too.
        return None;
    }
    let arriving = loads.first().is_some_and(|first| first.is_arriving);
    let others = on_path.iter().filter(|one| {
        let is_load = loads.iter().any(|load| load.ends == one.route);
        !is_load && one.is_arriving == arriving && one.flow.packets >= CALL_PACKETS
    });
    let delays: Vec<DelayPoint> = answers.iter().map(|answer| answer.above(base_ns)).collect();
    let width_ns = on_path.first().map_or(1.0, |one| one.flow.grid.width_ns());
    Some(ProbedQueue {
        ends,
        kind,
        answers: loaded.len() as u64,
        unanswered: track.unanswered,
        base_ns,
        is_base_idle: idle.iter().filter(|above_ns| **above_ns < waits_from).count() >= MIN_IDLE,
        standing,
        max_ns: loaded.iter().map(|answer| answer.max_ns - base_ns).fold(0.0, f64::max),
        rate: if arriving { arrival_rate(&on_path, &delays, waits_from, width_ns) } else { None },
        delays,
        others: others.map(|one| one.route).take(NAMED).collect(),
        loads,
    })
}

/// The flows that sent no less while probes waited than at other times, largest first.
fn loads(
    bulk: &[&Candidate<'_>],
    on_path: &[Candidate<'_>],
    [waited, calm]: [&Times; 2],
) -> Vec<DatagramLoad> {
    let load = |one: &&Candidate<'_>| {
        let (bytes, bits_per_second) =
            waited.traffic(one.flow).unwrap_or((one.flow.ip_bytes as f64, one.mean_rate()));
        let otherwise = calm.traffic(one.flow).map_or(0.0, |traffic| traffic.1);
        if waited.length(one.flow.grid.width_ns()) > 0.0 && bits_per_second < MIN_CONTRAST * otherwise {
            return None;
        }
        let all = on_path.iter().filter(|other| other.is_arriving == one.is_arriving);
        let sum: f64 = all
            .map(|other| waited.traffic(other.flow).map_or(other.flow.ip_bytes as f64, |traffic| traffic.0))
            .sum();
        let (ends, is_arriving) = (one.route, one.is_arriving);
        Some(DatagramLoad { ends, bits_per_second, bytes_ratio: bytes / sum.max(1.0), is_arriving })
    };
    let mut loads: Vec<DatagramLoad> = bulk.iter().filter_map(load).collect();
    loads.sort_by(|a, b| b.bits_per_second.total_cmp(&a.bits_per_second));
    // Those in the other direction filled another queue.
    let first = loads.first().map(|first| first.is_arriving);
    loads.retain(|other| Some(other.is_arriving) == first);
    loads.truncate(NAMED);
    loads
}

/// Rate at which all UDP from the other side arrived while the queue was not empty.
fn arrival_rate(
    on_path: &[Candidate<'_>],
    delays: &[DelayPoint],
    waits_from: f64,
    width_ns: f64,
) -> Option<ArrivalRate> {
    let arriving = || on_path.iter().filter(|one| one.is_arriving);
    let width_ns = arriving().map(|one| one.flow.grid.width_ns()).fold(width_ns, f64::max);
    let mut steps: Vec<Step> = Vec::new();
    let cell = |at: f64| libm::floor(at / width_ns);
    let until = |at: f64| (cell(at) + 1.0) * width_ns;
    for (at, bytes) in arriving().flat_map(|one| one.flow.bytes()) {
        steps.push(Step { until_ns: until(at), bytes, delay_ns: None });
    }
    for delay in delays {
        steps.push(Step { until_ns: until(delay.at_ns), bytes: 0.0, delay_ns: Some(delay.min_ns) });
    }
    steps.sort_by(|a, b| a.until_ns.total_cmp(&b.until_ns));
    steps.dedup_by(|later, kept| {
        let is_same = later.until_ns == kept.until_ns;
        if is_same {
            kept.bytes += later.bytes;
            kept.delay_ns = kept.delay_ns.or(later.delay_ns);
        }
        is_same
    });
    let (bytes, packets) = arriving()
        .fold((0, 0), |(bytes, packets), one| (bytes + one.flow.ip_bytes, packets + one.flow.packets));
    let packet_bytes = bytes as f64 / packets.max(1) as f64;
    let ip = rates(&pieces(&steps, width_ns, waits_from, packet_bytes), packet_bytes)?.typical;
    let frame_bits_per_second = ip.bits_per_second * (1.0 + ETHERNET_BYTES / packet_bytes.max(1.0));
    Some(ArrivalRate { ip, frame_bits_per_second })
}

//! Bursts of echo requests: their replies return over another link, and the host may limit them.
use crate::common::{Datagram, Nobody, burst, departures, link};
use fathom_burst::{Buffer, BurstPlan, BurstPlanner, EchoPath, echo_path, estimate};
use fathom_link::Bottleneck;
use fathom_run::{BufferLimit, Burst, ManagementRule};
use fathom_units::{Bytes, Rng, Time};

const BUDGET: u64 = 40_000_000;
const MINUTE_NS: u64 = 60_000_000_000;

/// Replies that a host sends: so many per second, and so many at once.
#[derive(Clone, Copy)]
struct ReplyLimit {
    per_second: f64,
    at_once: f64,
}

/// A line to a host that answers echo requests, and nothing else.
struct EchoLine {
    up: Bottleneck<Datagram>,
    down: Bottleneck<Datagram>,
    limit: ReplyLimit,
    /// The host pauses for 10 ms this often, and then answers all that waited.
    pauses_every: u64,
    tokens: f64,
    filled_ns: u64,
    now: u64,
    sent_bytes: u64,
}

/// What bursts found, and their path.
struct Found {
    buffer: Option<Buffer>,
    path: EchoPath,
    bursts: usize,
}

impl EchoLine {
    fn new((up, up_rate): (&str, &str), (down, down_rate): (&str, &str)) -> Self {
        let limit = ReplyLimit { per_second: 1e9, at_once: 1e9 };
        let [up, down] = [(up, up_rate), (down, down_rate)].map(|(queue, rate)| link(queue, rate, "0%", 7));
        EchoLine { up, down, limit, pauses_every: u64::MAX, tokens: 1e9, filled_ns: 0, now: 0, sent_bytes: 0 }
    }
    fn limited(self, per_second: f64, at_once: f64) -> Self {
        EchoLine { limit: ReplyLimit { per_second, at_once }, tokens: at_once, ..self }
    }
    fn answers(&mut self, at: u64) -> bool {
        let earned = (at - self.filled_ns) as f64 / 1e9 * self.limit.per_second;
        self.tokens = (self.tokens + earned).min(self.limit.at_once);
        self.filled_ns = at;
        let has_token = self.tokens >= 1.0;
        self.tokens -= if has_token { 1.0 } else { 0.0 };
        has_token
    }
    fn send(&mut self, plan: &BurstPlan) -> Burst {
        let sent_ns = departures(plan, self.now, u64::MAX);
        let len = u64::from(plan.payload_bytes) + 28;
        let mut at_host = Vec::new();
        let mut out = |p: Datagram, t: Time| at_host.extend(p.number.map(|number| (number, t)));
        for (number, at) in sent_ns.iter().enumerate() {
            let now = Time::from_nanos(*at);
            self.up.advance(now, &mut Nobody, &mut out);
            let flow = plan.is_echoed(number as u32).into();
            self.up.arrive(Datagram { number: Some(number), len, flow, ecn: plan.ecn }, now, &mut Nobody);
        }
        self.now = sent_ns.last().unwrap() + MINUTE_NS;
        self.up.advance(Time::from_nanos(self.now), &mut Nobody, &mut out);
        let mut received_ns = vec![None; sent_ns.len()];
        let mut back = |p: Datagram, t: Time| received_ns[p.number.unwrap()] = Some(t.as_nanos());
        for (number, arrived) in at_host {
            let pause = arrived.as_nanos() / self.pauses_every * self.pauses_every;
            let at = if pause > 0 { arrived.max(Time::from_nanos(pause + 10_000_000)) } else { arrived };
            self.down.advance(at, &mut Nobody, &mut back);
            if plan.is_echoed(number as u32) && self.answers(at.as_nanos()) {
                self.down.arrive(
                    Datagram { number: Some(number), len, flow: 1, ecn: plan.ecn },
                    at,
                    &mut Nobody,
                );
            }
        }
        self.now += MINUTE_NS;
        self.down.advance(Time::from_nanos(self.now), &mut Nobody, &mut back);
        self.sent_bytes += plan.bytes().get();
        burst(plan, sent_ns, received_ns)
    }
    fn measure(&mut self, budget: u64) -> Found {
        let (mut planner, mut bursts) = (BurstPlanner::echo(Bytes(budget)), Vec::new());
        while let Some(plan) = planner.next_burst() {
            let burst = self.send(&plan);
            planner.add(&burst);
            bursts.push(burst);
        }
        let path = echo_path(&bursts.iter().collect::<Vec<_>>()).unwrap();
        Found { buffer: estimate(planner.responses()), path, bursts: bursts.len() }
    }
}

const PLAIN: EchoPath = EchoPath { is_upload: true, is_per_flow: false, is_limited: false };

fn close(name: &str, measured: f64, truth: f64, tolerance: f64) {
    assert!((measured / truth - 1.0).abs() <= tolerance, "{name}: {measured} instead of {truth}");
}

/// Uploads of 0.2 to 100 Mbit/s, downloads as fast to ten times as fast: the buffer within 5 %.
#[test]
fn random_uploads_are_measured_by_their_round_trips() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut log = |low: f64, high: f64| low * (high / low).powf(rng.next_f64());
        let (rate, faster) = (log(2e5, 1e8), log(1.0, 10.0));
        let bytes = (log(30.0, (20.0 * rate / 8.0 / 1442.0).clamp(31.0, 1_000.0)) * 1442.0).round();
        let queue = format!("fifo limit {bytes:.0}b");
        let (up, down) = (format!("{rate:.0}bit"), format!("{:.0}bit", rate * faster));
        let name = format!("seed {seed}: {queue} at {up} up, {down} down");
        let found = EchoLine::new((&queue, &up), ("fifo limit 100p", &down)).measure(BUDGET);
        let buffer = found.buffer.expect(&name);
        assert_eq!(found.path, PLAIN, "{name}: {buffer:?}");
        close(&name, buffer.rate_bits_per_second.value, rate, 0.01);
        close(&name, buffer.bytes.value, bytes, 0.05);
        assert_eq!((buffer.limit, buffer.is_lower_bound), (Some(BufferLimit::Bytes), false), "{name}");
        assert_eq!(buffer.rule, Some(ManagementRule::TailDrop), "{name}");
    }
}

/// Where replies wait, no buffer is that of the upload.
#[test]
fn a_slower_download_is_recognized() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let (up, slower) = (1e6 * 100_f64.powf(rng.next_f64()), 1.25 + 20.0 * rng.next_f64());
        let rates = [up, up / slower].map(|rate| format!("{rate:.0}bit"));
        let queue = format!("fifo limit {}p", 30 + rng.below(400));
        let mut line = EchoLine::new((&queue, &rates[0]), (&queue, &rates[1]));
        let found = line.measure(BUDGET);
        assert!(!found.path.is_upload, "seed {seed}: {queue} at {rates:?}: {:?}", found.buffer);
    }
    // A fair queue of two flows carries as many packets between two requests.
    let mut line = EchoLine::new(("fifo limit 100p", "15mbit"), ("fifo limit 100p", "10mbit"));
    assert!(!line.measure(BUDGET).path.is_upload);
}

/// In a fair queue, requests do not wait behind datagrams of another flow.
#[test]
fn a_fair_queue_of_the_upload_is_recognized() {
    for queue in ["fq_codel", "cake", "sfq"] {
        for rate in ["1mbit", "10mbit", "45mbit"] {
            let found = EchoLine::new((queue, rate), ("fifo limit 100p", "50mbit")).measure(BUDGET);
            let path = EchoPath { is_upload: true, is_per_flow: true, is_limited: false };
            assert_eq!(found.path, path, "{queue} at {rate}: {:?}", found.buffer);
        }
        let found = EchoLine::new(("fifo limit 100p", "50mbit"), (queue, "10mbit")).measure(BUDGET);
        assert!(!found.path.is_upload, "{queue} of the download: {:?}", found.buffer);
    }
}

/// The rates at which hosts answer: by netfilter, Linux and FreeBSD. None is a policer, an AQM or a
/// small buffer, and nothing is sent for long.
#[test]
fn a_host_that_limits_its_replies_is_no_policer() {
    for (per_second, at_once) in [(10.0, 5.0), (100.0, 5.0), (100.0, 50.0), (250.0, 250.0), (1_000.0, 50.0)] {
        for rate in ["1mbit", "5mbit", "20mbit", "100mbit", "10gbit"] {
            let line = EchoLine::new(("fifo limit 100000b", rate), ("fifo limit 100p", "10gbit"));
            let found = line.limited(per_second, at_once).measure(BUDGET);
            let name = format!("{per_second}/s, {at_once} at once, {rate}: {:?}", found.buffer);
            assert!(found.bursts < 40, "{name}");
            let Some(buffer) = found.buffer else {
                assert!(found.path.is_limited, "{name}");
                continue;
            };
            assert!(matches!(buffer.rule, None | Some(ManagementRule::TailDrop)), "{name}");
            assert!(!buffer.drops_early, "{name}");
            assert!(buffer.is_lower_bound || buffer.bytes.value >= 95_000.0, "{name}");
            assert!(buffer.bytes.value <= 105_000.0, "{name}");
        }
    }
}

/// Replies that a busy host sends together left the queue one by one before.
#[test]
fn a_host_that_pauses_does_not_change_the_rule() {
    for rate in ["2mbit", "5mbit", "20mbit"] {
        for pauses_every in [25_000_000, 41_000_000, 87_000_000] {
            let mut line = EchoLine::new(("fifo limit 256000b", rate), ("fifo limit 1000p", "100mbit"));
            line.pauses_every = pauses_every;
            let buffer = line.measure(BUDGET).buffer.unwrap();
            let name = format!("{rate}, {pauses_every}: {buffer:?}");
            assert_eq!(buffer.rule, Some(ManagementRule::TailDrop), "{name}");
            close(&name, buffer.bytes.value, 256_000.0, 0.05 + 0.010 / buffer.delay_s);
        }
    }
}

/// One burst waits for a host that pauses for long: this is no wait of the buffer.
#[test]
fn a_pause_of_the_host_is_no_delay_of_the_buffer() {
    let mut line = EchoLine::new(("fifo limit 256000b", "5mbit"), ("fifo limit 1000p", "100mbit"));
    let (mut planner, mut number) = (BurstPlanner::echo(Bytes(BUDGET)), 0);
    while let Some(plan) = planner.next_burst() {
        let mut burst = line.send(&plan);
        number += 1;
        if number == 6 {
            burst.received_ns.iter_mut().skip(100).take(40).flatten().for_each(|at| *at += 480_000_000);
        }
        planner.add(&burst);
    }
    let buffer = estimate(planner.responses()).unwrap();
    close("delay", buffer.delay_s, 0.41, 0.05);
    close("bytes", buffer.bytes.value, 256_000.0, 0.05);
}

/// What fills the buffer is known from its delay, although most requests are not answered.
#[test]
fn the_buffer_is_found_although_the_host_limits_its_replies() {
    let line = EchoLine::new(("fifo limit 100000b", "5mbit"), ("fifo limit 100p", "50mbit"));
    let found = line.limited(100.0, 50.0).measure(BUDGET);
    let buffer = found.buffer.unwrap();
    assert_eq!(found.path, EchoPath { is_upload: true, is_per_flow: false, is_limited: true }, "{buffer:?}");
    close("bytes", buffer.bytes.value, 100_000.0, 0.05);
    close("rate", buffer.rate_bits_per_second.value, 5e6, 0.02);
    assert!(!buffer.is_lower_bound, "{buffer:?}");
}

/// A shaper lets 3,200 bytes pass at once: the first packets do not show the rate of the link.
#[test]
fn the_bucket_of_a_shaper_is_not_its_rate() {
    for at_once in [5, 8, 12, 16, 20, 30, 50] {
        let queue = "tbf rate 5mbit burst 3200b limit 100000b";
        let line = EchoLine::new((queue, "100mbit"), ("fifo limit 100p", "50mbit"));
        let found = line.limited(100.0, f64::from(at_once)).measure(BUDGET);
        let name = format!("{at_once} at once: {:?}", found.buffer);
        assert!(found.path.is_limited, "{name}");
        let Some(buffer) = found.buffer else { continue };
        assert!(buffer.bytes.value <= 105_000.0, "{name}");
        assert!(buffer.is_lower_bound || buffer.bytes.value >= 95_000.0, "{name}");
        close(&name, buffer.rate_bits_per_second.value, 5e6, 0.05);
        assert_eq!((buffer.rule, buffer.drops_early), (None, false), "{name}");
    }
}

#[test]
fn a_budget_is_enforced_and_gives_a_bound() {
    let mut line = EchoLine::new(("fifo limit 10mb", "8mbit"), ("fifo limit 100p", "50mbit"));
    let found = line.measure(2_000_000);
    assert!(line.sent_bytes <= 2_000_000, "{}", line.sent_bytes);
    let buffer = found.buffer.unwrap();
    assert!(found.path.is_upload && buffer.is_lower_bound, "{buffer:?}");
    assert!((300_000.0..2_000_000.0).contains(&buffer.bytes.value), "{}", buffer.bytes.value);
}

/// A host that cannot send as fast as the line finds nothing.
#[test]
fn a_fast_line_shows_no_queue() {
    let found = EchoLine::new(("fifo limit 100p", "20gbit"), ("fifo limit 100p", "20gbit")).measure(BUDGET);
    assert_eq!((found.buffer, found.path.is_limited), (None, false));
}

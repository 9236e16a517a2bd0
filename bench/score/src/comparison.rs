//! Fathom and other tools on paths of the kernel, each against the queue during its own run.
use crate::claims::{ClaimKind, MAX_SEEN, Tolerance};
use crate::explain::Explained;
use crate::kernel::Peers;
use crate::measure::alone;
use fathom_link::BottleneckParams;
use fathom_qdisc::Spec;
use fathom_run::Conclusion;
use fathom_units::{Direction, ETHERNET_PER_PAYLOAD};
use std::fmt::Write as _;

/// Delays in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Delay {
    pub(crate) p50_s: f64,
    /// 99th percentile: a reported maximum between this and the true one is right, as for Fathom.
    late_s: f64,
    max_s: f64,
}

impl Delay {
    pub(crate) fn of(mut delays: Vec<f64>) -> Option<Self> {
        let mut at = |p| fathom_stats::percentile(&mut delays, p);
        Some(Delay { p50_s: at(0.5)?, late_s: at(MAX_SEEN)?, max_s: at(1.0)? })
    }
    pub(crate) fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Delay { p50_s: of(self.p50_s), late_s: of(self.late_s), max_s: of(self.max_s) }
    }
}

/// How many figures of a tool are right.
#[derive(Clone, Copy, Default)]
struct Count {
    right: u32,
    all: u32,
}

impl Count {
    fn add(&mut self, is_right: bool) {
        self.right += u32::from(is_right);
        self.all += 1;
    }
}

/// The table of all tools, filled path by path.
#[derive(Default)]
pub(crate) struct Table {
    text: String,
    /// Medians and maxima of fping, irtt and Fathom.
    delays: [[Count; 2]; 3],
    /// Rates of iperf3 and Fathom.
    rates: [Count; 2],
}

impl Table {
    pub(crate) fn add(&mut self, explained: &Explained<'_>, peers: &Peers) -> Result<(), String> {
        let hop = explained.measured.plan.line.hops.first().ok_or("no hop")?;
        let side: &BottleneckParams = if peers.direction == Direction::Up { &hop.up } else { &hop.down };
        let rate = side.nominal_rate().map_or(0.0, |rate| rate.as_bits_per_second() as f64);
        // A probe waits behind everything in a FIFO only. Elsewhere it may wait for less.
        let is_fifo = matches!(side.queue, Spec::Fifo(_));
        let theirs = is_fifo.then_some(peers.waits);
        let own = waits(explained, peers.direction).filter(|_| is_fifo);
        let found =
            [(peers.fping, theirs), (peers.irtt, theirs), (increase(explained, peers.direction), own)];
        for (counts, (delay, true_delay)) in self.delays.iter_mut().zip(found) {
            add(counts, delay, true_delay);
        }
        let capacity = explained
            .claims
            .iter()
            .find(|claim| claim.kind == ClaimKind::Capacity && claim.about == peers.direction.name())
            .and_then(|claim| claim.made.as_ref()?.error);
        let payload = rate / ETHERNET_PER_PAYLOAD;
        let errors = [peers.iperf3_bits_per_second.map(|bits| bits / payload - 1.0), capacity];
        for (count, error) in self.rates.iter_mut().zip(errors) {
            error.into_iter().for_each(|error| count.add(Tolerance::RATE.allows(1.0 + error, 1.0)));
        }
        let [iperf3, fathom_rate] =
            errors.map(|error| error.map_or("-".to_owned(), |error| format!("{:+.1} %", error * 100.0)));
        let [theirs, fping, irtt, own, fathom] =
            [theirs, peers.fping, peers.irtt, own, found[2].0].map(milliseconds);
        let _ = writeln!(
            self.text,
            "{:7} {:4} {:>7.3} {:19} {theirs:>9} {fping:>9} {irtt:>9} {own:>9} {fathom:>9} {iperf3:>8} {fathom_rate:>8}",
            explained.path.name,
            peers.direction.name(),
            rate / 1e6,
            queue_name(&side.queue),
        );
        Ok(())
    }
    /// The table with the shares of right figures below it.
    pub(crate) fn finish(&self) -> String {
        let mut text = format!(
            "Delay: median/maximum in ms, above the idle median; next to it the truth, the wait in a \
             FIFO.\nRate: error against that of the link.\n\n\
             {:7} {:4} {:>7} {:19} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}\n{}\n\
             Right: delays within 2 % or 1 ms, rates within 3 %\n",
            "path",
            "load",
            "Mbit/s",
            "queue",
            "truth",
            "fping",
            "irtt",
            "truth",
            "Fathom",
            "iperf3",
            "Fathom",
            self.text
        );
        let share = |count: Count| format!("{} of {}", count.right, count.all);
        for (name, [p50, max]) in ["fping", "irtt", "Fathom"].iter().zip(self.delays) {
            let _ = writeln!(text, "{name:8} median {:>9}   maximum {:>9}", share(p50), share(max));
        }
        for (name, count) in ["iperf3", "Fathom"].iter().zip(self.rates) {
            let _ = writeln!(text, "{name:8} rate   {:>9}", share(count));
        }
        text
    }
}

fn add([p50, max]: &mut [Count; 2], found: Option<Delay>, truth: Option<Delay>) {
    let (Some(found), Some(truth)) = (found, truth) else { return };
    p50.add(Tolerance::DELAY.allows(found.p50_s, truth.p50_s));
    let nearest_s = found.max_s.clamp(truth.late_s, truth.max_s);
    max.add(Tolerance::DELAY.allows(found.max_s, nearest_s));
}

/// How long packets waited while `fathom test` loaded one direction.
fn waits(explained: &Explained<'_>, direction: Direction) -> Option<Delay> {
    let phase = explained.measured.run.phases.iter().find(|phase| phase.kind == alone(direction))?;
    let queue = explained.truth.queues.iter().find(|queue| queue.direction == direction)?;
    Delay::of(queue.waits_s(phase.start_ns as f64 / 1e9, phase.end_ns as f64 / 1e9))
}

/// What Fathom says about the load of one direction.
fn increase(explained: &Explained<'_>, direction: Direction) -> Option<Delay> {
    let mut found = explained.diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => Some(increase),
        _ => None,
    });
    let increase = found.find(|increase| increase.phase == alone(direction))?;
    let (p50_s, max_s) = (increase.loaded_p50_s, increase.loaded_max_s);
    Some(Delay { p50_s, late_s: max_s, max_s }.map(|delay_s| delay_s - increase.idle_p50_s))
}

/// The kind of queue, and the limit of a FIFO.
fn queue_name(spec: &Spec) -> String {
    let words = if matches!(spec, Spec::Fifo(_)) { 3 } else { 1 };
    spec.to_string().split(' ').take(words).collect::<Vec<_>>().join(" ")
}

fn milliseconds(delay: Option<Delay>) -> String {
    delay.map_or("-".to_owned(), |delay| format!("{:.0}/{:.0}", delay.p50_s * 1e3, delay.max_s * 1e3))
}

//! What other tools report on a path of the kernel: fping as flent runs it, irtt, and iperf3.
use super::{HANDLES, nanoseconds, series};
use crate::claims::{Claim, ClaimKind};
use crate::draw::Path;
use crate::measure::parse;
use fathom_link::BottleneckParams;
use fathom_qdisc::Spec;
use fathom_units::{Direction, WallTime};
use serde_json::Value as Json;
use std::fmt::Write as _;

/// A delay is right within 2 % or 1 ms, a rate within 3 %, as for Fathom.
const DELAY_RATIO: f64 = 0.02;
const DELAY_S: f64 = 0.001;
const RATE_RATIO: f64 = 0.03;
/// Share of a full packet of 1514 bytes that is payload of TCP with timestamps.
const PAYLOAD_SHARE: f64 = 1448.0 / 1514.0;

/// Median and maximum in seconds.
#[derive(Clone, Copy, Debug)]
struct Delay {
    p50_s: f64,
    max_s: f64,
}

impl Delay {
    fn of(mut delays: Vec<f64>) -> Option<Self> {
        let max_s = delays.iter().copied().fold(f64::MIN, f64::max);
        Some(Delay { p50_s: fathom_stats::percentile(&mut delays, 0.5)?, max_s })
    }
    fn above(self, base_s: f64) -> Self {
        Delay { p50_s: self.p50_s - base_s, max_s: self.max_s - base_s }
    }
}

/// What the tools report while iperf3 loads one direction, delays without the idle median.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    direction: Direction,
    /// Backlog of the queue during the load, in bytes.
    backlog: Delay,
    fping: Option<Delay>,
    irtt: Option<Delay>,
    iperf3_bits_per_second: Option<f64>,
}

/// Reads the results of `peers.sh`; `file` returns the text of one.
pub(super) fn read(
    file: &dyn Fn(&str) -> Result<String, String>,
    direction: Direction,
) -> Result<Peers, String> {
    let at = |name: &str| {
        let text = file(name)?;
        nanoseconds(text.trim()).ok_or_else(|| format!("{name}: \"{}\" is no time", text.trim()))
    };
    let (from_ns, to_ns) = (at("peers.from")?, at("peers.to")?);
    let [queue, _] = series(&file("peers.samples")?, direction, HANDLES[direction], WallTime(from_ns));
    let loaded = queue.iter().take_while(|o| o.at.as_nanos() < to_ns - from_ns);
    let backlog = Delay::of(loaded.filter_map(|o| o.value.observed()).collect());
    let added = |values: fn(&str) -> Vec<f64>, name: &str| {
        let idle = Delay::of(values(&file(&format!("idle.{name}")).ok()?))?;
        Some(Delay::of(values(&file(&format!("load.{name}")).ok()?))?.above(idle.p50_s))
    };
    let iperf3: Json =
        file("iperf3").ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(Peers {
        direction,
        backlog: backlog.ok_or("no samples of the queue during the load")?,
        fping: added(fping, "fping"),
        irtt: added(irtt, "irtt.json"),
        iperf3_bits_per_second: iperf3["end"]["sum_received"]["bits_per_second"].as_f64(),
    })
}

/// Round trips in seconds of `[TIME] HOST : [NUMBER], 64 bytes, 12.3 ms (...)`.
fn fping(text: &str) -> Vec<f64> {
    let round_trip = |line: &str| {
        let milliseconds = line.split(", ").nth(2)?.split(" ms").next()?;
        Some(milliseconds.parse::<f64>().ok()? / 1e3)
    };
    text.lines().filter_map(round_trip).collect()
}

/// Round trips in seconds of the answered probes.
fn irtt(text: &str) -> Vec<f64> {
    let result: Json = serde_json::from_str(text).unwrap_or_default();
    let probes = result["round_trips"].as_array().map_or(&[][..], Vec::as_slice);
    probes.iter().filter_map(|probe| Some(probe["delay"]["rtt"].as_f64()? / 1e9)).collect()
}

/// How many figures of a tool are right.
#[derive(Default)]
struct Count {
    right: u32,
    all: u32,
}

impl Count {
    fn add(&mut self, is_right: Option<bool>) {
        let Some(is_right) = is_right else { return };
        self.right += u32::from(is_right);
        self.all += 1;
    }
    fn share(&self) -> String {
        format!("{} of {}", self.right, self.all)
    }
}

/// The table of all tools, filled path by path.
#[derive(Default)]
pub(crate) struct Table {
    text: String,
    fping: [Count; 2],
    irtt: [Count; 2],
    fathom: [Count; 2],
    iperf3: Count,
    capacity: Count,
}

impl Table {
    /// Adds a path with the claims of Fathom about it.
    pub(crate) fn add(&mut self, path: &Path, peers: &Peers, claims: &[Claim]) -> Result<(), String> {
        let plan = parse(path).map_err(|why| why.to_string())?;
        let hop = plan.line.hops.first().ok_or("no hop")?;
        let side: &BottleneckParams = if peers.direction == Direction::Up { &hop.up } else { &hop.down };
        let rate = side.nominal_rate().map_or(0.0, |rate| rate.as_bits_per_second() as f64);
        // A probe waits behind everything in a FIFO only. Elsewhere the truth is not the backlog.
        let is_fifo = matches!(side.queue, Spec::Fifo(_));
        let seconds = |bytes: f64| bytes * 8.0 / rate;
        let truth = is_fifo
            .then(|| Delay { p50_s: seconds(peers.backlog.p50_s), max_s: seconds(peers.backlog.max_s) });
        let payload = rate * PAYLOAD_SHARE;
        let of = |kind| {
            let claim = claims.iter().find(|c| c.kind == kind && c.about == peers.direction.name());
            claim.and_then(|claim| claim.made.as_ref())
        };
        let ours = [ClaimKind::DelayP50, ClaimKind::DelayMax].map(of);
        for (count, made) in self.fathom.iter_mut().zip(ours) {
            count.add(made.filter(|_| is_fifo).map(|made| made.is_right));
        }
        self.capacity.add(of(ClaimKind::Capacity).map(|made| made.is_right));
        add(&mut self.fping, peers.fping, truth);
        add(&mut self.irtt, peers.irtt, truth);
        let is_close = |bits: f64| (bits / payload - 1.0).abs() <= RATE_RATIO;
        self.iperf3.add(peers.iperf3_bits_per_second.map(is_close));
        let iperf3 = peers.iperf3_bits_per_second;
        let _ = writeln!(
            self.text,
            "{:7} {:4} {:>9.3} {:24} {:>13} {:>13} {:>13} {:>9} {:>9}",
            path.name,
            peers.direction.name(),
            rate / 1e6,
            queue_name(&side.queue),
            delay(truth),
            delay(peers.fping),
            delay(peers.irtt),
            iperf3.map_or("-".to_owned(), |bits| format!("{:+.1} %", (bits / payload - 1.0) * 100.0)),
            of(ClaimKind::Capacity)
                .and_then(|made| made.error)
                .map_or("-".to_owned(), |error| format!("{:+.1} %", error * 100.0)),
        );
        for (name, made) in ["p50", "max"].iter().zip(ours) {
            let _ =
                writeln!(self.text, "{:12} Fathom {name}: {}", "", made.map_or("no claim", |m| &m.detail));
        }
        Ok(())
    }
    /// The table with the shares of right figures below it.
    pub(crate) fn finish(&self) -> String {
        let mut text = format!(
            "Delays: median/maximum in ms, added to the idle median. Rates: error against the link's.\n\n\
             {:7} {:4} {:>9} {:24} {:>13} {:>13} {:>13} {:>9} {:>9}\n{}\n",
            "path", "load", "Mbit/s", "queue", "backlog", "fping", "irtt", "iperf3", "Fathom", self.text
        );
        let _ = writeln!(text, "right: delays within 2 % or 1 ms (FIFO only), rates within 3 %");
        let tools = [("fping", &self.fping), ("irtt", &self.irtt), ("Fathom", &self.fathom)];
        for (name, [p50, max]) in tools {
            let _ = writeln!(text, "{name:8} median {:>9}   maximum {:>9}", p50.share(), max.share());
        }
        let _ = writeln!(text, "{:8} rate   {:>9}", "iperf3", self.iperf3.share());
        let _ = writeln!(text, "{:8} rate   {:>9}", "Fathom", self.capacity.share());
        text
    }
}

fn add([p50, max]: &mut [Count; 2], found: Option<Delay>, truth: Option<Delay>) {
    let (Some(found), Some(truth)) = (found, truth) else { return };
    let is_right =
        |delay_s: f64, true_s: f64| (delay_s - true_s).abs() <= (DELAY_RATIO * true_s).max(DELAY_S);
    p50.add(Some(is_right(found.p50_s, truth.p50_s)));
    max.add(Some(is_right(found.max_s, truth.max_s)));
}

/// The kind of queue, and the limit of a FIFO.
fn queue_name(spec: &Spec) -> String {
    let words = if matches!(spec, Spec::Fifo(_)) { 3 } else { 1 };
    spec.to_string().split(' ').take(words).collect::<Vec<_>>().join(" ")
}

fn delay(delay: Option<Delay>) -> String {
    delay.map_or("-".to_owned(), |delay| format!("{:.0}/{:.0}", delay.p50_s * 1e3, delay.max_s * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_the_tools() {
        let text = "[1732.5] 10.0.1.1 : [0], 64 bytes, 1043 ms (1043 avg, 0% loss)\n\
                    [1732.7] 10.0.1.1 : [1], timed out (1043 avg, 50% loss)\n\
                    [1732.9] 10.0.1.1 : [2], 64 bytes, 12.5 ms (527 avg, 33% loss)\n";
        assert_eq!(fping(text), [1.043, 0.0125]);
        let json =
            r#"{"round_trips":[{"lost":"false","delay":{"rtt":25000000}},{"lost":"true","delay":{}}]}"#;
        assert_eq!(irtt(json), [0.025]);
    }
}

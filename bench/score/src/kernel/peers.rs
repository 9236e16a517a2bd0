//! What other tools report on a path of the kernel: fping as flent runs it, irtt, and iperf3.
use super::packets::Packets;
use super::{HOP, nanoseconds, read as text_of, slow_direction};
use crate::comparison::Delay;
use crate::truth::{Passage, Queue};
use fathom_scenario::Plan;
use fathom_units::{Direction, WallTime};
use serde_json::Value as Json;
use std::path::Path;

/// The programs that `peers.sh` runs, which Debian's packages of the same names contain.
pub(super) const TOOLS: [&str; 3] = ["fping", "irtt", "iperf3"];
/// Duration of the load in `peers.sh` in seconds. The last responses arrive later.
const LOAD_S: f64 = 20.0;

/// What the tools report while iperf3 loads one direction, delays without the idle median.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    pub(crate) direction: Direction,
    /// The truth of a FIFO during the load.
    pub(crate) waits: Delay,
    pub(crate) fping: Option<Delay>,
    pub(crate) irtt: Option<Delay>,
    pub(crate) iperf3_bits_per_second: Option<f64>,
}

/// Reads the results of `peers.sh`.
pub(super) fn read(work: &Path, plan: &Plan) -> Result<Peers, String> {
    let file = |name: &str| text_of(work, name);
    let direction = slow_direction(plan)?;
    let hop = plan.line.hops.first().ok_or("no hop")?;
    let from = file("peers.from")?;
    let from_ns = nanoseconds(from.trim()).ok_or_else(|| format!("\"{}\" is no time", from.trim()))?;
    let packets = Packets::read(work, "peers.", WallTime(from_ns))?;
    let queue = Queue::new(&Passage {
        hop: HOP,
        direction,
        params: if direction == Direction::Up { &hop.up } else { &hop.down },
        waits: &packets.waits[direction],
        is_simulated: false,
        run: None,
    });
    let waits = Delay::of(queue.waits_s(0.0, LOAD_S));
    let added = |values: fn(&str) -> Vec<f64>, name: &str| {
        let idle = Delay::of(values(&file(&format!("idle.{name}")).ok()?))?;
        let busy = Delay::of(values(&file(&format!("load.{name}")).ok()?))?;
        Some(busy.map(|delay_s| delay_s - idle.p50_s))
    };
    let iperf3: Json =
        file("iperf3").ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(Peers {
        direction,
        waits: waits.ok_or("no packets during the load")?,
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

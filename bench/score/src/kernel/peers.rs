//! What other tools report on a path of the kernel: fping as flent runs it, irtt, and iperf3.
use super::{HANDLES, nanoseconds, series};
use crate::comparison::Delay;
use fathom_units::{Direction, WallTime};
use serde_json::Value as Json;

/// The programs that `peers.sh` runs, which Debian's packages of the same names contain.
pub(super) const TOOLS: [&str; 3] = ["fping", "irtt", "iperf3"];
/// Duration of the load in `peers.sh`. The last responses arrive later.
const LOAD_NS: u64 = 20_000_000_000;

/// What the tools report while iperf3 loads one direction, delays without the idle median.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    pub(crate) direction: Direction,
    /// Backlog of the queue during the load, in bytes instead of seconds.
    pub(crate) backlog: Delay,
    pub(crate) fping: Option<Delay>,
    pub(crate) irtt: Option<Delay>,
    pub(crate) iperf3_bits_per_second: Option<f64>,
}

/// Reads the results of `peers.sh`; `file` returns the text of one.
pub(super) fn read(
    file: &dyn Fn(&str) -> Result<String, String>,
    direction: Direction,
) -> Result<Peers, String> {
    let from = file("peers.from")?;
    let from_ns = nanoseconds(from.trim()).ok_or_else(|| format!("\"{}\" is no time", from.trim()))?;
    let [queue, _] = series(&file("peers.samples")?, direction, HANDLES[direction], WallTime(from_ns));
    let loaded = queue.iter().take_while(|o| o.at.as_nanos() < LOAD_NS);
    let backlog = Delay::of(loaded.filter_map(|o| o.value.observed()).collect());
    let added = |values: fn(&str) -> Vec<f64>, name: &str| {
        let idle = Delay::of(values(&file(&format!("idle.{name}")).ok()?))?;
        let busy = Delay::of(values(&file(&format!("load.{name}")).ok()?))?;
        Some(busy.map(|delay_s| delay_s - idle.p50_s))
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

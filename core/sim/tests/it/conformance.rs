//! The simulator beside the Linux kernel: every recorded cell of `testdata/kernel/cells.txt` again, in a scenario.
use crate::common::{number, plan};
use fathom_sim::{Options, Outcome, simulate};
use std::fmt::Write as _;

const TABLE: &str = include_str!("../../../../testdata/kernel/cells.txt");
/// Without load, so that the queue has been there for a while; PIE's timer starts late.
const IDLE_S: f64 = 1.0;
/// Left out at the start of the load, and measured after that.
const OMITTED_S: f64 = 10.0;
const MEASURED_S: f64 = 50.0;
/// A probe of each of two kinds in this time: as many small packets as the recording's pings every 50 ms.
const PROBE_EVERY: &str = "100ms";
/// A cell agrees if it is as near as this in each of its numbers: a share, or a round trip in ms, or a count.
const NEAR: f64 = 0.05;
const NEAR_MS: f64 = 1.0;
const NEAR_COUNT: f64 = 5.0;
/// Where chance decides, the kernel's one run may be anywhere among so many of ours.
const SEEDS: u64 = 4;
/// Disciplines that throw dice, or hash flows anew. (Several flows begin in an order of chance too.)
const BY_CHANCE: [&str; 4] = ["pie", "red", "sfb", "sfq"];

/// Where it is known that ours differ: words of the cell, numbers, and why.
const KNOWN: &[(&str, &[&str], &str)] = &[
    ("q=pie", &["drops"], PIE_OVERSHOOT),
    ("q=fq_pie", &["drops"], PIE_OVERSHOOT),
    ("q=pieecn", &["p50", "drops"], PIE_OVERSHOOT),
    ("q=fqpieecn", &["drops"], PIE_OVERSHOOT),
    ("q=cake rtt=100ms cc=reno", &["drops"], OVERSHOOT),
    ("q=codel rtt=100ms cc=reno", &["drops"], OVERSHOOT),
    ("q=pfifo1000 rtt=100ms cc=cubic", &["drops"], OVERSHOOT),
    ("q=pfifo1000 n=4 cc=cubic", &["drops"], OVERSHOOT),
    ("q=cake cc=bbr", &["drops"], OVERSHOOT),
    ("q=codelecn cc=dctcp", &["drops"], OVERSHOOT),
    ("q=redecn cc=dctcp", &["drops"], OVERSHOOT),
    ("q=sfb cc=vegas", &["drops"], OVERSHOOT),
    ("q=red cc=reno", &["max", "drops"], "dice: the one recording dropped more of the overshoot"),
    ("q=sfb cc=cubic", &["goodput"], "dice: seeds have 11.0 to 14.4 Mbit/s"),
    ("q=sfb cc=bbr", &["p95", "max", "drops"], "the kernel's BBR fills a bin more often"),
    ("q=codel cc=reno", &["max"], "one ping of a thousand"),
    ("q=fq", &["max"], "a recording's first ping waits 13 to 32 ms in the kernel's fq, and no other"),
    (
        "rate=2500kbit cc=cubic",
        &["p50", "drops"],
        "a second reduction after a repair is a matter of one packet",
    ),
    ("rate=2500kbit cc=bbr", &["p95"], PAIRS),
    ("rate=2500kbit cc=vegas", &["p50"], PAIRS),
];
/// The steady state agrees: this is of the first second.
const OVERSHOOT: &str = "a few packets of the slow start's overshoot";
const PIE_OVERSHOOT: &str =
    "packets of the slow start's overshoot, sent again into PIE's high probability and lost again";
/// `tcp_tso_should_defer`; a packet takes 4.8 ms at this rate.
const PAIRS: &str = "Linux sends in pairs, and holds an odd packet back until the next ACK";

/// What a cell came to, of the kernel or of the simulator.
#[derive(Clone, Debug)]
struct Numbers {
    goodput_mbit: f64,
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
    drops: f64,
    marks: f64,
}

struct Cell {
    name: String,
    rate: String,
    rtt: String,
    queue: String,
    control: String,
    flows: u32,
    ecn: bool,
    kernel: Numbers,
}

impl Cell {
    fn read(line: &str, hz: u32) -> Cell {
        let (given, came) = line.split_once(" goodput=").unwrap();
        let word = |of: &str, name: &str| -> String {
            let start = of.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            start.unwrap_or_else(|| panic!("{name}: {line}")).to_owned()
        };
        let came = format!("goodput={came}");
        let number = |name: &str| word(&came, name).parse().unwrap_or(0.0);
        let rate = word(given, "rate");
        Cell {
            name: given.trim_start_matches("GT ").to_owned(),
            rtt: word(given, "rtt"),
            queue: queue(&word(given, "q"), &rate, hz),
            control: word(given, "cc"),
            flows: word(given, "n").parse().unwrap(),
            ecn: word(given, "ecn") == "1",
            kernel: Numbers {
                goodput_mbit: number("goodput"),
                p50_ms: number("p50"),
                p95_ms: number("p95"),
                max_ms: number("p100"),
                drops: number("drops"),
                marks: number("marks"),
            },
            rate,
        }
    }
    /// The shaper of the recording with its leaf, on a link that takes no time of its own; ACKs come back after the RTT.
    fn scenario(&self) -> String {
        let (rate, queue) = (&self.rate, &self.queue);
        let shaped = if queue.starts_with("cake") {
            queue.clone()
        } else {
            format!("htb default 1 class 1 rate {rate} burst 1600b cburst 1600b {{ {queue} }}")
        };
        format!("delay = \"0s\", queue = \"{shaped}\"")
    }
    /// True if all of these words are in its name.
    fn is(&self, words: &str) -> bool {
        words.split(' ').all(|word| self.name.split(' ').any(|of_name| of_name == word))
    }
    fn seeds(&self) -> u64 {
        if self.flows > 1 || BY_CHANCE.iter().any(|name| self.queue.contains(name)) { SEEDS } else { 1 }
    }
    fn simulate(&self, seed: u64) -> Numbers {
        let down = format!("delay = \"{}\"", self.rtt);
        let rest = format!(
            "[run]\nidle = \"{IDLE_S}s\"\nduration = \"{}s\"\ndrain = \"0s\"\nseed = {seed}\nsample_every = \"{PROBE_EVERY}\"\n[[work]]\n\
             kind = \"bulk\"\ndirection = \"up\"\nflows = {}\ncongestion_control = \"{}\"\necn = {}\n",
            OMITTED_S + MEASURED_S,
            self.flows,
            self.control,
            self.ecn
        );
        Numbers::of(&simulate(&plan(&self.scenario(), &down, &rest), &Options::new(0)))
    }
}

/// A discipline of the table in the words of a scenario.
fn queue(name: &str, rate: &str, hz: u32) -> String {
    // The kernel's timer of 15 ms, in ticks, and one more so as never to be early.
    let tupdate = if hz == 100 { "tupdate 30ms" } else { "tupdate 16ms" };
    let pie = format!("variant linux {tupdate}");
    let red = format!(
        "red variant linux limit 1000000b min 30000b max 90000b avpkt 1000b burst 55 bandwidth {rate}"
    );
    let sized =
        |kind: &str, unit: &str| name.strip_prefix(kind).map(|size| format!("fifo limit {size}{unit}"));
    match name {
        "codel" => "codel variant linux".into(),
        "codelecn" => "codel variant linux ecn".into(),
        "fq_codel" => "fq_codel variant linux".into(),
        "pie" => format!("pie {pie}"),
        "pieecn" => format!("pie {pie} ecn"),
        "fq_pie" => format!("fq_pie {tupdate}"),
        "fqpieecn" => format!("fq_pie {tupdate} ecn"),
        "red" => format!("{red} probability 0.02"),
        "redecn" => format!("{red} probability 0.02 ecn"),
        "ared" => format!("{red} adaptive"),
        "sfq" => "sfq perturb 10s".into(),
        "cake" => format!("cake bandwidth {rate} besteffort"),
        _ => sized("pfifo", "p").or_else(|| sized("bfifo", "b")).unwrap_or_else(|| name.into()),
    }
}

impl Numbers {
    fn of(outcome: &Outcome) -> Numbers {
        let (from, to) = (IDLE_S + OMITTED_S, IDLE_S + OMITTED_S + MEASURED_S);
        let measured = |what: &str| number(&outcome.run, &format!("{what} from {from}s to {to}s"));
        let stats = &outcome.queues[0].stats;
        Numbers {
            goodput_mbit: measured("goodput_bits_per_second up mean") / 1e6,
            p50_ms: measured("icmp_rtt_s p50") * 1e3,
            p95_ms: measured("icmp_rtt_s p95") * 1e3,
            max_ms: measured("icmp_rtt_s max") * 1e3,
            drops: stats.dropped().packets as f64,
            marks: stats.marked.packets as f64,
        }
    }
    /// Name, number, and how far from it is still near.
    fn all(&self) -> [(&'static str, f64, f64); 6] {
        [
            ("goodput", self.goodput_mbit, 0.0),
            ("p50", self.p50_ms, NEAR_MS),
            ("p95", self.p95_ms, NEAR_MS),
            ("max", self.max_ms, NEAR_MS),
            ("drops", self.drops, NEAR_COUNT),
            ("marks", self.marks, NEAR_COUNT),
        ]
    }
}

/// Names of the numbers in which none of `ours` comes near the kernel's, with it between them or beside them.
fn differing(cell: &Cell, ours: &[Numbers]) -> Vec<&'static str> {
    let compared = cell.kernel.all().into_iter().enumerate().filter(|(at, (_, kernel, floor))| {
        let near = (kernel * NEAR).max(*floor);
        let of_seeds = || ours.iter().map(|numbers| numbers.all()[*at].1);
        let (least, most) = (of_seeds().fold(f64::MAX, f64::min), of_seeds().fold(0.0, f64::max));
        !(least - near..=most + near).contains(kernel)
    });
    compared.map(|(_, (name, ..))| name).collect()
}

fn row(cell: &Cell, ours: &[Numbers], differing: &[&str]) -> String {
    let mut text = format!("{}:", cell.name);
    for (at, (name, kernel, _)) in cell.kernel.all().into_iter().enumerate() {
        let ours: Vec<String> = ours.iter().map(|numbers| format!("{:.4}", numbers.all()[at].1)).collect();
        let _ = write!(text, " {name} {kernel} ({})", ours.join(" "));
    }
    let _ = write!(text, " differs in: {}", differing.join(" "));
    text
}

/// Every cell of the table with this congestion control.
fn cells(control: &str) -> Vec<Cell> {
    let mut hz = 0;
    let mut cells = Vec::new();
    for line in TABLE.lines() {
        hz = line.strip_prefix("# HZ=").map_or(hz, |hz| hz.parse().unwrap());
        if line.starts_with("GT ") {
            cells.push(Cell::read(line, hz));
        }
    }
    cells.retain(|cell| cell.control == control);
    assert!(!cells.is_empty(), "no cell with {control}");
    cells
}

/// Runs the cells of a congestion control, and fails for each that differs where it is not known to.
#[track_caller]
fn conform(control: &str) {
    let mut failures = String::new();
    for cell in cells(control) {
        let ours: Vec<Numbers> = (0..cell.seeds()).map(|seed| cell.simulate(seed)).collect();
        let differing = differing(&cell, &ours);
        let row = row(&cell, &ours, &differing);
        let is_known = |number: &&str| {
            KNOWN.iter().any(|(words, numbers, _)| numbers.contains(number) && cell.is(words))
        };
        if !differing.iter().all(is_known) {
            let _ = writeln!(failures, "{row}");
        }
    }
    assert!(failures.is_empty(), "differ from the kernel where they are not known to:\n{failures}");
}

#[test]
fn cubic() {
    conform("cubic");
}

#[test]
fn reno() {
    conform("reno");
}

#[test]
fn bbr() {
    conform("bbr");
}

#[test]
fn vegas() {
    conform("vegas");
}

#[test]
fn dctcp() {
    conform("dctcp");
}

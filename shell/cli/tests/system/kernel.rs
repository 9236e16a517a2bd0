//! Compares the Linux kernel with closed forms and the simulator. Debian's User-Mode Linux boots
//! and sends real TCP through real queue disciplines. A difference means that the model of a line
//! is wrong.
use crate::program::{Ran, alone, scratch};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const KERNEL: &str = "linux.uml";
const INSIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/conformance/inside.sh");
/// Size of a full packet with its Ethernet header, as Linux counts it.
const PACKET_BITS: f64 = 1514.0 * 8.0;
/// Share of payload in such a packet: without the headers of Ethernet, IP, and TCP with timestamps.
const PAYLOAD: f64 = 1448.0 / 1514.0;

struct Cell {
    name: &'static str,
    rate_mbit: f64,
    rtt_ms: f64,
    queue: &'static str,
    /// Congestion control.
    control: &'static str,
}

/// The rates are low enough for a busy machine. The buffer is so small that Reno oscillates with a
/// period of three seconds: however slow start ends, the buffer fills up several times.
const FIFO: Cell =
    Cell { name: "fifo", rate_mbit: 4.0, rtt_ms: 5.0, queue: "pfifo limit 50", control: "reno" };
const FQ_CODEL: Cell =
    Cell { name: "fq_codel", rate_mbit: 5.0, rtt_ms: 20.0, queue: "fq_codel", control: "cubic" };
const CAKE: Cell = Cell {
    name: "cake",
    rate_mbit: 5.0,
    rtt_ms: 20.0,
    queue: "cake bandwidth 5mbit besteffort",
    control: "cubic",
};

impl Cell {
    /// The arguments of `inside.sh`: ten seconds, with a ping every 50 ms.
    fn text(&self) -> String {
        format!(
            "RATE={}mbit RTT={}ms QDISC='{}' CC={} FLOWS=1 ECN=0 OMIT=0 SPAN=10 PROBES=200 TRACE=\n",
            self.rate_mbit, self.rtt_ms, self.queue, self.control
        )
    }
    /// Median round-trip time of the simulator in the same ten seconds.
    fn simulated_median_ms(&self) -> f64 {
        let Cell { rate_mbit, rtt_ms, queue, control, .. } = self;
        let queue = queue.replace("pfifo limit 50", "fifo limit 50p");
        let queue = if queue.starts_with("cake") {
            queue
        } else {
            format!("htb default 1 class 1 rate {rate_mbit}mbit burst 1600b {{ {queue} }}")
        };
        let text = format!(
            "name = \"cell\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"router\"\n\
             up = {{ delay = \"0s\", queue = \"{queue}\" }}\ndown = {{ delay = \"{rtt_ms}ms\" }}\n\
             [run]\nidle = \"1s\"\nduration = \"10s\"\ndrain = \"0s\"\n\
             [load]\nup_flows = 1\ncongestion_control = \"{control}\"\n"
        );
        let plan = fathom_scenario::parse(&text, self.name).unwrap();
        let run = fathom_sim::simulate(&plan, &fathom_sim::Options::new(1)).run;
        let median: fathom_run::Measure = "icmp_rtt_s p50 from 1s to 11s".parse().unwrap();
        median.of(&run).unwrap() * 1e3
    }
    fn packet_ms(&self) -> f64 {
        PACKET_BITS / self.rate_mbit / 1e3
    }
}

/// The results of ping and iperf3 in the kernel for a cell.
pub(crate) struct Seen {
    pings_ms: Vec<f64>,
    pub(crate) goodput_mbit: f64,
}

impl Seen {
    fn read(cell: &Path) -> Seen {
        Seen::of(&cell.join("ping"), &cell.join("iperf.json"))
    }
    /// Reads the results from the output files.
    pub(crate) fn of(ping: &Path, iperf: &Path) -> Seen {
        let ping = std::fs::read_to_string(ping).unwrap_or_default();
        let time = |line: &str| line.split("time=").nth(1)?.split(' ').next()?.parse().ok();
        let mut pings_ms: Vec<f64> = ping.lines().filter_map(time).collect();
        pings_ms.sort_by(f64::total_cmp);
        let iperf = std::fs::read_to_string(iperf).unwrap_or_default();
        let iperf: serde_json::Value = serde_json::from_str(&iperf).unwrap_or_default();
        let received = iperf["end"]["sum_received"]["bits_per_second"].as_f64();
        Seen { pings_ms, goodput_mbit: received.unwrap_or(0.0) / 1e6 }
    }
    /// A percentile of the round-trip times.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        self.pings_ms[(self.pings_ms.len() as f64 * share).ceil() as usize - 1]
    }
}

/// Boots once and measures all cells.
fn measure(cells: &[&Cell]) -> Vec<Seen> {
    let work = scratch().join("kernel");
    let place = |cell: &Cell| -> PathBuf { work.join(cell.name) };
    let _ = std::fs::remove_dir_all(&work);
    for cell in cells {
        std::fs::create_dir_all(place(cell)).unwrap();
        std::fs::write(place(cell).join("cell"), cell.text()).unwrap();
    }
    let console = boot(INSIDE, &work, &[]);
    let failed = std::fs::read_to_string(work.join("failed")).unwrap_or_default();
    let seen: Vec<Seen> = cells.iter().map(|cell| Seen::read(&place(cell))).collect();
    let complete = seen.iter().all(|seen| seen.pings_ms.len() >= 160 && seen.goodput_mbit > 0.0);
    assert!(complete, "the kernel did not measure every cell\ninside: {failed}\nits console: {console}");
    std::fs::remove_dir_all(work).unwrap();
    seen
}

/// Boots the kernel and returns its console output. Its memory is a file in `work`, because
/// `/dev/shm` may be mounted without permission to execute. Its first process is the script
/// `inside` with the arguments `work` and `more`. It has priority over everything else on the
/// machine, because a line that pauses behaves like another line.
pub(crate) fn boot(inside: &str, work: &Path, more: &[&str]) -> String {
    let mut command = Command::new("nice");
    command.args(["-n", "-20", "timeout", "120"]);
    command.args([KERNEL, "mem=192M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"]);
    command
        .arg(format!("init={inside}"))
        .args(["con=null", "con0=fd:0,fd:1", "quiet", "--"])
        .arg(work)
        .args(more);
    let ran: Ran = command.env("TMPDIR", work).stdin(Stdio::null()).output().unwrap().into();
    let is_missing = ran.code == Some(127);
    assert!(!is_missing, "{KERNEL} is missing: ./setup installs it (Debian package user-mode-linux)");
    let is_refused = !work.join("kernel").exists() && ran.describe().contains("ptrace");
    assert!(
        !is_refused,
        "this machine does not allow ptrace, which User-Mode Linux needs: {}",
        ran.describe()
    );
    ran.describe()
}

/// The machine may be busy, and a kernel that waits for a CPU shows lower goodput and longer
/// round-trip times. So medians are compared with the closed forms, and extremes only in the
/// direction that waiting cannot cause.
#[test]
fn the_kernels_latency_is_that_of_the_closed_forms_and_the_simulator() {
    let _alone = alone();
    let cells = [&FIFO, &FQ_CODEL, &CAKE];
    let all = measure(&cells);
    for (cell, seen) in cells.iter().zip(&all) {
        let (median, max, goodput) = (seen.percentile(0.5), seen.percentile(1.0), seen.goodput_mbit);
        println!("{}: ping median {median} ms, max {max} ms; goodput {goodput:.2} Mbit/s", cell.name);
        let most = cell.rate_mbit * PAYLOAD;
        assert!((0.6 * most..1.02 * most).contains(&goodput), "{}: {goodput} of {most} Mbit/s", cell.name);
    }
    for (cell, seen) in cells.iter().zip(&all) {
        let (kernel, ours) = (seen.percentile(0.5), cell.simulated_median_ms());
        let near = 0.15 * ours + 2.0 * cell.packet_ms();
        assert!((kernel - ours).abs() < near, "{}: median {kernel} ms, simulated {ours} ms", cell.name);
    }
    // A full FIFO drains in 151 ms.
    let full = 50.0 * FIFO.packet_ms();
    let [middle, most, largest] = [0.5, 0.9, 1.0].map(|p| all[0].percentile(p));
    assert!(largest > 0.9 * full, "max {largest} ms, full {full} ms");
    assert!(most < 1.1 * full + FIFO.rtt_ms, "nine of ten within {most} ms, full {full} ms");
    assert!(middle > 0.4 * full, "median {middle} ms, full {full} ms");
    // With fair queueing a ping waits only for the packet on the line.
    for (cell, seen) in cells.iter().zip(&all).skip(1) {
        let (median, min) = (seen.percentile(0.5), cell.rtt_ms);
        assert!((min..min + 3.0 * cell.packet_ms()).contains(&median), "{}: median {median} ms", cell.name);
    }
}

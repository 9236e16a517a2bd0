//! Paths that the kernel's own queues can be: one link, and no variation.
use super::range::{Range, log_uniform, weighted};
use super::{FULL_PACKET, Path};
use fathom_units::{Direction, Rng};

/// Rate of the slow direction, bit/s. Faster links take too long in User-Mode Linux.
const RATE: Range = [250e3, 50e6];
const ASYMMETRY: Range = [1.0, 20.0];
const MAX_RATE: f64 = 100e6;
/// Base round-trip time and size of the buffer, s.
const BASE_RTT: Range = [0.001, 0.3];
const BUFFER: Range = [0.005, 5.0];
/// Share of lossy links, and their loss.
const LOSSY: f64 = 0.2;
const LOSS: Range = [1e-4, 0.01];
const FLOWS: Range = [1.0, 16.0];
const CONGESTION_CONTROLS: [(u64, &str); 2] = [(70, "cubic"), (30, "reno")];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    TailBytes,
    TailPackets,
    Codel,
    FqCodel,
    Pie,
    Cake,
}

const KINDS: [(u64, Kind); 6] = [
    (30, Kind::TailBytes),
    (25, Kind::TailPackets),
    (10, Kind::Codel),
    (15, Kind::FqCodel),
    (10, Kind::Pie),
    (10, Kind::Cake),
];

/// Path number `index` of `seed` for the kernel.
pub(crate) fn kernel_path(seed: u64, index: u64) -> Path {
    let rng = &mut Rng::stream(seed, &format!("kernel path {index}"));
    let main = weighted(rng, &[(1, Direction::Up), (1, Direction::Down)]);
    let rate = log_uniform(rng, RATE);
    let other = (rate * log_uniform(rng, ASYMMETRY)).min(MAX_RATE);
    let half_us = log_uniform(rng, BASE_RTT) / 2.0 * 1e6;
    let loss = if rng.chance(LOSSY) { log_uniform(rng, LOSS) * 100.0 } else { 0.0 };
    let main_queue = queue(rng, rate);
    let flows = log_uniform(rng, FLOWS).round();
    let control = weighted(rng, &CONGESTION_CONTROLS);
    let side = |d: Direction| {
        let (rate, queue, loss) = match d == main {
            true => (rate, main_queue.clone(), loss),
            false => (other, super::fast_queue(other), 0.0),
        };
        format!(
            "{d} = {{ rate = \"{rate:.0}bit\", delay = \"{half_us:.0}us\", queue = \"{queue}\", loss = \"{loss:.4}%\" }}"
        )
    };
    let text = format!(
        "name = \"k{seed}-{index}\"\nabout = \"A random path of the kernel\"\nsource = \"bench/score\"\n\n[[hop]]\n\
         name = \"line\"\n{}\n{}\n\n[load]\nup_flows = {flows}\ndown_flows = {flows}\n\
         congestion_control = \"{control}\"\nduration = \"30s\"\n",
        side(Direction::Up),
        side(Direction::Down)
    );
    Path { name: format!("{seed}:{index}"), text, files: Vec::new() }
}

fn queue(rng: &mut Rng, rate: f64) -> String {
    let kind = weighted(rng, &KINDS);
    let bytes = (rate / 8.0 * log_uniform(rng, BUFFER)).max(4.0 * FULL_PACKET);
    let target_ms = super::queue::TARGET_PACKETS * FULL_PACKET * 8.0 / rate * 1e3;
    match kind {
        Kind::TailBytes => format!("fifo limit {bytes:.0}b"),
        Kind::TailPackets => format!("fifo limit {:.0}p", bytes / FULL_PACKET),
        Kind::Codel => format!("codel limit 1000p target {:.1}ms", target_ms.max(5.0)),
        Kind::FqCodel => format!("fq_codel limit 10240p target {:.1}ms", target_ms.max(5.0)),
        Kind::Pie => format!("pie limit 1000p target {:.1}ms", target_ms.max(15.0)),
        Kind::Cake => "cake unlimited".to_owned(),
    }
}

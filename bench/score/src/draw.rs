//! Random paths. All quantities are drawn log-uniformly unless the code says otherwise.
use fathom_units::{Direction, Rng};
use std::fmt::Write as _;

/// Range of link rates, bit/s.
const RATE: [f64; 2] = [100e3, 2.5e9];
/// Range of base round-trip times, s.
const BASE_RTT: [f64; 2] = [0.001, 0.7];
/// Range of buffers, s at the rate of the link.
const BUFFER: [f64; 2] = [0.002, 100.0];
/// Most packets that a path may simulate in its load phase; faster paths are loaded for a shorter
/// time.
const MAX_PACKETS: f64 = 600e3;
/// Bytes of a full packet on the link: 1500 of IP and 14 of Ethernet, as the simulator counts.
pub(crate) const FULL_PACKET: f64 = 1514.0;
/// Share of the links' bits that IP packets of full size have.
pub(crate) const IP_SHARE: f64 = 1500.0 / 1514.0;

/// How the queue of the loaded direction is managed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Management {
    TailDrop,
    HeadDrop,
    Aqm,
}

/// A path and its truth.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// As a scenario file.
    pub(crate) text: String,
    /// The loaded direction.
    pub(crate) direction: Direction,
    /// Rate of its bottleneck, bits of IP packets per second.
    pub(crate) rate: f64,
    /// Bytes of IP packets in a full buffer.
    pub(crate) buffer: f64,
    pub(crate) management: Management,
    /// Loss outside queues in the loaded direction.
    pub(crate) loss: f64,
    pub(crate) load_s: f64,
}

fn log_uniform(rng: &mut Rng, [low, high]: [f64; 2]) -> f64 {
    low * (high / low).powf(rng.next_f64())
}

fn one_of<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// Path number `index` of `seed`.
pub(crate) fn path(seed: u64, index: u64) -> Path {
    let mut rng = Rng::stream(seed, &format!("path {index}"));
    let rng = &mut rng;
    let direction = one_of(rng, &Direction::BOTH);
    let rate = log_uniform(rng, RATE).round();
    let other_rate = (rate * log_uniform(rng, [1.0, 20.0])).min(RATE[1]).round();
    let base_s = log_uniform(rng, BASE_RTT);
    let buffer_s = log_uniform(rng, BUFFER);
    let (queue, management, buffer_bytes) = queue(rng, rate, buffer_s);
    let loss = if rng.chance(0.3) { log_uniform(rng, [1e-4, 0.03]) } else { 0.0 };
    let flows = log_uniform(rng, [1.0, 200.0]).round().min((rate / 20e3).max(1.0)) as u32;
    let control = one_of(rng, &["cubic", "cubic", "cubic", "reno", "bbr"]);
    // A test ends its phases after 30 s at the latest.
    let load_s = (MAX_PACKETS * FULL_PACKET * 8.0 / rate).clamp(2.0, 30.0);
    let delay = base_s / 2.0 * 1e6;
    let loaded = format!(
        "rate = \"{rate}bit\", delay = \"{delay:.0}us\", queue = \"{queue}\", loss = \"{:.4}%\"",
        loss * 100.0
    );
    let other = format!("rate = \"{other_rate}bit\", delay = \"{delay:.0}us\"");
    let (up, down) = match direction {
        Direction::Up => (loaded, other),
        Direction::Down => (other, loaded),
    };
    let side = direction.name();
    let mut text = String::new();
    let _ = write!(
        text,
        "name = \"p{seed}-{index}\"\nabout = \"A random path.\"\nsource = \"bench/score\"\n\n[[hop]]\nname = \"link\"\n\
         up = {{ {up} }}\ndown = {{ {down} }}\n\n[load]\n{side}_flows = {flows}\ncongestion_control = \"{control}\"\n\
         duration = \"{load_s:.3}s\"\n\n[run]\nidle = \"3s\"\n",
    );
    Path { text, direction, rate: rate * IP_SHARE, buffer: buffer_bytes * IP_SHARE, management, loss, load_s }
}

/// The text of a queue, its kind, and its limit in bytes on the link.
fn queue(rng: &mut Rng, rate: f64, buffer_s: f64) -> (String, Management, f64) {
    let bytes = (rate / 8.0 * buffer_s).max(2.0 * FULL_PACKET);
    let packets = (bytes / FULL_PACKET).round().max(2.0);
    let target_ms = (1.5 * FULL_PACKET * 8.0 / rate * 1e3).max(5.0);
    let aqm_packets = packets.max(10_000.0);
    match rng.below(10) {
        0..=2 => (format!("fifo limit {bytes:.0}b"), Management::TailDrop, bytes),
        3..=4 => (format!("fifo limit {packets}p"), Management::TailDrop, packets * FULL_PACKET),
        5 => (format!("fifo limit {bytes:.0}b drop head"), Management::HeadDrop, bytes),
        6 => (format!("codel limit {aqm_packets}p target {target_ms:.1}ms"), Management::Aqm, bytes),
        7 => (format!("fq_codel limit {aqm_packets}p target {target_ms:.1}ms"), Management::Aqm, bytes),
        8 => {
            (format!("pie limit {aqm_packets}p target {:.1}ms", target_ms.max(15.0)), Management::Aqm, bytes)
        }
        _ => ("cake unlimited".to_owned(), Management::Aqm, bytes),
    }
}

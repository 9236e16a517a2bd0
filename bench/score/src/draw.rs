//! Random paths. Every range and weight is a named constant of this module; `docs/score.md`
//! explains them.
mod kernel;
mod link;
mod queue;
mod range;
mod traffic;

use fathom_units::{Direction, PerDirection, Rng};
pub(crate) use kernel::kernel_path;
use range::{
    ASYMMETRY, BASE_RTT, LOAD_S, LOSS, MAX_PACKETS, OTHER_BUFFER, OTHER_LINK, RATE, REORDER, REORDER_DELAY,
    log_uniform, weighted,
};

/// Bytes of a full packet on the link: 1500 of IP and 14 of Ethernet, as the simulator counts.
pub(crate) const FULL_PACKET: f64 = 1514.0;

/// Share of paths that are drawn to be healthy.
const HEALTHY: f64 = 1.0 / 3.0;
/// Share of lines with the same rate in both directions.
const SYMMETRIC: f64 = 0.3;
/// Share of asymmetric lines that are slower towards the user.
const SLOW_DOWN: f64 = 0.1;
/// Shares of lines with random loss, and with reordering.
const LOSSY: f64 = 0.3;
const REORDERING: f64 = 0.1;
/// Number of links in series.
const LINKS: [(u64, usize); 3] = [(45, 1), (35, 2), (20, 3)];
/// Queue of a link that is not slow: 10 ms.
const FAST_QUEUE_S: f64 = 0.01;

/// A path as a scenario file, with the traces that it names.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) files: Vec<(String, String)>,
}

/// Path number `index` of `seed`.
pub(crate) fn path(seed: u64, index: u64) -> Path {
    let mut rng = Rng::stream(seed, &format!("path {index}"));
    let rng = &mut rng;
    let is_healthy = rng.chance(HEALTHY);
    let main = weighted(rng, &[(1, Direction::Up), (1, Direction::Down)]);
    let rates = rates(rng, main);
    let variation = if is_healthy { link::Variation::Fixed } else { link::variation(rng, rates[main]) };
    let queue = queue::queue(rng, rates[main], is_healthy);
    // A shaper varies by itself.
    let variation = if queue.is_shaper { link::Variation::Fixed } else { variation };
    let link = link::link(rng, variation, &rates);
    let fastest = rates.up.max(rates.down) * link.peak_ratio;
    let load_s = (MAX_PACKETS * FULL_PACKET * 8.0 / fastest).clamp(LOAD_S[0], LOAD_S[1]);
    let links = weighted(rng, &LINKS);
    let main_at = rng.below(links as u64) as usize;
    let half_s = log_uniform(rng, BASE_RTT) / 2.0 / links as f64;
    let mut text =
        format!("name = \"p{seed}-{index}\"\nabout = \"A random path\"\nsource = \"bench/score\"\n\n");
    for at in 0..links {
        let sides = if at == main_at {
            main_sides(rng, main, &rates, &queue, &link)
        } else {
            other_sides(rng, &rates, is_healthy)
        };
        let side = |d: Direction| format!("{d} = {{ delay = \"{:.0}us\", {} }}\n", half_s * 1e6, sides[d]);
        text += &format!("[[hop]]\nname = \"hop{at}\"\n{}{}\n", side(Direction::Up), side(Direction::Down));
    }
    text += &traffic::traffic(rng, &rates, load_s);
    Path { name: format!("{seed}:{index}"), text, files: link.files }
}

/// Rates of the main link, the drawn one in direction `main`.
fn rates(rng: &mut Rng, main: Direction) -> PerDirection<f64> {
    let rate = log_uniform(rng, RATE);
    let mut ratio = if rng.chance(SYMMETRIC) { 1.0 } else { log_uniform(rng, ASYMMETRY) };
    if rng.chance(SLOW_DOWN) {
        ratio = 1.0 / ratio;
    }
    // `ratio` is down to up.
    let other = match main {
        Direction::Up => rate * ratio,
        Direction::Down => rate / ratio,
    };
    let other = other.clamp(RATE[0], RATE[1]);
    PerDirection::from_fn(|d| if d == main { rate.round() } else { other.round() })
}

fn main_sides(
    rng: &mut Rng,
    main: Direction,
    rates: &PerDirection<f64>,
    queue: &queue::Queue,
    link: &link::Link,
) -> PerDirection<String> {
    let mut impairment = String::new();
    if rng.chance(LOSSY) {
        impairment += &format!(", loss = \"{:.4}%\"", log_uniform(rng, LOSS) * 100.0);
    }
    if rng.chance(REORDERING) {
        let (share, delay) = (log_uniform(rng, REORDER) * 100.0, log_uniform(rng, REORDER_DELAY) * 1e3);
        impairment += &format!(", reorder = \"{share:.3}%\", reorder_delay = \"{delay:.2}ms\"");
    }
    PerDirection::from_fn(|d| {
        if d != main {
            return format!("{}, queue = \"{}\"", link.keys[d], fast_queue(rates[d]));
        }
        let keys = match queue.is_shaper {
            true => format!("rate = \"{:.0}bit\"", rates[d] * queue::SHAPED_LINK),
            false => link.keys[d].clone(),
        };
        format!("{keys}, queue = \"{}\"{impairment}", queue.text)
    })
}

fn other_sides(rng: &mut Rng, rates: &PerDirection<f64>, is_healthy: bool) -> PerDirection<String> {
    let ratio = log_uniform(rng, OTHER_LINK);
    let seconds = if is_healthy { FAST_QUEUE_S } else { log_uniform(rng, OTHER_BUFFER) };
    PerDirection::from_fn(|d| {
        let rate = ratio * rates[d];
        let bytes = (rate / 8.0 * seconds).max(20.0 * FULL_PACKET);
        format!("rate = \"{rate:.0}bit\", queue = \"fifo limit {bytes:.0}b\"")
    })
}

/// A queue of 10 ms; on a slow link, where this is less than some packets, one per flow.
fn fast_queue(rate: f64) -> String {
    if rate < queue::SHORT_QUEUE_RATE {
        let target_ms = queue::TARGET_PACKETS * FULL_PACKET * 8.0 / rate * 1e3;
        return format!("fq_codel target {:.1}ms", target_ms.max(5.0));
    }
    format!("fifo limit {:.0}b", rate / 8.0 * FAST_QUEUE_S)
}

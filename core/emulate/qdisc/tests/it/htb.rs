//! HTB's shares compared with a fluid model.
use crate::common::{Log, build, packet};
use fathom_qdisc::Qdisc;
use fathom_units::{Rng, Time};

/// Packet size in bytes; rates are in kbit/s.
const LEN: u64 = 1000;
const RATE: f64 = 10_000.0;
/// Seconds until the bursts are over, and seconds of the measurement.
const START: u64 = 10;
const SECONDS: u64 = 40;
/// Deep enough that a class loses no tokens while it waits for the turn of another.
const BURSTS: &str = "burst 10000b cburst 10000b";

struct Leaf {
    middle: usize,
    rate: f64,
    ceil: f64,
    quantum: f64,
    prio: u64,
    is_active: bool,
}

/// A top class with middle classes and leaves; each leaf takes the flow of its number.
struct Tree {
    rate: f64,
    /// Rate and ceil.
    middles: Vec<(f64, f64)>,
    leaves: Vec<Leaf>,
}

impl Tree {
    /// Leaves below one class.
    fn flat(rng: &mut Rng) -> Tree {
        let mut tree = Tree { rate: RATE, middles: vec![(RATE, RATE)], leaves: vec![] };
        let leaves = 2 + rng.below(5);
        (0..leaves).for_each(|_| tree.add_leaf(0, leaves, rng));
        tree
    }
    /// Leaves below classes below one class.
    fn deep(rng: &mut Rng) -> Tree {
        let mut tree = Tree { rate: RATE, middles: vec![], leaves: vec![] };
        let count = 2 + rng.below(2);
        for middle in 0..count as usize {
            let rate = RATE / count as f64 * (0.5 + 0.5 * rng.next_f64());
            let ceil = rate + rng.next_f64() * (RATE - rate);
            tree.middles.push((rate.floor(), ceil.floor()));
            let leaves = 1 + rng.below(3);
            (0..leaves).for_each(|_| tree.add_leaf(middle, leaves, rng));
        }
        tree
    }
    /// Adds one of `leaves` leaves of the same class.
    fn add_leaf(&mut self, middle: usize, leaves: u64, rng: &mut Rng) {
        let rate = self.middles[middle].0 / leaves as f64 * (0.2 + 0.8 * rng.next_f64());
        let ceil = rate + rng.next_f64() * (RATE - rate);
        self.leaves.push(Leaf {
            middle,
            rate: rate.floor(),
            ceil: ceil.floor(),
            quantum: [1500.0, 3000.0, 6000.0][rng.below(3) as usize],
            prio: rng.below(2),
            is_active: rng.chance(0.7),
        });
    }

    fn spec(&self) -> String {
        let is_flat = self.middles.len() == 1;
        let (top, parent) = if is_flat { ("", "") } else { (" class 1 rate 10mbit", "parent 1 ") };
        let mut text = if is_flat { "htb".to_string() } else { format!("htb{top} {BURSTS}") };
        for (index, (rate, ceil)) in self.middles.iter().enumerate() {
            text += &format!(" class {} {parent}rate {rate}kbit ceil {ceil}kbit {BURSTS}", 100 + index);
        }
        for (index, leaf) in self.leaves.iter().enumerate() {
            let Leaf { middle, rate, ceil, quantum, prio, .. } = leaf;
            text += &format!(" class {} parent {}", 200 + index, 100 + middle);
            text += &format!(" rate {rate}kbit ceil {ceil}kbit {BURSTS} quantum {quantum}b prio {prio}");
            text += &format!(" match flow {index}");
        }
        text
    }

    /// Rates of the leaves in the fluid model: each gets its own rate, then a share of what its
    /// class has left, then of what the top has left. Lower priority numbers go first; shares are
    /// proportional to quanta, up to all ceils.
    fn fluid(&self) -> Vec<f64> {
        let own = |leaf: &Leaf| if leaf.is_active { leaf.rate } else { 0.0 };
        let mut shares: Vec<f64> = self.leaves.iter().map(own).collect();
        for middle in 0..self.middles.len() {
            let left = self.middles[middle].0 - self.sum(&shares, middle);
            self.pour(&mut shares, left, |leaf| leaf.middle == middle);
        }
        let left = self.rate - shares.iter().sum::<f64>();
        self.pour(&mut shares, left, |_| true);
        shares
    }

    fn sum(&self, shares: &[f64], middle: usize) -> f64 {
        self.leaves.iter().zip(shares).filter(|(leaf, _)| leaf.middle == middle).map(|(_, share)| share).sum()
    }

    fn pour(&self, shares: &mut [f64], amount: f64, takes: impl Fn(&Leaf) -> bool) {
        const DROPS: u32 = 5000;
        for _ in 0..DROPS {
            let thirsty = |index: &usize| {
                let leaf = &self.leaves[*index];
                let below_ceils =
                    shares[*index] < leaf.ceil && self.sum(shares, leaf.middle) < self.middles[leaf.middle].1;
                leaf.is_active && takes(leaf) && below_ceils
            };
            let all: Vec<usize> = (0..shares.len()).filter(thirsty).collect();
            let Some(first) = all.iter().map(|index| self.leaves[*index].prio).min() else { return };
            let now: Vec<usize> = all.into_iter().filter(|index| self.leaves[*index].prio == first).collect();
            let quanta: f64 = now.iter().map(|index| self.leaves[*index].quantum).sum();
            for index in now {
                shares[index] += amount / f64::from(DROPS) * self.leaves[index].quantum / quanta;
            }
        }
    }

    /// Bytes of each leaf after [`SECONDS`] on an unlimited link; active leaves stay backlogged.
    fn run(&self) -> Vec<u64> {
        let (mut queue, mut log) = (build(&self.spec()), Log::default());
        let mut bytes = vec![0; self.leaves.len()];
        for (index, leaf) in self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.is_active) {
            assert!(leaf.rate > 0.0);
            (0..3).for_each(|_| queue.enqueue(packet("", index as u64, LEN), Time::ZERO, &mut log));
        }
        let (mut now, second) = (Time::ZERO, 1_000_000_000);
        while now < Time::from_nanos((START + SECONDS) * second) {
            while let Some((sent, _)) = queue.dequeue(now, &mut log) {
                bytes[sent.flow as usize] += if now < Time::from_nanos(START * second) { 0 } else { LEN };
                queue.enqueue(sent, now, &mut log);
            }
            let Some(next) = queue.next_ready(now) else { break };
            assert!(next > now, "{}: nothing to do at {now}", self.spec());
            now = next;
        }
        assert_eq!(log.0, Vec::<String>::new());
        bytes
    }
}

/// Converts to kbit/s.
fn rates(bytes: &[u64]) -> Vec<f64> {
    bytes.iter().map(|bytes| *bytes as f64 * 8.0 / 1000.0 / SECONDS as f64).collect()
}

#[test]
fn leaves_of_one_class_match_the_fluid_model() {
    for seed in 0..40 {
        let tree = Tree::flat(&mut Rng::new(seed));
        for (index, (got, expected)) in rates(&tree.run()).iter().zip(&tree.fluid()).enumerate() {
            let error = (got - expected).abs();
            // The tolerance includes one packet.
            let place = format!("seed {seed}: {}: leaf {index}", tree.spec());
            assert!(error <= 0.01 * expected + 0.4, "{place} has {got}, not {expected} kbit/s");
        }
    }
}

/// How several classes share borrowed rate for their leaves does not depend on quanta alone: if a
/// leaf ends its turn while it sends from its own class's tokens, the turn of that class at the top
/// ends too, in Linux as here. But no class gets less than its rate or more than its ceil, and no
/// rate stays unused that a class may use.
#[test]
fn deeper_trees_keep_rates_and_ceils_and_waste_nothing() {
    for seed in 0..40 {
        let tree = Tree::deep(&mut Rng::new(seed));
        let (shares, fluid) = (rates(&tree.run()), tree.fluid());
        let place = format!("seed {seed}: {}: {shares:.0?}", tree.spec());
        let within = |got: f64, least: f64, most: f64| got >= 0.99 * least && got <= 1.01 * most + 0.4;
        for (leaf, share) in tree.leaves.iter().zip(&shares) {
            let least = if leaf.is_active { leaf.rate } else { 0.0 };
            assert!(within(*share, least, if leaf.is_active { leaf.ceil } else { 0.0 }), "{place}: {share}");
        }
        for (middle, (rate, ceil)) in tree.middles.iter().enumerate() {
            // Its leaves may be unable to use all that it may send.
            let wanted = tree.sum(&fluid, middle);
            let sum = tree.sum(&shares, middle);
            assert!(within(sum, rate.min(wanted), *ceil), "{place}: {sum}");
        }
        let (sum, expected) = (shares.iter().sum::<f64>(), fluid.iter().sum::<f64>());
        assert!(within(sum, expected, expected), "{place}: {sum}, not {expected} in all");
    }
}

//! SFB's bins: 8 levels of 16; a flow has one bin in each level.
use super::SfbParams;
use crate::Packet;
use fathom_units::Ratio;

const LEVELS: usize = 8;
const BINS: usize = 16;
pub(super) const CERTAIN: u16 = u16::MAX;

#[derive(Clone, Copy, Default)]
struct Bin {
    packets: u16,
    probability: u16,
}

/// The smallest queue and the lowest probability among a flow's bins.
pub(super) struct Fullness {
    pub(super) packets: u16,
    pub(super) probability: u16,
}

pub(super) struct Bins {
    pub(super) salt: u64,
    target: u16,
    increment: u16,
    decrement: u16,
    levels: [[Bin; BINS]; LEVELS],
}

impl Bins {
    pub(super) fn new(params: &SfbParams, salt: u64) -> Self {
        let steps = |ratio: Ratio| (ratio.0 * f64::from(CERTAIN) + 0.5) as u16;
        Bins {
            salt,
            target: params.target,
            increment: steps(params.increment),
            decrement: steps(params.decrement),
            levels: [[Bin::default(); BINS]; LEVELS],
        }
    }

    /// Four bits per level. Never 0, which means "not counted".
    pub(super) fn hash(&self, packet: &impl Packet) -> u32 {
        // Knuth's multiplicative hash, because flow hashes may differ in only a few bits.
        let spread = packet.flow_hash(self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((spread >> 32) as u32).max(1)
    }

    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        let slot = move |level: usize| (hash >> (4 * level)) as usize % BINS;
        self.levels.iter_mut().enumerate().map(move |(level, bins)| &mut bins[slot(level)])
    }

    /// Updates the probabilities of a flow's bins at an arrival.
    pub(super) fn on_arrival(&mut self, hash: u32) -> Fullness {
        let (target, increment, decrement) = (self.target, self.increment, self.decrement);
        let mut least = Fullness { packets: u16::MAX, probability: CERTAIN };
        for bin in self.of(hash) {
            if bin.packets == 0 {
                bin.probability = bin.probability.saturating_sub(decrement);
            } else if bin.packets >= target {
                bin.probability = bin.probability.saturating_add(increment);
            }
            least.packets = least.packets.min(bin.packets);
            least.probability = least.probability.min(bin.probability);
        }
        least
    }

    pub(super) fn add(&mut self, hash: u32) {
        if hash != 0 {
            self.of(hash).for_each(|bin| bin.packets = bin.packets.saturating_add(1));
        }
    }

    pub(super) fn remove(&mut self, hash: u32) {
        if hash != 0 {
            self.of(hash).for_each(|bin| bin.packets = bin.packets.saturating_sub(1));
        }
    }
}

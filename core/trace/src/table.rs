//! Flows by their addresses and ports: open addressing with linear probing, both directions in one entry.
use crate::End;
use alloc::vec;
use alloc::vec::Vec;
use fathom_capture::Address;

/// Addresses and ports, the smaller pair first, so that both directions have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    low: (Address, u16),
    high: (Address, u16),
}

impl Key {
    /// Of a packet, and whether its sender is the first of the pair.
    pub(crate) fn of(source: (Address, u16), destination: (Address, u16)) -> (Key, bool) {
        let is_low = source <= destination;
        let (low, high) = if is_low { (source, destination) } else { (destination, source) };
        (Key { low, high }, is_low)
    }
    /// The two ends, that of `A` first.
    pub(crate) const fn ends(&self, a_is_low: bool) -> [(Address, u16); 2] {
        if a_is_low { [self.low, self.high] } else { [self.high, self.low] }
    }
    /// Multiply and fold, twice: each bit of the key moves each bit of the hash.
    pub(crate) fn hash(&self, seed: u64) -> u64 {
        let ports = u64::from(self.low.1) << 16 | u64::from(self.high.1);
        let (low, high) = (self.low.0.bits(), self.high.0.bits());
        let first = fold(low as u64 ^ seed, high as u64 ^ MIX[0]);
        let upper = (low >> 64) as u64 ^ ((high >> 64) as u64).rotate_left(32);
        fold(first ^ ports ^ MIX[1], upper ^ MIX[2] ^ seed)
    }
}

/// Odd numbers with as many ones as zeros: the fractional parts of the square roots of 2, 3 and 5.
const MIX: [u64; 3] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];

const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Which end sent a packet, given whether it is the lower of the pair and whether A is.
pub(crate) const fn end_of(is_low: bool, a_is_low: bool) -> End {
    if is_low == a_is_low { End::A } else { End::B }
}

/// An entry: part of the hash, and the place of the flow, whose key is compared there.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    place: u32,
}

const EMPTY: u32 = u32::MAX;
const FREE: Slot = Slot { hash: 0, place: EMPTY };
const FIRST_SLOTS: usize = 64;

/// The table: from a key's hash to the place of its flow.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    used: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table { slots: vec![FREE; FIRST_SLOTS], used: 0 }
    }
    /// The place of the flow with this hash for which `is_it`.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.home(hash as u32);
        loop {
            let slot = self.slots.get(at)?;
            if slot.place == EMPTY {
                return None;
            }
            if slot.hash == hash as u32 && is_it(slot.place) {
                return Some(slot.place);
            }
            at = self.after(at);
        }
    }
    /// Adds what [`Table::find`] did not find.
    pub(crate) fn insert(&mut self, hash: u64, place: u32) {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        self.put(Slot { hash: hash as u32, place });
        self.used += 1;
    }
    /// The flow at this place is to be found no more. Those behind it in its run move up, so that no gap parts them from home.
    pub(crate) fn remove(&mut self, hash: u64, place: u32) {
        let mut at = self.home(hash as u32);
        while self.slots.get(at).is_some_and(|slot| slot.place != place) {
            if self.slots.get(at).is_none_or(|slot| slot.place == EMPTY) {
                return;
            }
            at = self.after(at);
        }
        self.used = self.used.saturating_sub(1);
        let mut next = self.after(at);
        while let Some(slot) = self.slots.get(next).copied().filter(|slot| slot.place != EMPTY) {
            let from_home = next.wrapping_sub(self.home(slot.hash)) & self.mask();
            if from_home >= (next.wrapping_sub(at) & self.mask()) {
                self.set(at, slot);
                at = next;
            }
            next = self.after(next);
        }
        self.set(at, FREE);
    }
    fn put(&mut self, slot: Slot) {
        let mut at = self.home(slot.hash);
        while self.slots.get(at).is_some_and(|other| other.place != EMPTY) {
            at = self.after(at);
        }
        self.set(at, slot);
    }
    fn grow(&mut self) {
        let twice = self.slots.len() * 2;
        let old = core::mem::replace(&mut self.slots, vec![FREE; twice]);
        old.into_iter().filter(|slot| slot.place != EMPTY).for_each(|slot| self.put(slot));
    }
    fn set(&mut self, at: usize, slot: Slot) {
        if let Some(there) = self.slots.get_mut(at) {
            *there = slot;
        }
    }
    fn mask(&self) -> usize {
        self.slots.len() - 1
    }
    fn home(&self, hash: u32) -> usize {
        hash as usize & self.mask()
    }
    fn after(&self, at: usize) -> usize {
        (at + 1) & self.mask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use fathom_units::Rng;

    #[test]
    fn it_holds_what_a_map_holds() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let (mut table, mut map) = (Table::new(), BTreeMap::new());
            for place in 0..3000_u32 {
                // Few hashes, so that runs are long and keys collide.
                let hash = rng.below(200) * 7;
                if rng.chance(0.4) && !map.is_empty() {
                    let nth = rng.below(map.len() as u64) as usize;
                    let (old, its) = map.iter().nth(nth).map(|(p, h)| (*p, *h)).unwrap();
                    map.remove(&old);
                    table.remove(its, old);
                } else {
                    table.insert(hash, place);
                    map.insert(place, hash);
                }
                let (some, its) = map.iter().next().map_or((0, 0), |(p, h)| (*p, *h));
                assert_eq!(table.find(its, |p| p == some).is_some(), !map.is_empty(), "seed {seed}");
            }
            for (place, hash) in &map {
                assert_eq!(table.find(*hash, |p| p == *place), Some(*place), "seed {seed}");
            }
            assert_eq!(table.used, map.len());
        }
    }

    #[test]
    fn both_directions_have_one_key() {
        let (a, b) = ((Address::v4([10, 0, 0, 1]), 5000), (Address::v4([10, 0, 0, 2]), 80));
        let ((forth, first), (back, second)) = (Key::of(a, b), Key::of(b, a));
        assert_eq!(forth, back);
        assert_ne!(first, second);
        assert_eq!(forth.ends(first), [a, b]);
        assert_eq!(forth.hash(1), back.hash(1));
    }

    #[test]
    fn neighbouring_ports_and_addresses_spread() {
        let mut buckets = vec![0_u32; 1024];
        for port in 1024..9216_u16 {
            let (key, _) = Key::of((Address::v4([10, 0, 0, 1]), port), (Address::v4([10, 0, 0, 2]), 80));
            buckets[key.hash(0) as usize % 1024] += 1;
        }
        // 8192 in 1024: 8 each; of a Poisson law's 1024 draws none is above 25.
        assert!(buckets.iter().all(|n| *n <= 25), "{:?}", buckets.iter().max());
    }
}

//! Hash table of flows: open addressing, linear probing, one entry for both directions.
use crate::End;
use crate::batch::Chain;
use crate::probe_totals::Socket;
use alloc::vec;
use alloc::vec::Vec;
use fathom_capture::Address;

/// Data for matching packets to a flow and for its batched packets. Stored separately from the
/// flow's other state, so that this part stays in the CPU caches with many flows.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Entry {
    addresses: [Address; 2],
    ports: [u16; 2],
    pub(crate) chain: Chain,
}

impl Entry {
    pub(crate) fn new([a, b]: [Socket; 2]) -> Self {
        Entry { addresses: [a.0, b.0], ports: [a.1, b.1], chain: Chain::EMPTY }
    }
    /// The end that sent a packet from `source` to `destination`, if it belongs to this flow.
    #[inline]
    pub(crate) fn sender(&self, source: Socket, destination: Socket) -> Option<End> {
        let Entry { addresses: [a, b], ports: [of_a, of_b], .. } = *self;
        sender(&[(a, of_a), (b, of_b)], source, destination)
    }
}

/// The end that sent a packet, if it belongs to the flow between `ends` (A first).
#[inline]
pub(crate) fn sender(ends: &[Socket; 2], source: Socket, destination: Socket) -> Option<End> {
    if is_same(ends, &[source, destination]) {
        Some(End::A)
    } else if is_same(ends, &[destination, source]) {
        Some(End::B)
    } else {
        None
    }
}

/// Whether two pairs are equal. Ports differ in most cases; addresses are compared branchless.
#[inline]
pub(crate) fn is_same([a, b]: &[Socket; 2], [c, d]: &[Socket; 2]) -> bool {
    let differs = |one: &Socket, other: &Socket| one.0.bits() ^ other.0.bits();
    a.1 == c.1 && b.1 == d.1 && (differs(a, c) | differs(b, d)) == 0
}

/// A hash that is the same in both directions: symmetric functions of the pair, multiplied and
/// folded. Without knowing the seed, nobody can construct collisions.
#[inline]
pub(crate) fn hash(source: Socket, destination: Socket, seed: u64) -> u64 {
    let word = |(address, port): Socket| {
        let bits = address.bits();
        let (low, high) = (bits as u64 ^ seed ^ MIX[0], (bits >> 64) as u64 ^ seed.rotate_left(32) ^ MIX[1]);
        fold(low, high) ^ (u64::from(port) << 40)
    };
    let (one, other) = (word(source), word(destination));
    fold(one.wrapping_add(other) ^ MIX[0], (one ^ other) ^ MIX[1])
}

/// Odd numbers with as many ones as zeros: the fractional parts of the square roots of 2 and 3.
const MIX: [u64; 2] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b];

const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Part of the hash, and the index of the flow, where the full key is compared.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    place: u32,
}

const EMPTY: u32 = u32::MAX;
const FREE: Slot = Slot { hash: 0, place: EMPTY };
const FIRST_SLOTS: usize = 64;

/// Maps the hash of a key to the index of its flow.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    used: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table { slots: vec![FREE; FIRST_SLOTS], used: 0 }
    }
    /// First result of `of` for the indices with this hash.
    #[inline]
    pub(crate) fn find<T>(&self, hash: u64, of: impl Fn(u32) -> Option<T>) -> Option<T> {
        let mut at = self.home(hash as u32);
        loop {
            let slot = self.slots.get(at)?;
            if slot.place == EMPTY {
                return None;
            }
            if slot.hash == hash as u32
                && let Some(found) = of(slot.place)
            {
                return Some(found);
            }
            at = self.after(at);
        }
    }
    /// Adds an index that [`Table::find`] did not find.
    pub(crate) fn insert(&mut self, hash: u64, place: u32) {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        self.put(Slot { hash: hash as u32, place });
        self.used += 1;
    }
    /// Removes the flow at this index. Later entries of its run move up, so that it has no gap.
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
    fn contents_equal_those_of_a_map() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let (mut table, mut map) = (Table::new(), BTreeMap::new());
            for place in 0..3000_u32 {
                // Few hash values, so that runs are long and keys collide.
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
                let is_there = table.find(its, |p| (p == some).then_some(())).is_some();
                assert_eq!(is_there, !map.is_empty(), "seed {seed}");
            }
            for (place, hash) in &map {
                assert_eq!(table.find(*hash, |p| (p == *place).then_some(p)), Some(*place), "seed {seed}");
            }
            assert_eq!(table.used, map.len());
        }
    }

    #[test]
    fn both_directions_are_one_flow() {
        let (a, b) = ((Address::v4([10, 0, 0, 1]), 5000), (Address::v4([10, 0, 0, 2]), 80));
        assert_eq!(hash(a, b, 1), hash(b, a, 1));
        assert_eq!((sender(&[a, b], a, b), sender(&[a, b], b, a)), (Some(End::A), Some(End::B)));
        let strangers =
            [((a.0, 80), (b.0, 5000)), ((b.0, 5000), (a.0, 80)), (a, a), ((a.0, 5001), b), (a, (b.0, 81))];
        for (source, destination) in strangers {
            assert_eq!(sender(&[a, b], source, destination), None, "{source:?} {destination:?}");
            assert_ne!(hash(source, destination, 1), hash(a, b, 1), "{source:?} {destination:?}");
        }
    }

    /// Addresses with halves that would cancel if added. All hashes differ, for each seed.
    #[test]
    fn hashes_of_cancelling_addresses_differ() {
        let bits = |high: u64, low: u64| Address::from_bits(u128::from(high) << 64 | u128::from(low));
        for number in 0..20 {
            let mut rng = Rng::new(number);
            let seed = rng.next_u64();
            let target = (bits(1, 2), 3);
            let mut seen = BTreeMap::new();
            for word in 0..4096_u64 {
                for source in
                    [bits(word, word), bits(word, !word), bits(word << 41, word), bits(MIX[1], word)]
                {
                    let other = seen.insert(hash((source, 7), target, seed), source);
                    let is_itself = other.is_none_or(|known| known == source);
                    assert!(is_itself, "seed {seed}: {source} and {other:?}");
                }
            }
        }
        let (a, b) = ((Address::v4([10, 0, 0, 1]), 5000), (Address::v4([10, 0, 0, 2]), 80));
        assert_ne!(hash(a, b, 1), hash(a, b, 2));
    }

    #[test]
    fn neighboring_ports_and_addresses_spread() {
        let mut buckets = vec![0_u32; 1024];
        for port in 1024..9216_u16 {
            let hash = hash((Address::v4([10, 0, 0, 1]), port), (Address::v4([10, 0, 0, 2]), 80), 0);
            buckets[hash as usize % 1024] += 1;
        }
        // 8192 keys in 1024 buckets: 8 each. Of 1024 Poisson draws none exceeds 25.
        assert!(buckets.iter().all(|n| *n <= 25), "{:?}", buckets.iter().max());
    }
}

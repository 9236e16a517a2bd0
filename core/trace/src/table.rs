//! Flows by their addresses and ports: open addressing with linear probing, an entry for each direction.
use crate::End;
use crate::probe::Socket;
use alloc::vec;
use alloc::vec::Vec;

/// One direction of a flow, as the table holds it: the place of the flow, and which of its ends sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Way(u32);

impl Way {
    pub(crate) const fn new(place: u32, end: End) -> Self {
        Way(place << 1 | end as u32)
    }
    #[inline]
    pub(crate) const fn place(self) -> u32 {
        self.0 >> 1
    }
    #[inline]
    pub(crate) const fn end(self) -> End {
        if self.0 & 1 == 0 { End::A } else { End::B }
    }
}

/// Whether a packet from `source` to `destination` goes this way of the flow between `ends`; without a branch for each word.
#[inline]
pub(crate) fn is_of(ends: &[Socket; 2], end: End, source: Socket, destination: Socket) -> bool {
    let (from, to) = (ends[end as usize], ends[end.other() as usize]);
    let differs = |one: Socket, other: Socket| one.0.bits() ^ other.0.bits();
    let ports = (from.1 ^ source.1) | (to.1 ^ destination.1);
    (differs(from, source) | differs(to, destination) | u128::from(ports)) == 0
}

/// Of a packet from `source` to `destination`. Who does not know the seed finds no two that have the same.
#[inline]
pub(crate) fn hash(source: Socket, destination: Socket, seed: u64) -> u64 {
    let word = |(address, port): Socket| {
        let bits = address.bits();
        fold(bits as u64 ^ seed ^ MIX[0], (bits >> 64) as u64 ^ seed.rotate_left(32) ^ MIX[1])
            ^ (u64::from(port) << 40)
    };
    fold(word(source) ^ MIX[0], word(destination) ^ MIX[1])
}

/// Odd numbers with as many ones as zeros: the fractional parts of the square roots of 2 and 3.
const MIX: [u64; 2] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b];

const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// An entry: part of the hash, and the way, whose key is compared where its flow is.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    way: Way,
}

const NONE: Way = Way(u32::MAX);
const FREE: Slot = Slot { hash: 0, way: NONE };
const FIRST_SLOTS: usize = 64;

/// The table: from a key's hash to its way.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    used: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table { slots: vec![FREE; FIRST_SLOTS], used: 0 }
    }
    /// The first way with this hash that `is_it`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(Way) -> bool) -> Option<Way> {
        let mut at = self.home(hash as u32);
        loop {
            let slot = self.slots.get(at).filter(|slot| slot.way != NONE)?;
            if slot.hash == hash as u32 && is_it(slot.way) {
                return Some(slot.way);
            }
            at = self.after(at);
        }
    }
    /// Adds what [`Table::find`] did not find.
    pub(crate) fn insert(&mut self, hash: u64, way: Way) {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        self.put(Slot { hash: hash as u32, way });
        self.used += 1;
    }
    /// This way is to be found no more. Those behind it in its run move up, so that no gap parts them from home.
    pub(crate) fn remove(&mut self, hash: u64, way: Way) {
        let mut at = self.home(hash as u32);
        while self.slots.get(at).is_some_and(|slot| slot.way != way) {
            if self.slots.get(at).is_none_or(|slot| slot.way == NONE) {
                return;
            }
            at = self.after(at);
        }
        self.used = self.used.saturating_sub(1);
        let mut next = self.after(at);
        while let Some(slot) = self.slots.get(next).copied().filter(|slot| slot.way != NONE) {
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
        while self.slots.get(at).is_some_and(|other| other.way != NONE) {
            at = self.after(at);
        }
        self.set(at, slot);
    }
    fn grow(&mut self) {
        let twice = self.slots.len() * 2;
        let old = core::mem::replace(&mut self.slots, vec![FREE; twice]);
        old.into_iter().filter(|slot| slot.way != NONE).for_each(|slot| self.put(slot));
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
    use fathom_capture::Address;
    use fathom_units::Rng;

    #[test]
    fn it_holds_what_a_map_holds() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let (mut table, mut map) = (Table::new(), BTreeMap::new());
            for number in 0..3000_u32 {
                // Few hashes, so that runs are long and keys collide.
                let hash = rng.below(200) * 7;
                if rng.chance(0.4) && !map.is_empty() {
                    let nth = rng.below(map.len() as u64) as usize;
                    let (old, its) = map.iter().nth(nth).map(|(w, h)| (*w, *h)).unwrap();
                    map.remove(&old);
                    table.remove(its, Way(old));
                } else {
                    table.insert(hash, Way(number));
                    map.insert(number, hash);
                }
                let (some, its) = map.iter().next().map_or((0, 0), |(w, h)| (*w, *h));
                let is_there = table.find(its, |way| way == Way(some)).is_some();
                assert_eq!(is_there, !map.is_empty(), "seed {seed}");
            }
            for (way, hash) in &map {
                assert_eq!(table.find(*hash, |other| other == Way(*way)), Some(Way(*way)), "seed {seed}");
            }
            assert_eq!(table.used, map.len());
        }
    }

    #[test]
    fn each_direction_is_a_way() {
        let (a, b) = ((Address::v4([10, 0, 0, 1]), 5000), (Address::v4([10, 0, 0, 2]), 80));
        for end in [End::A, End::B] {
            let way = Way::new(7, end);
            assert_eq!((way.place(), way.end()), (7, end));
        }
        assert!(is_of(&[a, b], End::A, a, b) && is_of(&[a, b], End::B, b, a));
        let strangers = [
            (b, a),
            ((a.0, 80), (b.0, 5000)),
            ((b.0, 5000), (a.0, 80)),
            (a, a),
            ((a.0, 5001), b),
            (a, (b.0, 81)),
        ];
        for (source, destination) in strangers {
            assert!(!is_of(&[a, b], End::A, source, destination), "{source:?} {destination:?}");
            assert_ne!(hash(source, destination, 1), hash(a, b, 1), "{source:?} {destination:?}");
        }
        assert_ne!(hash(a, b, 1), hash(a, b, 2));
    }

    /// What has the same hash with one seed has another with the next: addresses that differ in their upper half as in the lower, too.
    #[test]
    fn none_has_the_same_hash_as_another_with_any_seed() {
        let bits = |high: u64, low: u64| Address::from_bits(u128::from(high) << 64 | u128::from(low));
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let key = rng.next_u64();
            let target = (bits(1, 2), 3);
            let mut seen = BTreeMap::new();
            for word in 0..4096_u64 {
                for source in
                    [bits(word, word), bits(word, !word), bits(word << 41, word), bits(MIX[1], word)]
                {
                    let other = seen.insert(hash((source, word as u16), target, key), (source, word));
                    let is_itself = other.is_none_or(|(address, port)| (address, port) == (source, word));
                    assert!(is_itself, "seed {seed}: {source} and {other:?}");
                }
            }
        }
    }

    #[test]
    fn neighbouring_ports_and_addresses_spread() {
        let mut buckets = vec![0_u32; 1024];
        for port in 1024..9216_u16 {
            let hash = hash((Address::v4([10, 0, 0, 1]), port), (Address::v4([10, 0, 0, 2]), 80), 0);
            buckets[hash as usize % 1024] += 1;
        }
        // 8192 in 1024: 8 each; of a Poisson law's 1024 draws none is above 25.
        assert!(buckets.iter().all(|n| *n <= 25), "{:?}", buckets.iter().max());
    }
}

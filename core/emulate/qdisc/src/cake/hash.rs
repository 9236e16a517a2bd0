//! Set-associative hash tables: with eight places per key, collisions are rare below half load.

/// Queues per tin, and places per host table. Source: `sch_cake`.
pub(super) const PLACES: usize = 1024;
/// Places per set.
const WAYS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) place: usize,
    pub(super) how: How,
}

/// How a key got its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// It already had it.
    Kept,
    /// The place was free.
    Taken,
    /// All eight places were in use: it shares the first one with another key.
    Shared,
}

/// The keys of a table. The caller knows which places are in use.
pub(super) struct Tags {
    tags: [u64; PLACES],
}

impl Tags {
    pub(super) const fn new() -> Self {
        Tags { tags: [0; PLACES] }
    }
    /// Finds or assigns the place of `key`. A key keeps its place until another key takes it.
    pub(super) fn find(&mut self, key: u64, in_use: impl Fn(usize) -> bool) -> Found {
        let first = key as usize % PLACES;
        if self.tags[first] == key && in_use(first) {
            return Found { place: first, how: How::Kept };
        }
        let (base, offset) = (first - first % WAYS, first % WAYS);
        let mut ways = (0..WAYS).map(|way| base + (offset + way) % WAYS);
        let kept = ways.clone().find(|place| self.tags[*place] == key);
        let found = kept.or_else(|| ways.find(|place| !in_use(*place)));
        let place = found.unwrap_or(first);
        self.tags[place] = key;
        let how = match found {
            None => How::Shared,
            Some(_) if kept.is_some() && in_use(place) => How::Kept,
            Some(_) => How::Taken,
        };
        Found { place, how }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// The fraction of `flows` flows that share a place with another, over many seeds.
    fn collisions(flows: usize, place_of: impl Fn(&mut [bool; PLACES], &mut Tags, u64) -> bool) -> f64 {
        let seeds = 200;
        let shared: usize = (0..seeds)
            .map(|seed| {
                let (mut used, mut tags, mut rng) = ([false; PLACES], Tags::new(), Rng::new(seed));
                (0..flows).filter(|_| place_of(&mut used, &mut tags, rng.next_u64())).count()
            })
            .sum();
        shared as f64 / (flows * seeds as usize) as f64
    }
    fn plain(flows: usize) -> f64 {
        collisions(flows, |used, _, key| core::mem::replace(&mut used[key as usize % PLACES], true))
    }
    fn eight_ways(flows: usize) -> f64 {
        collisions(flows, |used, tags, key| {
            let found = tags.find(key, |place| used[place]);
            used[found.place] = true;
            found.how == How::Shared
        })
    }

    /// "Piece of CAKE" figure 1. In a plain hash, flow n + 1 collides with 1 - (1 - 1/1024)^n. A
    /// set is full with the Poisson probability of eight or more at a mean of n / 128.
    #[test]
    fn eight_ways_have_hardly_any_collisions_up_to_half_load() {
        for (flows, at_most) in [(64, 0.0001), (128, 0.0001), (256, 0.001), (512, 0.02)] {
            let (got, plain) = (eight_ways(flows), plain(flows));
            assert!(got <= at_most, "{flows} flows: {got} with eight ways, {plain} with a plain hash");
            let expected = 1.0 - (1.0 - libm::pow(1.0 - 1.0 / 1024.0, flows as f64)) * 1024.0 / flows as f64;
            assert!(libm::fabs(plain - expected) < 0.01, "{flows} flows: {plain}, expected {expected}");
        }
        // Full table: 37 % in a plain hash; with eight ways 1 - E[min(8, Poisson(8))] / 8 = 14 %.
        assert!(libm::fabs(eight_ways(1024) - 0.14) < 0.01, "{}", eight_ways(1024));
        assert!(libm::fabs(plain(1024) - 0.368) < 0.01, "{}", plain(1024));
    }

    #[test]
    fn a_key_keeps_its_place_until_another_takes_it() {
        let (mut tags, mut used) = (Tags::new(), [false; PLACES]);
        let key = |n: u64| 16 + n * PLACES as u64;
        for n in 1..=8 {
            let found = tags.find(key(n), |place| used[place]);
            assert_eq!(found, Found { place: 15 + n as usize, how: How::Taken });
            used[found.place] = true;
        }
        assert_eq!(tags.find(key(3), |place| used[place]), Found { place: 18, how: How::Kept });
        assert_eq!(tags.find(key(9), |place| used[place]), Found { place: 16, how: How::Shared });
        // The ninth key owns the first place now, so the first key must share a place.
        assert_eq!(tags.find(key(1), |place| used[place]), Found { place: 16, how: How::Shared });
        used[20] = false;
        // An unused place still belongs to its old key if that key returns first.
        assert_eq!(tags.find(key(5), |place| used[place]), Found { place: 20, how: How::Taken });
        assert_eq!(tags.find(key(10), |place| used[place]), Found { place: 20, how: How::Taken });
    }
}

//! Set-associative tables: an entry lies in one of eight places, so that few keys collide before the table is nearly full.

/// Queues in a tin, and places in a host table. Source: `sch_cake`.
pub(super) const PLACES: usize = 1024;
/// Places in a set.
const WAYS: usize = 8;

/// Where a key was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) place: usize,
    /// How it came to be there.
    pub(super) how: How,
}

/// How a key came to its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// It was there.
    Kept,
    /// The place was free.
    Taken,
    /// All eight places were in use; it shares its first one with another key.
    Shared,
}

/// The keys of a table. Whether a place is in use is for the caller to know.
pub(super) struct Tags {
    tags: [u64; PLACES],
}

impl Tags {
    pub(super) const fn new() -> Self {
        Tags { tags: [0; PLACES] }
    }
    /// The place of `key`, which is noted there. A key keeps its place while nobody else takes it.
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

    /// Share of `flows` flows that share a place with another, over many seeds.
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

    /// "Piece of CAKE" figure 1. A flow that comes as number n + 1 meets a plain hash with n of 1024 places hit:
    /// 1 - (1 - 1/1024)^n. The set of eight is full with the Poisson probability of eight or more at a mean of n / 128.
    #[test]
    fn eight_ways_have_next_to_no_collisions_up_to_half_load() {
        for (flows, at_most) in [(64, 0.0001), (128, 0.0001), (256, 0.001), (512, 0.02)] {
            let (got, plain) = (eight_ways(flows), plain(flows));
            assert!(got <= at_most, "{flows} flows: {got} with eight ways, {plain} with a plain hash");
            let expected = 1.0 - (1.0 - libm::pow(1.0 - 1.0 / 1024.0, flows as f64)) * 1024.0 / flows as f64;
            assert!(libm::fabs(plain - expected) < 0.01, "{flows} flows: {plain}, expected {expected}");
        }
        // Full: a plain hash has 37 % in a place with another, eight ways 1 - E[min(8, Poisson(8))] / 8 = 14 %.
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
        // The first place is the ninth's now, and the first key finds no other.
        assert_eq!(tags.find(key(1), |place| used[place]), Found { place: 16, how: How::Shared });
        used[20] = false;
        // A place that nobody uses is still the old key's if it comes first.
        assert_eq!(tags.find(key(5), |place| used[place]), Found { place: 20, how: How::Taken });
        assert_eq!(tags.find(key(10), |place| used[place]), Found { place: 20, how: How::Taken });
    }
}

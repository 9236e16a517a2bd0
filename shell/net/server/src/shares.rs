//! Fair shares: how many of a limited number of places one client may hold.
//!
//! A client is known by its address, which it can choose within a range that one owner has. So a
//! *host* is an IPv4 address or an IPv6 /64 (the prefix of one link, RFC 4291), and a *network* is
//! a /24 or a /56 (the prefix that providers give to a site, RFC 6177).
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host may hold one in this many of all places.
const HOST_SHARE: u32 = 4;
/// A network may hold one in this many of all places.
const NETWORK_SHARE: u32 = 2;

/// A range of addresses that counts as one client, or as one group of clients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Prefix {
    address: IpAddr,
    bits: u8,
}

impl Prefix {
    /// One client: an IPv4 address, or an IPv6 /64.
    pub(crate) fn host(client: IpAddr) -> Prefix {
        Prefix::new(client, 32, 64)
    }
    /// The network of a client: its /24, or its /56.
    pub(crate) fn network(client: IpAddr) -> Prefix {
        Prefix::new(client, 24, 56)
    }
    fn new(client: IpAddr, v4_bits: u8, v6_bits: u8) -> Prefix {
        match client {
            IpAddr::V4(v4) => {
                let mask = u32::MAX << (32 - v4_bits);
                Prefix { address: Ipv4Addr::from(u32::from(v4) & mask).into(), bits: v4_bits }
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX << (128 - v6_bits);
                Prefix { address: Ipv6Addr::from(u128::from(v6) & mask).into(), bits: v6_bits }
            }
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.address, self.bits) {
            (IpAddr::V4(address), 32) => write!(f, "{address}"),
            (address, bits) => write!(f, "{address}/{bits}"),
        }
    }
}

/// Why a client gets no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoPlace {
    /// Its host or network holds its share: these, and how many places they hold.
    Share(Prefix, u32),
    /// All places are held.
    Full,
}

/// Places held by hosts and networks.
#[derive(Debug)]
pub(crate) struct Shares {
    places: u32,
    taken: u32,
    hosts: HashMap<Prefix, u32>,
    networks: HashMap<Prefix, u32>,
}

impl Shares {
    pub(crate) fn new(places: u32) -> Shares {
        Shares { places, taken: 0, hosts: HashMap::new(), networks: HashMap::new() }
    }
    /// Whether `client` may have one more place.
    pub(crate) fn check(&self, client: IpAddr) -> Result<(), NoPlace> {
        let (host, network) = (Prefix::host(client), Prefix::network(client));
        for (prefix, held, share) in
            [(host, held(&self.hosts, host), HOST_SHARE), (network, self.of_network(client), NETWORK_SHARE)]
        {
            if held >= self.places.div_ceil(share) {
                return Err(NoPlace::Share(prefix, held));
            }
        }
        if self.taken >= self.places { Err(NoPlace::Full) } else { Ok(()) }
    }
    pub(crate) fn take(&mut self, client: IpAddr) {
        self.taken += 1;
        *self.hosts.entry(Prefix::host(client)).or_default() += 1;
        *self.networks.entry(Prefix::network(client)).or_default() += 1;
    }
    pub(crate) fn release(&mut self, client: IpAddr) {
        self.taken = self.taken.saturating_sub(1);
        release(&mut self.hosts, Prefix::host(client));
        release(&mut self.networks, Prefix::network(client));
    }
    /// Places held by the network of `client`.
    pub(crate) fn of_network(&self, client: IpAddr) -> u32 {
        held(&self.networks, Prefix::network(client))
    }
}

fn held<K: Eq + Hash>(counts: &HashMap<K, u32>, key: K) -> u32 {
    counts.get(&key).copied().unwrap_or(0)
}

fn release(counts: &mut HashMap<Prefix, u32>, key: Prefix) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// A place that can be taken from its holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Held<K> {
    /// Identifies the place.
    pub(crate) key: K,
    /// Places that the holder's network has.
    pub(crate) of_network: u32,
    /// Whether it is held without use.
    pub(crate) is_idle: bool,
    /// Whether it has been held for as long as every holder is granted.
    pub(crate) is_due: bool,
    /// When it was taken, in any unit.
    pub(crate) since: u64,
}

/// The place to free for a client whose network has `mine` places when all are held: one without
/// use; otherwise one of a network that has more places than the client's would then have;
/// otherwise one that was held long enough. Of several, the oldest of the largest network.
pub(crate) fn place_to_free<K: Copy>(held: impl Iterator<Item = Held<K>> + Clone, mine: u32) -> Option<K> {
    let first = |is_eligible: &dyn Fn(&Held<K>) -> bool| {
        let eligible = held.clone().filter(|place| is_eligible(place));
        eligible.min_by_key(|p| (std::cmp::Reverse(p.of_network), p.since)).map(|p| p.key)
    };
    first(&|place| place.is_idle)
        .or_else(|| first(&|place| place.of_network > mine + 1))
        .or_else(|| first(&|place| place.is_due))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn prefixes() {
        assert_eq!(Prefix::host(ip("192.0.2.77")).to_string(), "192.0.2.77");
        assert_eq!(Prefix::network(ip("192.0.2.77")).to_string(), "192.0.2.0/24");
        assert_eq!(Prefix::host(ip("2001:db8:1:2ff:3::4")).to_string(), "2001:db8:1:2ff::/64");
        assert_eq!(Prefix::network(ip("2001:db8:1:2ff:3::4")).to_string(), "2001:db8:1:200::/56");
    }

    #[test]
    fn a_host_gets_a_quarter_and_a_network_half() {
        let mut shares = Shares::new(16);
        for n in 0..8_u8 {
            let client = IpAddr::from([192, 0, 2, n / 4]);
            assert_eq!(shares.check(client), Ok(()), "{n}");
            shares.take(client);
        }
        assert_eq!(shares.check(ip("192.0.2.0")), Err(NoPlace::Share(Prefix::host(ip("192.0.2.0")), 4)));
        assert_eq!(shares.check(ip("192.0.2.9")), Err(NoPlace::Share(Prefix::network(ip("192.0.2.9")), 8)));
        for n in 0..8_u8 {
            let client = IpAddr::from([198, 51, n, 1]);
            assert_eq!(shares.check(client), Ok(()));
            shares.take(client);
        }
        assert_eq!(shares.check(ip("203.0.113.1")), Err(NoPlace::Full));
        shares.release(ip("192.0.2.0"));
        assert_eq!((shares.check(ip("203.0.113.1")), shares.taken), (Ok(()), 15));
    }

    #[test]
    fn a_single_place_can_be_taken() {
        let mut shares = Shares::new(1);
        assert_eq!(shares.check(ip("192.0.2.1")), Ok(()));
        shares.take(ip("192.0.2.1"));
        assert!(shares.check(ip("198.51.100.1")).is_err());
        shares.release(ip("192.0.2.1"));
        assert!(shares.hosts.is_empty() && shares.networks.is_empty());
    }

    fn place(key: u32, of_network: u32, is_idle: bool, is_due: bool) -> Held<u32> {
        Held { key, of_network, is_idle, is_due, since: u64::from(key) }
    }

    #[test]
    fn the_idle_place_is_freed_then_that_of_the_largest_network_then_the_one_that_is_due() {
        let all = [place(1, 2, false, true), place(2, 3, false, false), place(3, 1, true, false)];
        assert_eq!(place_to_free(all.iter().copied(), 0), Some(3));
        assert_eq!(place_to_free(all[..2].iter().copied(), 0), Some(2));
        assert_eq!(place_to_free(all[..2].iter().copied(), 2), Some(1));
        assert_eq!(place_to_free([place(4, 1, false, false)].into_iter(), 0), None);
        assert_eq!(place_to_free(std::iter::empty::<Held<u32>>(), 0), None);
    }
}

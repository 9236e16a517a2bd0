//! Shares of the connections: those without a valid key are closed first.
use fathom_fleet_admission::SiteName;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

/// Part of the connections that one address may hold without a valid key.
const UNPROVEN_SHARE: usize = 4;
/// Connections of a site that count as having a valid key, so that a stolen one keeps none out.
const MAX_OF_SITE: usize = 8;

struct Open {
    from: IpAddr,
    close: Arc<Notify>,
}

#[derive(Default)]
struct All {
    next: u64,
    /// Connections without a valid key, the oldest first.
    unproven: BTreeMap<u64, Open>,
    /// Number of those of each address.
    counts: BTreeMap<IpAddr, usize>,
    /// Number of connections with a valid key, and of those of each site.
    proven: usize,
    sites: BTreeMap<SiteName, usize>,
}

/// The open connections.
pub(crate) struct Places {
    max: usize,
    all: Mutex<All>,
}

/// The place of a connection, until it is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    /// The site whose valid key it has.
    site: OnceLock<SiteName>,
    /// Notified when the connection must close.
    pub(crate) close: Arc<Notify>,
}

impl All {
    fn remove(&mut self, number: u64) -> Option<Open> {
        let open = self.unproven.remove(&number)?;
        if let Some(count) = self.counts.get_mut(&open.from) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&open.from);
            }
        }
        Some(open)
    }
}

impl Places {
    pub(crate) fn new(max: usize) -> Places {
        Places { max: max.max(1), all: Mutex::default() }
    }
    /// Gives a new connection its place. If there is none, the oldest connection without a valid
    /// key makes place; `None` if all have one.
    pub(crate) fn admit(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let mut all = self.lock();
        let is_crowded =
            all.counts.get(&from).is_some_and(|count| *count >= self.max.div_ceil(UNPROVEN_SHARE));
        let victim = if is_crowded {
            all.unproven.iter().find(|(_, open)| open.from == from).map(|(number, _)| *number)
        } else if all.unproven.len() + all.proven >= self.max {
            Some(*all.unproven.keys().next()?)
        } else {
            None
        };
        if let Some(open) = victim.and_then(|number| all.remove(number)) {
            open.close.notify_one();
        }
        let (number, close) = (all.next, Arc::new(Notify::new()));
        all.next += 1;
        all.unproven.insert(number, Open { from, close: Arc::clone(&close) });
        *all.counts.entry(from).or_default() += 1;
        Some(Place { places: Arc::clone(self), number, site: OnceLock::new(), close })
    }
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The connection has a valid key of this site.
    pub(crate) fn prove(&self, site: &SiteName) {
        if self.site.get().is_some() {
            return;
        }
        let mut all = self.places.lock();
        let is_crowded = all.sites.get(site).is_some_and(|count| *count >= MAX_OF_SITE);
        // One that was already closed stays so.
        if !is_crowded && all.remove(self.number).is_some() && self.site.set(site.clone()).is_ok() {
            all.proven += 1;
            *all.sites.entry(site.clone()).or_default() += 1;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.places.lock();
        let Some(site) = self.site.get() else {
            all.remove(self.number);
            return;
        };
        all.proven -= 1;
        if let Some(count) = all.sites.get_mut(site) {
            *count -= 1;
            if *count == 0 {
                all.sites.remove(site);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(place: &Place) -> bool {
        place.places.lock().unproven.contains_key(&place.number)
    }

    #[test]
    fn connections_without_a_key_are_replaced_and_others_are_not() {
        let places = Arc::new(Places::new(8));
        let address = |number: u8| IpAddr::from([10, 0, 0, number]);
        let of_one: Vec<Place> = (0..3).map(|_| places.admit(address(1)).unwrap()).collect();
        assert!(!is_open(&of_one[0]) && is_open(&of_one[1]) && is_open(&of_one[2]));
        let proven: Vec<Place> = (10..16).map(|number| places.admit(address(number)).unwrap()).collect();
        let site = SiteName::parse("berlin").unwrap();
        proven.iter().for_each(|place| place.prove(&site));
        let newcomer = places.admit(address(2)).unwrap();
        assert!(!is_open(&of_one[1]) && is_open(&of_one[2]) && is_open(&newcomer));
        [&of_one[2], &newcomer].into_iter().for_each(|place| place.prove(&site));
        of_one[1].prove(&site);
        assert!(places.admit(address(3)).is_none());
        drop(proven);
        drop(of_one);
        assert!(places.admit(address(3)).is_some());
        assert_eq!(places.lock().proven, 1);
    }

    #[test]
    fn a_site_keeps_a_few_connections() {
        let places = Arc::new(Places::new(64));
        let site = |number: usize| SiteName::parse(&format!("s{number}")).unwrap();
        let from = |number: usize| IpAddr::from([10, 0, 0, number as u8]);
        let all: Vec<Place> = (0..64).map(|number| places.admit(from(number)).unwrap()).collect();
        all.iter().take(60).for_each(|place| place.prove(&site(0)));
        all.iter().skip(60).enumerate().for_each(|(number, place)| place.prove(&site(number + 1)));
        let newcomers: Vec<Place> = (64..116).map(|number| places.admit(from(number)).unwrap()).collect();
        assert!(newcomers.iter().all(is_open));
        assert_eq!(all.iter().filter(|place| place.site.get().is_some()).count(), MAX_OF_SITE + 4);
        drop((all, newcomers));
        let left = places.lock();
        assert_eq!((left.proven, left.sites.len(), left.counts.len(), left.unproven.len()), (0, 0, 0, 0));
    }
}

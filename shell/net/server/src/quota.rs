//! Bytes that hosts and networks may move in an hour.
use crate::shares::Prefix;
use crate::sync::lock;
use fathom_units::{Duration, Time};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

/// Time after which a host or network has its whole quota again.
const WINDOW: Duration = Duration::from_secs(3600);
/// Quota of a network in quotas of a host, as with sessions and connections.
const HOSTS_PER_NETWORK: u64 = 2;
/// Above this number of entries, those of past windows are removed.
const ENTRIES: usize = 4096;

/// A quota of bytes for each host, and twice as much for each network.
#[derive(Debug)]
pub(crate) struct Quota {
    bytes_per_host: u64,
    used: Mutex<HashMap<Prefix, Used>>,
}

#[derive(Clone, Copy, Debug)]
struct Used {
    since: Time,
    bytes: u64,
}

impl Quota {
    pub(crate) fn new(bytes_per_host: u64) -> Quota {
        Quota { bytes_per_host, used: Mutex::default() }
    }
    /// Adds `bytes` to what `client` moved; returns the bytes that it may still move.
    ///
    /// # Errors
    /// If its host or network has used up its quota: which one, and when it has its quota again.
    pub(crate) fn charge(&self, client: IpAddr, bytes: u64, now: Time) -> Result<u64, (Prefix, Duration)> {
        let mut used = lock(&self.used);
        if used.len() >= ENTRIES {
            used.retain(|_, used| now.saturating_since(used.since) < WINDOW);
        }
        let quotas = [
            (Prefix::host(client), self.bytes_per_host),
            (Prefix::network(client), self.bytes_per_host.saturating_mul(HOSTS_PER_NETWORK)),
        ];
        let mut result = Ok(u64::MAX);
        for (prefix, quota) in quotas {
            let current = used.get(&prefix).filter(|used| now.saturating_since(used.since) < WINDOW);
            let mut current = current.copied().unwrap_or(Used { since: now, bytes: 0 });
            current.bytes = current.bytes.saturating_add(bytes);
            result = result.and_then(|left| match quota.saturating_sub(current.bytes) {
                0 => Err((prefix, (current.since + WINDOW).saturating_since(now))),
                of_prefix => Ok(left.min(of_prefix)),
            });
            // Strangers must not fill the table: an entry exists only for who moved data.
            if current.bytes > 0 {
                used.insert(prefix, current);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn a_host_has_its_quota_and_a_network_twice_that() {
        let quota = Quota::new(100);
        let start = Time::from_nanos(5_000_000_000);
        assert_eq!(quota.charge(ONE, 99, start), Ok(1));
        let later = start + Duration::from_secs(600);
        assert_eq!(quota.charge(ONE, 1, later), Err((Prefix::host(ONE), Duration::from_secs(3000))));
        let neighbor = IpAddr::from([192, 0, 2, 2]);
        assert_eq!(quota.charge(neighbor, 99, later), Ok(1));
        let third = IpAddr::from([192, 0, 2, 3]);
        assert_eq!(quota.charge(third, 1, later).map_err(|(p, _)| p), Err(Prefix::network(ONE)));
        assert_eq!(quota.charge(IpAddr::from([198, 51, 100, 1]), 0, later), Ok(100));
        assert_eq!(quota.charge(ONE, 0, start + WINDOW), Ok(100));
    }

    #[test]
    fn the_table_keeps_nobody_who_moved_nothing_and_forgets_past_windows() {
        let quota = Quota::new(100);
        for n in 0..ENTRIES as u32 {
            let client = IpAddr::from((n << 8).to_be_bytes());
            assert_eq!(quota.charge(client, 0, Time::ZERO), Ok(100));
            assert_eq!(quota.charge(client, 1, Time::ZERO), Ok(99));
        }
        assert_eq!(quota.charge(ONE, 1, Time::ZERO + WINDOW), Ok(99));
        assert_eq!(lock(&quota.used).len(), 2);
    }
}

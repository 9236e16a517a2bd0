//! Limits what hosts send that have not shown that they receive at their address.
use crate::shares::Prefix;
use fathom_units::Time;
use std::collections::HashMap;
use std::net::IpAddr;

/// Hosts served in a second; further ones are refused, so that forged addresses take no memory.
const HOSTS: usize = 4096;

/// The datagrams of each host in the current second.
#[derive(Debug)]
pub(crate) struct HostRate {
    per_second: u32,
    second: u64,
    admitted: HashMap<Prefix, u32>,
}

impl HostRate {
    pub(crate) fn new(per_second: u32) -> HostRate {
        HostRate { per_second, second: 0, admitted: HashMap::new() }
    }
    /// Whether a datagram that arrived at `at` is within the limit of its host.
    pub(crate) fn admit(&mut self, client: IpAddr, at: Time) -> bool {
        let second = at.as_nanos() / 1_000_000_000;
        if second != self.second {
            self.second = second;
            self.admitted.clear();
        }
        let is_full = self.admitted.len() >= HOSTS;
        match self.admitted.get_mut(&Prefix::host(client)) {
            Some(admitted) => {
                *admitted = admitted.saturating_add(1);
                *admitted <= self.per_second
            }
            None if is_full => false,
            None => self.admitted.insert(Prefix::host(client), 1).is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Duration;

    #[test]
    fn each_host_has_its_rate_and_there_are_not_too_many() {
        let mut rate = HostRate::new(2);
        let (one, now) = (IpAddr::from([192, 0, 2, 1]), Time::ZERO);
        assert_eq!([(); 3].map(|()| rate.admit(one, now)), [true, true, false]);
        let others = (1..HOSTS as u32).map(|n| IpAddr::from(n.to_be_bytes()));
        assert!(others.into_iter().all(|other| rate.admit(other, now)));
        let late = IpAddr::from([198, 51, 100, 1]);
        assert_eq!([rate.admit(late, now), rate.admit(late, now + Duration::from_secs(1))], [false, true]);
        assert_eq!(rate.admitted.len(), 1);
    }
}

//! Sessions, and protection against password guessing.
use crate::connections::group;
use crate::secret::same;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Lifetime of a session, unless it is the least recently used of too many.
const SESSION_AGE: Duration = Duration::from_secs(30 * 86_400);
const MAX_SESSIONS: usize = 1_000;

/// Maximum wrong passwords per address in [`WINDOW`]; people mistype two or three times.
const MAX_FAILURES: usize = 5;
/// Maximum for all addresses together: even an attacker with a million addresses gets only 2.6e7
/// guesses a year, at 128 bits.
const MAX_FAILURES_OF_ALL: usize = 50;
/// Time after which a failure is forgotten.
const WINDOW: Duration = Duration::from_secs(60);

/// Sessions of logged-in browsers, by the value of their cookie.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Vec<(String, Instant)>,
}

impl Sessions {
    pub(crate) fn add(&mut self, text: String, now: Instant) {
        self.all.retain(|(_, since)| now.saturating_duration_since(*since) < SESSION_AGE);
        if self.all.len() >= MAX_SESSIONS {
            self.all.remove(0);
        }
        self.all.push((text, now));
    }

    pub(crate) fn has(&self, text: &[u8], now: Instant) -> bool {
        // All are compared, so that the time reveals nothing.
        self.all.iter().fold(false, |found, (session, since)| {
            let fresh = now.saturating_duration_since(*since) < SESSION_AGE;
            (same(session.as_bytes(), text) & fresh) | found
        })
    }

    pub(crate) fn end(&mut self, text: &[u8]) {
        self.all.retain(|(session, _)| !same(session.as_bytes(), text));
    }
}

/// Wrong passwords of the last minute.
#[derive(Default)]
pub(crate) struct Failures {
    of: BTreeMap<IpAddr, Vec<Instant>>,
}

impl Failures {
    /// Seconds until the next password from this address is checked; `None` if it can be checked
    /// now.
    pub(crate) fn wait_s(&mut self, from: IpAddr, now: Instant) -> Option<u64> {
        self.forget(now);
        let all: usize = self.of.values().map(Vec::len).sum();
        let own = self.of.get(&group(from)).map_or(0, Vec::len);
        let oldest = match (own >= MAX_FAILURES, all >= MAX_FAILURES_OF_ALL) {
            (true, _) => self.of.get(&group(from)).and_then(|times| times.first().copied()),
            (false, true) => self.of.values().filter_map(|times| times.first().copied()).min(),
            (false, false) => return None,
        };
        let age = oldest.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        Some(WINDOW.saturating_sub(age).as_secs() + 1)
    }

    pub(crate) fn add(&mut self, from: IpAddr, now: Instant) {
        self.forget(now);
        self.of.entry(group(from)).or_default().push(now);
    }

    fn forget(&mut self, now: Instant) {
        for times in self.of.values_mut() {
            times.retain(|since| now.saturating_duration_since(*since) < WINDOW);
        }
        self.of.retain(|_, times| !times.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixth_guess_of_a_minute_waits_and_others_do_not() {
        let start = Instant::now();
        let mut failures = Failures::default();
        let (one, other): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        for n in 0..5 {
            assert_eq!(failures.wait_s(one, start), None, "guess {n}");
            failures.add(one, start);
        }
        assert_eq!(failures.wait_s(one, start + Duration::from_secs(20)), Some(41));
        assert_eq!(failures.wait_s(other, start), None);
        assert_eq!(failures.wait_s(one, start + Duration::from_secs(60)), None);
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one_and_all_together_have_a_limit() {
        let now = Instant::now();
        let mut failures = Failures::default();
        for n in 0..5 {
            failures.add(format!("2001:db8::{n}").parse().unwrap(), now);
        }
        assert!(failures.wait_s("2001:db8::ffff".parse().unwrap(), now).is_some());
        assert!(failures.wait_s("2001:db8:0:1::1".parse().unwrap(), now).is_none());
        for n in 0..45 {
            failures.add(format!("192.0.2.{n}").parse().unwrap(), now);
        }
        assert!(failures.wait_s("198.51.100.1".parse().unwrap(), now).is_some());
    }

    #[test]
    fn sessions_end_by_age_logout_and_count() {
        let now = Instant::now();
        let mut sessions = Sessions::default();
        sessions.add("one".into(), now);
        assert!(sessions.has(b"one", now) && !sessions.has(b"on", now) && !sessions.has(b"", now));
        assert!(!sessions.has(b"one", now + SESSION_AGE));
        sessions.end(b"one");
        assert!(!sessions.has(b"one", now));
        for n in 0..=MAX_SESSIONS {
            sessions.add(format!("s{n}"), now);
        }
        assert!(!sessions.has(b"s0", now) && sessions.has(b"s1", now));
    }
}

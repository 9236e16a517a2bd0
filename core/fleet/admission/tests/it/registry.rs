//! The registry next to an oracle that keeps the history of every key.
use fathom_fleet_admission::{
    Authentication, Change, Digest, Labels, Registry, RegistryError, SiteName, Token, read_line,
};
use fathom_units::Rng;

const HOUR: u64 = 3_600_000;
const GRACE: u64 = 30_000;

fn name(text: &str) -> SiteName {
    SiteName::parse(text).unwrap()
}

fn token(text: &str, expires_ms: u64) -> Token {
    Token { digest: Digest::of(text), expires_ms, site: None, labels: None, replaces: false }
}

/// Applies a change to the registry and to one that is read back from lines.
struct Both {
    registry: Registry,
    journal: String,
}

impl Both {
    fn new() -> Both {
        Both { registry: Registry::default(), journal: String::new() }
    }
    fn apply(&mut self, change: &Change) {
        self.registry.apply(change).unwrap();
        self.journal.push_str(&change.to_line());
    }
    fn enroll(&mut self, at: &str, site: &str, key: &str, now: u64) -> Result<(), RegistryError> {
        let (token, key) = (Digest::of(at), Digest::of(key));
        let change = self.registry.enroll(&token, (&name(site), &Labels::default()), &key, now)?;
        self.apply(&change);
        Ok(())
    }
    fn is(&self, key: &str, now: u64) -> Authentication<'_> {
        self.registry.authenticate(&Digest::of(key), now, GRACE)
    }
    /// Reading the journal, or a snapshot of it, gives the same registry.
    fn check(&self, what: &str) {
        let read = |text: &str| {
            let mut registry = Registry::default();
            text.lines().for_each(|line| registry.apply(&read_line(line).unwrap()).unwrap());
            registry
        };
        assert!(read(&self.journal) == self.registry, "{what}: the journal differs");
        let snapshot: String = self.registry.snapshot(0).map(|change| change.to_line()).collect();
        assert!(read(&snapshot) == self.registry, "{what}: the snapshot differs");
    }
}

#[test]
fn a_token_enrolls_one_site_once_before_it_expires() {
    let mut both = Both::new();
    let now = 1_000;
    for life in [0, 24 * HOUR + 1] {
        assert_eq!(both.registry.issue(token("t", now + life), now), Err(RegistryError::Life));
    }
    let labels = Labels::parse([("plan", "50"), ("region", "a=b c")]).unwrap();
    let bound =
        Token { site: Some(name("paris")), labels: Some(labels.clone()), ..token("bound", now + HOUR) };
    let replacing = Token { replaces: true, ..token("replacing", now + HOUR) };
    for one in [token("t", now + HOUR), token("late", now + 1), bound, replacing] {
        let change = both.registry.issue(one, now).unwrap();
        both.apply(&change);
    }
    assert_eq!(both.enroll("none", "berlin", "k", now), Err(RegistryError::UnknownToken));
    assert_eq!(both.enroll("late", "berlin", "k", now + 1), Err(RegistryError::Expired));
    both.enroll("t", "berlin", "k1", now).unwrap();
    assert_eq!(both.enroll("t", "rome", "k2", now), Err(RegistryError::UnknownToken));
    assert_eq!(both.enroll("bound", "rome", "k2", now), Err(RegistryError::OtherSite(name("rome"))));
    let other = Labels::parse([("plan", "1000")]).unwrap();
    let refused =
        both.registry.enroll(&Digest::of("bound"), (&name("paris"), &other), &Digest::of("k2"), now);
    assert_eq!(refused, Err(RegistryError::OtherLabels(name("paris"))));
    both.enroll("bound", "paris", "k2", now).unwrap();
    assert_eq!(both.registry.site(&name("paris")).unwrap().labels, labels);
    assert!(matches!(both.is("k2", now), Authentication::Current(site) if site.name == name("paris")));
    let again = both.registry.issue(token("t2", now + HOUR), now).unwrap();
    both.apply(&again);
    assert_eq!(both.enroll("t2", "berlin", "k3", now), Err(RegistryError::Enrolled(name("berlin"))));
    both.enroll("replacing", "berlin", "k3", now).unwrap();
    assert!(matches!(both.is("k3", now), Authentication::Current(_)));
    assert!(matches!(both.is("k1", now + GRACE), Authentication::Duplicate(_)));
    let revoked = both.registry.revoke(&name("berlin"), now + 5).unwrap();
    both.apply(&revoked);
    for key in ["k1", "k3"] {
        assert!(matches!(both.is(key, now), Authentication::Revoked(_)));
    }
    assert_eq!(both.registry.revoke(&name("berlin"), now), Err(RegistryError::Revoked(name("berlin"))));
    assert_eq!(both.registry.revoke(&name("x"), now), Err(RegistryError::NoSite(name("x"))));
    both.check("tokens");
}

#[test]
fn a_duplicate_is_recorded_once_an_hour() {
    let mut both = Both::new();
    let change = both.registry.issue(token("t", HOUR), 1).unwrap();
    both.apply(&change);
    both.enroll("t", "berlin", "k", 1).unwrap();
    for (now, expected) in [(5, true), (HOUR, false), (HOUR + 5, true)] {
        let recorded = both.registry.duplicate(&name("berlin"), now);
        assert_eq!(recorded.is_some(), expected, "{now}");
        recorded.iter().for_each(|one| both.apply(one));
    }
    both.check("duplicates");
}

#[test]
fn damaged_and_contradicting_lines_are_found() {
    let change = Change::Revoked { site: name("berlin"), at_ms: 7 };
    let line = change.to_line();
    let line = line.trim_end();
    assert_eq!(read_line(line), Ok(change.clone()));
    for at in 0..line.len() {
        assert!(read_line(&line[..at]).is_err(), "cut at {at}");
        let mut bytes = line.as_bytes().to_vec();
        bytes[at] ^= 1;
        assert!(read_line(std::str::from_utf8(&bytes).unwrap()).is_err(), "byte {at}");
    }
    assert!(Registry::default().apply(&change).is_err());
}

/// What the oracle knows of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Offered,
    InUse,
    Dead(u64),
}

/// A key: its site, and what happened to it.
type Keys = Vec<(String, usize, Fate)>;

fn die(keys: &mut Keys, site: usize, fate: Fate, now: u64) {
    keys.iter_mut().filter(|key| key.1 == site && key.2 == fate).for_each(|key| key.2 = Fate::Dead(now));
}

#[test]
fn every_key_is_what_its_history_says() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let (mut both, mut keys, mut revoked) = (Both::new(), Keys::new(), [false; 3]);
        let mut now = 10;
        for step in 0..80 {
            now += rng.below(40_000);
            let what = format!("seed {seed}, step {step}");
            let new = format!("key {step}");
            let any = (!keys.is_empty()).then(|| rng.below(keys.len() as u64) as usize);
            match (rng.below(10), any) {
                (0..=1, _) | (_, None) => enroll(&mut both, (&mut keys, &mut revoked), &mut rng, &new, now),
                (2..=5, Some(any)) => {
                    let (key, site, fate) = keys[any].clone();
                    let change = both.registry.rotate(&Digest::of(&key), &Digest::of(&new), now);
                    assert_eq!(change.is_ok(), fate == Fate::InUse && !revoked[site], "{what}");
                    if let Ok(change) = change {
                        both.apply(&change);
                        die(&mut keys, site, Fate::Offered, now);
                        keys.push((new, site, Fate::Offered));
                    }
                }
                (6..=8, Some(any)) => {
                    let (key, site, fate) = keys[any].clone();
                    let change = both.registry.first_use(&Digest::of(&key), now);
                    assert_eq!(change.is_ok(), fate == Fate::Offered && !revoked[site], "{what}");
                    if let Ok(change) = change {
                        both.apply(&change);
                        die(&mut keys, site, Fate::InUse, now);
                        keys[any].2 = Fate::InUse;
                    }
                }
                (_, Some(any)) => {
                    let site = keys[any].1;
                    if let Ok(change) = both.registry.revoke(&name(&format!("s{site}")), now) {
                        both.apply(&change);
                        revoked[site] = true;
                    }
                }
            }
            check(&both, &keys, &revoked, now, &what);
        }
        both.check(&format!("seed {seed}"));
    }
}

fn enroll(both: &mut Both, (keys, revoked): (&mut Keys, &mut [bool; 3]), rng: &mut Rng, new: &str, now: u64) {
    let (site, replaces) = (rng.below(3) as usize, rng.chance(0.3));
    let one = Token { replaces, ..token(new, now + 1) };
    let change = both.registry.issue(one, now).unwrap();
    both.apply(&change);
    let exists = keys.iter().any(|key| key.1 == site);
    let enrolled = both.enroll(new, &format!("s{site}"), new, now);
    assert_eq!(enrolled.is_ok(), !exists || replaces);
    if enrolled.is_ok() {
        die(keys, site, Fate::InUse, now);
        die(keys, site, Fate::Offered, now);
        keys.push((new.to_owned(), site, Fate::InUse));
        revoked[site] = false;
    }
}

fn check(both: &Both, keys: &Keys, revoked: &[bool; 3], now: u64, what: &str) {
    for (key, site, fate) in keys {
        let dead = keys.iter().rev().filter(|other| other.1 == *site && matches!(other.2, Fate::Dead(_)));
        let is = both.is(key, now);
        let agrees = match (is, fate) {
            // Only the last ones are remembered.
            (Authentication::Unknown, Fate::Dead(_)) => dead.count() > 8,
            (Authentication::Revoked(_), _) => revoked[*site],
            (Authentication::Current(_), Fate::InUse) | (Authentication::FirstUse(_), Fate::Offered) => true,
            (Authentication::JustReplaced(_), Fate::Dead(at)) => now - at < GRACE,
            (Authentication::Duplicate(_), Fate::Dead(at)) => now - at >= GRACE,
            _ => false,
        };
        assert!(agrees, "{what}: {key} of s{site} is {fate:?}, but {is:?}");
    }
    for site in 0..3 {
        let in_use = keys.iter().filter(|key| key.1 == site && key.2 == Fate::InUse).count();
        assert!(in_use <= 1, "{what}: s{site} has {in_use} keys in use");
    }
}

//! A gateway that is killed while sites replace their keys.
use crate::client::{exchange, request};
use crate::setup::{name, now_ms, until};
use fathom_fleet_agent::{AgentError, Enrollment, KeyKeeper, Labels, Trust, enroll};
use fathom_fleet_gateway::{Admin, TokenRequest};
use fathom_test_support::unused_port;
use fathom_units::Rng;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const SITES: usize = 4;

struct Running(Child);

impl Running {
    fn start(state: &Path, address: SocketAddr) -> Running {
        let path = std::env::current_exe().unwrap().with_file_name("../examples/fleet_gateway");
        let child = Command::new(&path).arg(state).arg(address.to_string()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|e| {
            panic!("{}: {e}; cargo test builds it unless --test is given", path.display())
        });
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Running(child)
    }
    /// As `kill -9`.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A request with a key that stores nothing: 404 says that the key is valid.
fn status(address: SocketAddr, key: &str) -> Option<u16> {
    let bearer = format!("Bearer {key}");
    let all = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/x-protobuf"),
        ("Content-Encoding", "snappy"),
    ];
    exchange(address, &request("POST", "/api/v1/write", &all, b"")).map(|answer| answer.status)
}

/// The keys of a site.
#[derive(Default)]
struct Keys {
    all: BTreeSet<String>,
    /// Those that ended, because a newer one was accepted.
    ended: BTreeSet<String>,
}

/// Replaces and uses keys until stopped.
fn rotate(path: &Path, address: SocketAddr, seed: u64, (stop, steps): (&AtomicBool, &AtomicU64)) -> Keys {
    let mut rng = Rng::new(seed);
    let keeper = KeyKeeper::new(path).unwrap();
    let mut keys = Keys::default();
    while !stop.load(Relaxed) {
        steps.fetch_add(1, Relaxed);
        keys.all.insert(keeper.key().unwrap());
        if rng.chance(0.6) {
            match keeper.rotate(now_ms()) {
                Ok(()) | Err(AgentError::Unavailable { .. }) => {}
                Err(error) => panic!("seed {seed}: {error}"),
            }
        } else {
            let key = keeper.key().unwrap();
            let seen = status(address, &key);
            assert!(matches!(seen, None | Some(404 | 503)), "seed {seed}: {seen:?}");
            if seen == Some(404) {
                keys.ended.extend(keys.all.iter().filter(|old| **old != key).cloned());
            }
        }
    }
    keys.all.insert(keeper.key().unwrap());
    keys
}

#[test]
fn no_site_is_locked_out_and_no_old_key_returns() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let address = SocketAddr::from(([127, 0, 0, 1], unused_port()));
    let paths: Vec<PathBuf> = (0..SITES).map(|site| dir.path().join(format!("s{site}.json"))).collect();
    {
        let _gateway = Running::start(&state, address);
        let admin = Admin::open(&state).unwrap();
        for (site, path) in paths.iter().enumerate() {
            let enrollment = Enrollment {
                url: format!("http://{address}"),
                token: admin.issue_token(&TokenRequest::default()).unwrap(),
                site: name(&format!("s{site}")),
                labels: Labels::default(),
                trust: Trust::System,
            };
            enroll(&enrollment, path, now_ms()).unwrap();
        }
    }
    let mut keys: Vec<Keys> = (0..SITES).map(|_| Keys::default()).collect();
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let gateway = Running::start(&state, address);
        let (stop, steps) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let sites: Vec<_> = paths
                .iter()
                .enumerate()
                .map(|(site, path)| {
                    let seed = seed * 100 + site as u64;
                    let shared = (&stop, &steps);
                    scope.spawn(move || rotate(path, address, seed, shared))
                })
                .collect();
            let wanted = 2 + rng.below(60);
            until("some rotations", || (steps.load(Relaxed) >= wanted).then_some(()));
            gateway.kill();
            stop.store(true, Relaxed);
            for (own, site) in keys.iter_mut().zip(sites) {
                let more = site.join().unwrap_or_else(|_| panic!("seed {seed}"));
                own.all.extend(more.all);
                own.ended.extend(more.ended);
            }
        });
        let _again = Running::start(&state, address);
        for (own, path) in keys.iter().zip(&paths) {
            // Also before the current key is used.
            for old in &own.ended {
                let seen = status(address, old);
                assert!(matches!(seen, Some(403 | 401)), "seed {seed}: a key that ended is {seen:?}");
            }
            let current = KeyKeeper::new(path).unwrap().key().unwrap();
            assert_eq!(status(address, &current), Some(404), "seed {seed}: {} is locked out", path.display());
            for old in own.all.iter().filter(|key| **key != current) {
                let seen = status(address, old);
                assert!(matches!(seen, Some(403 | 401)), "seed {seed}: an old key is {seen:?}");
            }
        }
    }
    let total = |of: fn(&Keys) -> usize| keys.iter().map(of).sum::<usize>();
    let (all, ended) = (total(|own| own.all.len()), total(|own| own.ended.len()));
    assert!(all > 100 && ended > 50, "{all} keys, {ended} of them ended");
}

#[test]
fn a_journal_that_ends_in_the_middle_of_a_line_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let admin = Admin::open(&state).unwrap();
    admin.issue_token(&TokenRequest::default()).unwrap();
    let journal = state.join("registry.journal");
    let first = std::fs::read(&journal).unwrap();
    admin.issue_token(&TokenRequest::default()).unwrap();
    let whole = std::fs::read(&journal).unwrap();
    for cut in first.len()..whole.len() {
        std::fs::write(&journal, &whole[..cut]).unwrap();
        let again = Admin::open(&state).unwrap();
        again.issue_token(&TokenRequest::default()).unwrap();
        assert_eq!(std::fs::read(&journal).unwrap().len(), whole.len(), "cut at {cut}");
    }
    // Damage before the last line is not repaired.
    let mut damaged = whole.clone();
    damaged[10] ^= 1;
    std::fs::write(&journal, &damaged).unwrap();
    let error = Admin::open(&state).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("line 1 is damaged"), "{error}");
}

#[test]
fn a_journal_is_rewritten_while_others_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let setup = crate::setup::Setup::new(|config| config.state.clone_from(&state));
    setup.enroll("berlin");
    let other = Admin::open(&state).unwrap();
    assert_eq!(other.sites().unwrap().len(), 1);
    let journal = state.join("registry.journal");
    let now = now_ms();
    // Lines as replacements would leave them.
    let line =
        |site: &str| fathom_fleet_admission::Change::Duplicate { site: name(site), at_ms: now }.to_line();
    let mut text = std::fs::read_to_string(&journal).unwrap();
    text.extend((0..10_100).map(|_| line("berlin")));
    std::fs::write(&journal, text).unwrap();
    setup.admin.issue_token(&TokenRequest::default()).unwrap();
    assert!(std::fs::read_to_string(&journal).unwrap().lines().count() < 5, "not rewritten");
    // The gateway and the other administrator continue with the new file.
    setup.enroll("rome");
    until("both sites", || (other.sites().unwrap().len() == 2).then_some(()));
    other.revoke(&name("rome")).unwrap();
    assert!(setup.admin.sites().unwrap().iter().any(|site| site.revoked_ms.is_some()));
}

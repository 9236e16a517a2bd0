//! Keepers of a key, with a simulated gateway.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use fathom_fleet_agent::{AgentError, Enrollment, Identity, KeyKeeper, Labels, SiteName, Trust, enroll};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const DAY_MS: u64 = 86_400_000;

/// Issues the keys `key-1`, `key-2` and so on, or answers with a status.
struct Simulated {
    dir: TempDir,
    url: String,
    issued: Arc<AtomicUsize>,
    /// The keys with which new ones were requested.
    used: Arc<Mutex<Vec<String>>>,
    status: Arc<Mutex<Option<&'static str>>>,
}

impl Simulated {
    fn start() -> Simulated {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gateway = Simulated {
            dir: tempfile::tempdir().unwrap(),
            url: format!("http://{}", listener.local_addr().unwrap()),
            issued: Arc::default(),
            used: Arc::default(),
            status: Arc::default(),
        };
        let (issued, used, status) =
            (Arc::clone(&gateway.issued), Arc::clone(&gateway.used), Arc::clone(&gateway.status));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (mut all, mut piece) = (Vec::new(), [0; 4_096]);
                // Bodies are JSON objects, so requests end with a brace.
                while !all.ends_with(b"}") {
                    let Ok(count @ 1..) = stream.read(&mut piece) else { break };
                    all.extend_from_slice(&piece[..count]);
                }
                let text = String::from_utf8_lossy(&all).into_owned();
                let bearer = text.lines().find_map(|line| line.split_once("earer "));
                used.lock().unwrap().extend(bearer.map(|(_, key)| key.trim().to_owned()));
                let refused = *status.lock().unwrap();
                let body = match refused {
                    Some(_) => "a reason\n".to_owned(),
                    None => format!("{{\"key\":\"key-{}\"}}", issued.fetch_add(1, Relaxed) + 1),
                };
                let (line, length) = (refused.unwrap_or("200 OK"), body.len());
                let head =
                    format!("HTTP/1.1 {line}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        gateway
    }
    fn enroll(&self) -> PathBuf {
        let path = self.dir.path().join("identity.json");
        let enrollment = Enrollment {
            url: self.url.clone(),
            token: "t".into(),
            site: SiteName::parse("berlin").unwrap(),
            labels: Labels::default(),
            trust: Trust::System,
        };
        enroll(&enrollment, &path, 0).unwrap();
        path
    }
}

#[test]
fn keepers_of_one_identity_replace_its_key_once() {
    let gateway = Simulated::start();
    let path = gateway.enroll();
    for day in 1..=5 {
        let replaced: usize = std::thread::scope(|scope| {
            let keepers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| KeyKeeper::new(&path).unwrap().rotate_if_due(day * DAY_MS).unwrap()))
                .collect();
            keepers.into_iter().map(|keeper| usize::from(keeper.join().unwrap())).sum()
        });
        assert_eq!(replaced, 1, "day {day}");
    }
    // Each key was requested with the one before.
    let used = gateway.used.lock().unwrap().clone();
    assert_eq!(used, ["key-1", "key-2", "key-3", "key-4", "key-5"]);
}

#[test]
fn a_key_can_be_read_at_any_moment_of_its_replacement() {
    let gateway = Simulated::start();
    let path = gateway.enroll();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (keeper, mut last) = (KeyKeeper::new(&path).unwrap(), 0);
            while !stop.load(Relaxed) {
                let key = keeper.key().unwrap();
                let number: usize = key.strip_prefix("key-").unwrap().parse().unwrap();
                assert!(number >= last && number <= gateway.issued.load(Relaxed));
                last = number;
            }
        });
        let keeper = KeyKeeper::new(&path).unwrap();
        (0..50).for_each(|now| keeper.rotate(now).unwrap());
        stop.store(true, Relaxed);
        reader.join().unwrap();
    });
}

#[test]
fn a_gateway_that_does_not_answer_well_leaves_the_key() {
    let gateway = Simulated::start();
    let path = gateway.enroll();
    let keeper = KeyKeeper::new(&path).unwrap();
    for (status, is_final) in [
        ("401 x", true),
        ("403 x", true),
        ("409 x", true),
        ("429 x", false),
        ("500 x", false),
        ("503 x", false),
        ("302 x", false),
        ("201 x", false),
    ] {
        *gateway.status.lock().unwrap() = Some(status);
        let error = keeper.rotate(1).unwrap_err();
        assert_eq!(matches!(error, AgentError::Refused { .. }), is_final, "{status}: {error}");
        assert_eq!(keeper.key().unwrap(), "key-1");
    }
    *gateway.status.lock().unwrap() = Some("200 x");
    assert!(matches!(keeper.rotate(1), Err(AgentError::Unavailable { .. })));
    // A file that cannot be written: the old key stays, and is valid until the new one is used.
    *gateway.status.lock().unwrap() = None;
    std::fs::create_dir(path.with_extension("new")).unwrap();
    assert!(matches!(keeper.rotate(1), Err(AgentError::File { .. })));
    assert_eq!(Identity::load(&path).unwrap().key, "key-1");
}

//! When the description of a site is sent again.
use super::*;
use crate::archive::{Hops, Store};
use std::sync::{Arc, Mutex};

const MINUTE: u64 = 60_000_000_000;

/// A site whose clock and routers a test sets.
struct Site {
    archive: Archive,
    routers: Arc<Mutex<Vec<&'static str>>>,
    description: Description,
    sent: String,
}

impl Site {
    fn new() -> Site {
        let routers: Arc<Mutex<Vec<&'static str>>> = Arc::default();
        let now = Arc::clone(&routers);
        let hops = move || now.lock().unwrap().iter().map(|address| address.parse().unwrap()).collect();
        let archive = Archive {
            name: "far".into(),
            to: Store::Folder("/mnt".into()),
            site: "berlin".into(),
            labels: vec![("plan".into(), "50".into())],
            hops: Hops::new(hops),
            results: None,
        };
        Site { archive, routers, description: Description::default(), sent: String::new() }
    }
    /// What is sent at this minute, while these routers are known.
    fn at(&mut self, minute: u64, routers: &[&'static str]) -> Option<String> {
        *self.routers.lock().unwrap() = routers.to_vec();
        let now = WallTime(1_000_000 * MINUTE + minute * MINUTE);
        let text = self.description.due(&self.archive, &self.sent, now)?;
        self.sent.clone_from(&text);
        Some(text)
    }
}

#[test]
fn routers_are_sorted_and_sent_after_an_hour() {
    let mut site = Site::new();
    let plain = r#"{"labels":{"plan":"50"},"site":"berlin"}"#;
    assert_eq!(site.at(0, &[]).as_deref(), Some(plain), "the first one is sent at once");
    for minute in 1..60 {
        assert_eq!(site.at(minute, &["198.51.100.7", "192.0.2.10"]), None);
    }
    let text = site.at(60, &["198.51.100.7", "192.0.2.9", "192.0.2.10", "2001:db8::1"]);
    let hops = r#"["192.0.2.9","192.0.2.10","198.51.100.7","2001:db8::1"]"#;
    assert_eq!(text, Some(format!(r#"{{"hops":{hops},"labels":{{"plan":"50"}},"site":"berlin"}}"#)));
}

#[test]
fn a_path_that_flaps_causes_no_upload_and_a_new_one_at_most_one_per_hour() {
    let mut site = Site::new();
    let (one, other) = (["192.0.2.1", "192.0.2.3"], ["192.0.2.2", "192.0.2.3"]);
    let flapping = (0..600).filter(|minute| {
        let routers = if minute % 7 < 3 { &one } else { &other };
        site.at(*minute, routers).is_some()
    });
    assert_eq!(flapping.collect::<Vec<_>>(), [0, 60]);
    assert_eq!(hops_of(&site.sent), ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    // A new router each minute.
    let all: Vec<&str> = (0..250).map(|n| &*format!("203.0.113.{n}").leak()).collect();
    let sent: Vec<u64> =
        (600..850).filter(|minute| site.at(*minute, &[all[*minute as usize - 600]]).is_some()).collect();
    assert_eq!(sent, [600, 660, 720, 780, 840]);
    // One that is gone is left out an hour later.
    assert!(site.at(900, &["192.0.2.9"]).is_some());
    assert!(site.at(960, &["192.0.2.9"]).is_some());
    assert_eq!(hops_of(&site.sent), ["192.0.2.9"]);
}

#[test]
fn a_restart_keeps_what_was_sent_until_a_whole_hour_is_known() {
    let mut site = Site::new();
    site.at(0, &["192.0.2.1", "192.0.2.2"]);
    site.at(60, &["192.0.2.1", "192.0.2.2"]).unwrap();
    let before = site.sent.clone();
    for start in [61, 100, 159] {
        site.description = Description::default();
        assert_eq!(site.at(start, &[]), None, "no router has answered yet");
        assert_eq!(site.at(start + 1, &["192.0.2.1"]), None);
        assert_eq!(site.at(start + 5, &["192.0.2.1", "192.0.2.2"]), None);
    }
    assert_eq!(site.at(219, &["192.0.2.1", "192.0.2.2"]), None, "nothing has changed");
    assert_eq!(site.sent, before);
}

#[test]
fn labels_are_sent_at_once_with_the_known_routers() {
    let mut site = Site::new();
    site.at(0, &[]);
    site.at(60, &["192.0.2.1"]).unwrap();
    site.archive.labels.clear();
    let text = site.at(70, &["192.0.2.2"]);
    assert_eq!(text.as_deref(), Some(r#"{"hops":["192.0.2.1"],"labels":{},"site":"berlin"}"#));
}

#[test]
fn a_clock_that_is_set_back_starts_a_new_hour() {
    let mut site = Site::new();
    site.at(5_000, &["192.0.2.1"]);
    assert_eq!(site.at(10, &["192.0.2.1"]), None);
    assert_eq!(site.at(69, &["192.0.2.1"]), None);
    assert!(site.at(70, &["192.0.2.1"]).is_some());
}

#[test]
fn the_description_is_within_the_limit_of_its_readers() {
    let mut site = Site::new();
    site.archive.labels = (0..8).map(|n| (format!("{n}").repeat(128), "\u{1f310}".repeat(32))).collect();
    site.archive.hops = Hops::new(|| {
        (0..5_000).map(|n| std::net::Ipv6Addr::from((u128::MAX >> 4) - (n << 16)).into()).collect()
    });
    site.at(0, &[]);
    let text = site.at(60, &[]).unwrap();
    assert_eq!(hops_of(&text).len(), MAX_HOPS);
    assert!(text.len() < 64 << 10, "{} bytes", text.len());
}

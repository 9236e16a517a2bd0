//! The description of a site is sent again, at most once an hour.
use crate::objects::objects;
use crate::past::{HOUR, Past, START, fixed, settable, until};
use fathom_watch_archive::{Archive, Archiver, Hops, Store};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

const KEY: &str = "sites/site=berlin/site.json";

#[test]
fn routers_are_added_to_the_site_after_an_hour_and_survive_a_restart() {
    let mut past = Past::new(30);
    past.record(START, START + 2 * HOUR);
    let folder = past.new_folder("disk");
    let now = START + 2 * HOUR;
    // The cursor of a version without routers.
    past.archive_to_folder("far", &folder, now, START + HOUR);
    let first = past.sent("far").unwrap().objects;
    let routers = Arc::new(Mutex::new(vec!["198.51.100.1", "192.0.2.1"]));
    let archive = || {
        let known = Arc::clone(&routers);
        let hops = move || known.lock().unwrap().iter().map(|address| address.parse().unwrap()).collect();
        Archive { hops: Hops::new(hops), ..past.archive("far", Store::Folder(folder.clone())) }
    };
    let (hand, clock) = settable(now);
    // Results are sent after the site, so they show that it was looked at.
    past.result("a.json", b"{}");
    let running = Archiver::start_with_clock(archive(), &past.dir(), clock);
    until("the result", || past.sent("far").filter(|sent| sent.objects == first + 1));
    assert_eq!(objects(&folder)[KEY], br#"{"labels":{"line":"fiber","region":"eu"},"site":"berlin"}"#);
    hand.store(now + HOUR, Ordering::SeqCst);
    let described =
        br#"{"hops":["192.0.2.1","198.51.100.1"],"labels":{"line":"fiber","region":"eu"},"site":"berlin"}"#;
    until("the routers", || (objects(&folder)[KEY] == described).then_some(()));
    until("the cursor", || past.sent("far").filter(|sent| sent.objects == first + 2));
    running.stop();
    // After a restart nothing is known at first, and nothing is sent.
    routers.lock().unwrap().clear();
    past.result("b.json", b"{}");
    let again = Archiver::start_with_clock(archive(), &past.dir(), fixed(now + HOUR));
    until("the result", || past.sent("far").filter(|sent| sent.objects == first + 3));
    again.stop();
    assert_eq!(objects(&folder)[KEY], described);
}

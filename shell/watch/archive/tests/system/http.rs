//! An HTTP server that fails in every way gets every object once.
use crate::objects::{objects, of_kind};
use crate::past::{HOUR, Past, START, fixed, until};
use crate::receiver::Action::{Answer, CloseMidway, Hang, Store as Accept, Truncate};
use crate::receiver::receiver;
use fathom_watch_archive::{Archiver, Store};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A token that changes with each request, and once cannot be read.
fn token(calls: &Arc<AtomicUsize>) -> fathom_watch_archive::Token {
    let calls = Arc::clone(calls);
    Arc::new(move || match calls.fetch_add(1, Ordering::SeqCst) {
        5 => Err(io::Error::other("half replaced")),
        call => Ok(format!("token-{call}\n")),
    })
}

#[test]
fn a_server_that_fails_in_every_way_gets_every_object_once() {
    let mut past = Past::new(10);
    past.record(START, START + 9 * HOUR);
    past.result("large \u{e9}?.json", &vec![b'7'; 3 << 20]);
    let (now, end) = (START + 9 * HOUR, START + 8 * HOUR);
    let folder = past.new_folder("disk");
    past.archive_to_folder("folder", &folder, now, end);
    let actions = [
        vec![Answer(503), Answer(503), Accept, Answer(500), Accept, Accept],
        vec![CloseMidway, Accept, Hang, Accept, Answer(401), Accept, Truncate, Accept],
        vec![Answer(302), Accept, Answer(429), Accept, Answer(408), Accept, Answer(404), Accept],
        vec![Answer(403), Accept],
    ];
    let (url, received) = receiver(actions.concat());
    let calls = Arc::new(AtomicUsize::new(0));
    let archive = past.archive("far", Store::Http { url, token: token(&calls), ca_file: None });
    let running = Archiver::start_with_clock(archive, &past.dir(), fixed(now));
    let sent = past.wait_until_sent("far", end);
    let notes: Vec<String> = running.notes().into_iter().map(|note| note.text).collect();
    running.stop();
    let all = received.lock().unwrap();
    let expected = objects(&folder);
    assert_eq!(all.objects.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(all.objects == expected, "the same bytes as in the folder");
    // What was stored without an answer came a second time, and nothing else did.
    assert_eq!(all.order.len(), expected.len() + 2);
    assert_eq!(sent.objects, expected.len() as u64);
    assert!(all.tokens.iter().all(|token| token.starts_with("Bearer token-")), "{:?}", all.tokens);
    let begun = notes.iter().filter(|text| text.contains("Will retry")).count();
    let over = notes.iter().filter(|text| text.contains("reachable again")).count();
    assert_eq!(begun, over, "one note at the begin of each outage, one at its end: {notes:#?}");
    for text in [
        "sites/site=berlin/site.json: HTTP 503: not now. Will retry",
        "HTTP 401: not now: check the key or token",
        "HTTP 403: not now: check the key or token",
        "redirected: use http://other.example/",
        "token: half replaced",
        "timeout",
    ] {
        assert!(notes.iter().any(|note| note.contains(text)), "{text}: {notes:#?}");
    }
    let left = std::fs::read_dir(past.dir()).unwrap().flatten().map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| !name.to_str().unwrap().ends_with(".tmp")));
}

#[test]
fn an_object_that_is_permanently_refused_is_skipped_and_counted() {
    let mut past = Past::new(30);
    past.record(START, START + 4 * HOUR);
    let (url, received) = receiver(vec![Accept, Answer(413), Answer(422), Accept]);
    let calls = Arc::new(AtomicUsize::new(100));
    let archive = past.archive("far", Store::Http { url, token: token(&calls), ca_file: None });
    let running = Archiver::start_with_clock(archive, &past.dir(), fixed(START + 4 * HOUR));
    let sent = past.wait_until_sent("far", START + 3 * HOUR);
    assert_eq!((sent.objects, sent.refused), (1 + 4, 2));
    let notes: Vec<String> = running.notes().into_iter().map(|note| note.text).collect();
    let key = "samples/site=berlin/date=2026-01-05/00.parquet";
    let expected = [
        format!("archive far: {key} was rejected and is skipped: HTTP 413: not now"),
        "archive far: 2 objects were rejected and skipped".to_owned(),
    ];
    assert_eq!(notes, expected);
    assert_eq!(of_kind(&received.lock().unwrap().objects, "samples/").count(), 2);
    running.stop();
}

#[test]
fn a_server_that_is_not_there_costs_no_memory_and_no_time_at_a_stop() {
    let mut past = Past::new(30);
    past.record(START, START + 4 * HOUR);
    let port = fathom_test_support::unused_port();
    let calls = Arc::new(AtomicUsize::new(100));
    let url = format!("http://127.0.0.1:{port}");
    let archive = past.archive("far", Store::Http { url, token: token(&calls), ca_file: None });
    let running = Archiver::start_with_clock(archive, &past.dir(), fixed(START + 4 * HOUR));
    let note = until("a note", || running.notes().pop()).text;
    assert!(note.contains("Connection refused") && note.contains("the history keeps the data"), "{note}");
    let began = std::time::Instant::now();
    running.stop();
    assert!(began.elapsed() < std::time::Duration::from_secs(2), "it ends between two attempts");
}

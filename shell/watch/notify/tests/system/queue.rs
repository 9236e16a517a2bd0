//! Queued notifications: for a receiver that fails, for one that hangs, and across restarts.
use crate::far::{closed, silent, web};
use crate::transports::transition;
use fathom_units::{Duration, WallTime};
use fathom_watch_alert::{AlertState, Change, Receiver, Route, Value};
use fathom_watch_notify::{AlertStateFile, Dispatcher};
use std::time::{Duration as Wait, SystemTime};

fn receiver(name: &str, url: &str) -> Receiver {
    let route = Route::Webhook { url: url.to_owned(), headers: Vec::new() };
    Receiver { name: name.to_owned(), route, timeout: Duration::from_secs(2) }
}

fn now() -> WallTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    WallTime(u64::try_from(since.as_nanos()).unwrap())
}

fn sent(change: Change, to: &[&str]) -> fathom_watch_alert::Transition {
    fathom_watch_alert::Transition { at: now(), ..transition(change, to) }
}

#[test]
fn failures_are_retried_in_order_and_reported_once() {
    let (url, requests) = web(&["500 Busy", "200 OK"]);
    let dispatcher = Dispatcher::start(&[receiver("ops", &url)], None);
    dispatcher.notify(&sent(Change::Raised, &["ops"]));
    dispatcher.notify(&sent(Change::Cleared, &["ops"]));
    dispatcher.notify(&sent(Change::Raised, &["somebody else"]));
    let status: Vec<String> = (0..3).map(|_| requests.recv_timeout(Wait::from_secs(20)).unwrap()).collect();
    let has = |text: &str, word: &str| text.contains(&format!("\"status\":\"{word}\""));
    assert!(
        has(&status[0], "raised") && has(&status[1], "raised") && has(&status[2], "cleared"),
        "{status:?}"
    );
    let reports: Vec<String> = dispatcher.stop().into_iter().map(|report| report.text).collect();
    let want = [
        "receiver ops (webhook): cannot deliver loss raised: home/köln icmp: HTTP 500: yes (will retry)",
        "receiver ops (webhook): works again",
    ];
    assert_eq!(reports, want);
}

#[test]
fn a_receiver_that_hangs_delays_no_other() {
    let (address, _listener) = silent();
    let (url, requests) = web(&["200 OK"]);
    let hangs =
        Receiver { timeout: Duration::from_secs(100), ..receiver("hangs", &format!("http://{address}")) };
    let dispatcher = Dispatcher::start(&[hangs, receiver("ops", &url)], None);
    for _ in 0..3 {
        dispatcher.notify(&sent(Change::Raised, &["hangs", "ops"]));
    }
    for _ in 0..3 {
        requests.recv_timeout(Wait::from_secs(20)).unwrap();
    }
    let _ = dispatcher.stop();
}

#[test]
fn a_full_queue_drops_its_oldest_and_reports_it() {
    let dispatcher = Dispatcher::start(&[receiver("ops", &format!("http://{}", closed()))], None);
    for _ in 0..300 {
        dispatcher.notify(&sent(Change::Raised, &["ops"]));
    }
    let reports = dispatcher.stop();
    let dropped =
        reports.iter().filter(|r| r.text.ends_with("queue full (256 notifications); dropped the oldest"));
    assert_eq!(dropped.count(), 300 - 256);
}

#[test]
fn undelivered_notifications_are_delivered_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let dispatcher =
        Dispatcher::start(&[receiver("o/p s", &format!("http://{}", closed()))], Some(dir.path()));
    dispatcher.notify(&sent(Change::Raised, &["o/p s"]));
    let _ = dispatcher.stop();
    let (url, requests) = web(&["200 OK"]);
    let again = Dispatcher::start(&[receiver("o/p s", &url)], Some(dir.path()));
    assert!(requests.recv_timeout(Wait::from_secs(20)).unwrap().contains("\"status\":\"raised\""));
    let _ = again.stop();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "an empty outbox has no file");
}

#[test]
fn alert_states_are_saved_and_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let memory = AlertStateFile::in_dir(dir.path());
    assert_eq!(memory.load(), Ok(Vec::new()));
    let kept = AlertState {
        alert: "loss".into(),
        target: "home/köln".into(),
        probe: "icmp".into(),
        is_raised: true,
        is_sent: true,
        to: vec!["ops".into()],
        since: WallTime(7),
        raised_at: WallTime(6),
        notified: WallTime(6),
        why: "loss is 10.8%".into(),
        changes: vec![WallTime(6), WallTime(7)],
        loss: vec![Value::Start, Value::Unknown, Value::Number(16.666)],
        rtt: vec![Value::Start, Value::Unknown, Value::Number(0.125)],
        ..AlertState::default()
    };
    memory.save(std::slice::from_ref(&kept)).unwrap();
    assert_eq!(memory.load(), Ok(vec![kept]));
}

#[test]
fn a_damaged_state_file_is_set_aside_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("alerts.json"), "{\"alerts\": [{\"alert\": 7}]}").unwrap();
    let memory = AlertStateFile::in_dir(dir.path());
    assert!(memory.load().unwrap_err().contains("is damaged and was renamed"));
    assert_eq!(memory.load(), Ok(Vec::new()));
    assert!(dir.path().join("alerts.damaged").exists());
}

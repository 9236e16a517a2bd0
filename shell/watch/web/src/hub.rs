//! Sends changes to all open pages as server-sent events, which resume after an interruption.
use crate::row::{key, row};
use crate::smoke::seconds;
use fathom_watch_plan::{OwnTrouble, TargetNow};
use fathom_web::lock;
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Heartbeat interval: most proxies close connections that are silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Delay before a browser reconnects.
const RETRY_MS: u32 = 2_000;
/// Maximum number of removed targets remembered for reconnecting pages. A page that was away longer
/// receives everything again.
const MAX_GONE: usize = 1_000;

/// The targets as all pages know them. State is kept instead of messages: a page that was away
/// receives each change once.
pub(crate) struct Hub {
    /// Identifies this run of the program, because version numbers restart.
    run: u64,
    state: Mutex<State>,
    version: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    version: u64,
    rows: BTreeMap<String, (u64, Value)>,
    gone: VecDeque<(u64, String)>,
    /// Problems of the program itself.
    troubles: (u64, Value),
    /// Pages with an older version than this receive everything.
    forgotten: u64,
}

impl Hub {
    pub(crate) fn new(run: u64) -> Self {
        Hub { run, state: Mutex::default(), version: watch::Sender::new(0) }
    }

    /// Whether there are listeners.
    pub(crate) fn has_listeners(&self) -> bool {
        self.version.receiver_count() > 0
    }

    /// Updates the state and wakes listeners if anything changed.
    pub(crate) fn update(&self, targets: &[TargetNow], troubles: &[OwnTrouble]) {
        let mut state = lock(&self.state);
        let next = state.version + 1;
        let mut rows: BTreeMap<String, Value> =
            targets.iter().map(|target| (key(target), row(target))).collect();
        let gone: Vec<String> = state.rows.keys().filter(|name| !rows.contains_key(*name)).cloned().collect();
        rows.retain(|name, new| state.rows.get(name).is_none_or(|(_, old)| old != new));
        let shown = shown(troubles);
        let is_news = shown != state.troubles.1;
        if rows.is_empty() && gone.is_empty() && !is_news {
            return;
        }
        if is_news {
            state.troubles = (next, shown);
        }
        for name in gone {
            state.rows.remove(&name);
            state.gone.push_back((next, name));
        }
        while state.gone.len() > MAX_GONE {
            state.forgotten = state.gone.pop_front().map_or(0, |(version, _)| version);
        }
        state.rows.extend(rows.into_iter().map(|(name, new)| (name, (next, new))));
        state.version = next;
        self.version.send_replace(next);
    }

    /// The changes after a version, as an event, with the version it leads to.
    fn event(&self, since: Option<u64>) -> (u64, String) {
        let state = lock(&self.state);
        let since = since.filter(|version| (state.forgotten..=state.version).contains(version));
        let after = |version: u64| since.is_none_or(|known| version > known);
        let targets: Vec<&Value> =
            state.rows.values().filter(|(v, _)| after(*v)).map(|(_, row)| row).collect();
        let gone: Vec<&String> =
            state.gone.iter().filter(|(v, _)| since.is_some() && after(*v)).map(|(_, name)| name).collect();
        let mut data = json!({ "all": since.is_none(), "targets": targets, "gone": gone });
        if after(state.troubles.0) {
            data["troubles"] = state.troubles.1.clone();
        }
        (state.version, format!("id: {}-{}\nevent: targets\ndata: {data}\n\n", self.run, state.version))
    }

    /// The version in a `Last-Event-ID` of this run.
    fn resumed(&self, id: Option<&str>) -> Option<u64> {
        let (run, version) = id?.split_once('-')?;
        (run.parse() == Ok(self.run)).then(|| version.parse().ok())?
    }

    /// The events of one listener, from where it was interrupted.
    pub(crate) fn listen(self: &Arc<Self>, last_id: Option<&str>) -> mpsc::Receiver<Bytes> {
        // Capacity of one: a slow client receives fewer and larger events.
        let (sender, receiver) = mpsc::channel(1);
        let hub = Arc::clone(self);
        let mut known = self.resumed(last_id);
        let mut version = self.version.subscribe();
        version.mark_changed();
        tokio::spawn(async move {
            let mut piece = format!("retry: {RETRY_MS}\n\n");
            loop {
                let changed = tokio::select! {
                    changed = version.changed() => changed,
                    () = sender.closed() => return,
                    () = tokio::time::sleep(HEARTBEAT) => {
                        piece.push_str(": still here\n\n");
                        Ok(())
                    }
                };
                if changed.is_err() {
                    return;
                }
                version.mark_unchanged();
                let (now, event) = hub.event(known);
                if known != Some(now) {
                    piece.push_str(&event);
                    known = Some(now);
                }
                if sender.send(Bytes::from(std::mem::take(&mut piece))).await.is_err() {
                    return;
                }
            }
        });
        receiver
    }
}

/// The problems of the program itself, as the page and the API show them.
pub(crate) fn shown(troubles: &[OwnTrouble]) -> Value {
    let one = |trouble: &OwnTrouble| json!({ "kind": trouble.kind, "since_s": seconds(trouble.since.0), "text": trouble.text });
    troubles.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::target;
    use fathom_units::WallTime;

    fn names(event: &str) -> (bool, Vec<String>, Vec<String>) {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let value: Value = serde_json::from_str(data).unwrap();
        let texts = |list: &Value, key: Option<&str>| -> Vec<String> {
            let each = |one: &Value| key.map_or(one, |name| &one[name]).as_str().unwrap().to_owned();
            list.as_array().unwrap().iter().map(each).collect()
        };
        (value["all"].as_bool().unwrap(), texts(&value["targets"], Some("name")), texts(&value["gone"], None))
    }

    #[test]
    fn a_listener_that_reconnects_gets_each_change_once() {
        let hub = Hub::new(7);
        hub.update(&[target("a"), target("b")], &[]);
        let (first, event) = hub.event(None);
        assert_eq!(names(&event), (true, vec!["a".into(), "b".into()], vec![]));
        assert!(event.starts_with("id: 7-1\nevent: targets\n"), "{event}");
        hub.update(&[target("a"), target("b")], &[]);
        assert_eq!(hub.event(Some(first)).0, first, "nothing changed");
        let mut changed = target("b");
        changed.alerts = vec!["slow".into()];
        hub.update(&[changed.clone(), target("c")], &[]);
        changed.alerts = vec!["slower".into()];
        hub.update(&[changed, target("c")], &[]);
        let (_, later) = hub.event(hub.resumed(Some("7-1")));
        assert_eq!(names(&later), (false, vec!["b".into(), "c".into()], vec!["a\nicmp".into()]));
        for wrong in ["6-1", "7-99", "7-", "x", ""] {
            assert!(names(&hub.event(hub.resumed(Some(wrong))).1).0, "{wrong:?} gets all");
        }
    }

    #[test]
    fn a_problem_of_the_program_is_sent_once_and_so_is_its_end() {
        let hub = Hub::new(1);
        let troubles = |event: &str| {
            let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
            serde_json::from_str::<Value>(data).unwrap()["troubles"].clone()
        };
        hub.update(&[target("a")], &[]);
        let (before, _) = hub.event(None);
        let full = OwnTrouble { kind: "history", since: WallTime(5_000_000_000), text: "disk full".into() };
        hub.update(&[target("a")], std::slice::from_ref(&full));
        let (during, event) = hub.event(Some(before));
        assert_eq!(troubles(&event), json!([{ "kind": "history", "since_s": 5.0, "text": "disk full" }]));
        hub.update(&[target("a"), target("b")], &[full]);
        assert_eq!(troubles(&hub.event(Some(during)).1), Value::Null);
        hub.update(&[target("a"), target("b")], &[]);
        assert_eq!(troubles(&hub.event(Some(during)).1), json!([]));
        assert_eq!(troubles(&hub.event(None).1), json!([]));
    }

    #[test]
    fn a_listener_that_was_away_too_long_gets_everything() {
        let hub = Hub::new(1);
        for n in 0..MAX_GONE + 3 {
            hub.update(&[target(&format!("t{n}"))], &[]);
        }
        assert!(names(&hub.event(Some(1)).1).0);
        assert!(!names(&hub.event(Some(5)).1).0);
    }
}

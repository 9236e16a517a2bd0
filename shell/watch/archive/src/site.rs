//! The description of a site, and when it is sent again.
use crate::archive::Archive;
use fathom_units::WallTime;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// How long routers are collected before they are compared with those that were sent. A path that
/// changes back and forth has the same routers in each hour, so it causes no upload, and no path
/// causes more than one per hour. A restart begins a new hour: it sends no half of a path.
const HOUR_NS: u64 = 3_600_000_000_000;
/// More addresses would exceed what readers accept, which is 64 KiB.
const MAX_HOPS: usize = 1_000;

/// The routers of the current hour.
#[derive(Default)]
pub(crate) struct Description {
    since: Option<WallTime>,
    seen: BTreeSet<IpAddr>,
}

impl Description {
    /// The text to send; `None` if it is the one that was sent. It has the routers of the last
    /// complete hour, and changed labels at once.
    pub(crate) fn due(&mut self, archive: &Archive, sent: &str, now: WallTime) -> Option<String> {
        self.seen.extend(archive.hops.now());
        // The clock may have been set back.
        let since = self.since.filter(|since| *since <= now).unwrap_or(now);
        let is_complete = now.0 - since.0 >= HOUR_NS;
        self.since = Some(if is_complete { now } else { since });
        let hops = if is_complete {
            let seen = std::mem::take(&mut self.seen);
            seen.iter().take(MAX_HOPS).map(ToString::to_string).collect()
        } else {
            hops_of(sent)
        };
        let text = text(archive, &hops);
        (text != sent).then_some(text)
    }
}

/// Without routers, the key is absent: most sites do not look for them.
fn text(archive: &Archive, hops: &[String]) -> String {
    let labels: Map<String, Value> =
        archive.labels.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut description = json!({ "site": archive.site, "labels": labels });
    if !hops.is_empty() {
        description["hops"] = json!(hops);
    }
    description.to_string()
}

fn hops_of(text: &str) -> Vec<String> {
    let description: Value = serde_json::from_str(text).unwrap_or_default();
    let hops = description["hops"].as_array();
    hops.into_iter().flatten().filter_map(|hop| Some(hop.as_str()?.to_owned())).collect()
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;

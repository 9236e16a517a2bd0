//! The events of a watch as lines on stderr.
use crate::terminal::{Console, warn};
use fathom_text::counted;
use fathom_watch_app::{WatchEvent, WatchRequest};
use std::io::{self, IsTerminal};

/// Prints an event of the watch that `request` started. `-q` leaves out events that are not
/// problems.
pub(super) fn report(event: &WatchEvent, request: &WatchRequest, console: Console) {
    let text = text(event, request);
    match event {
        WatchEvent::Started | WatchEvent::Page { .. } | WatchEvent::Reloaded(_) => console.note(&text),
        _ => warn(&text),
    }
}

fn text(event: &WatchEvent, request: &WatchRequest) -> String {
    match event {
        WatchEvent::Started => welcome(request),
        WatchEvent::Page { address, is_secure, fingerprint, new_password } => {
            let scheme = if *is_secure { "https" } else { "http" };
            let password = new_password.as_ref().map_or_else(String::new, |(password, file)| {
                // Others can read the log of a service.
                match io::stderr().is_terminal() {
                    true => format!("  password: {password} (saved in {})", file.display()),
                    false => format!("  new password in {}", file.display()),
                }
            });
            let certificate = fingerprint.as_ref().map_or_else(String::new, |fingerprint| {
                format!("\nself-signed certificate, SHA-256 {fingerprint}")
            });
            format!("page: {scheme}://{address}/{password}{certificate}")
        }
        event => format!("fathom watch: {}", line(event, request)),
    }
}

fn welcome(request: &WatchRequest) -> String {
    format!(
        "fathom watch: {}, {:.1} packets/s; history in {}\nCtrl-C stops it, SIGHUP reads the configuration again",
        counted(request.plan.targets.len() as u64, "target", "targets"),
        request.plan.packets_per_second(),
        request.store.display()
    )
}

fn line(event: &WatchEvent, request: &WatchRequest) -> String {
    match event {
        WatchEvent::Started | WatchEvent::Page { .. } => String::new(),
        WatchEvent::Repaired(repair) => repair.to_string(),
        WatchEvent::NotConfined(error) => {
            format!("rights that are not needed could not be dropped ({error}); continuing with them")
        }
        WatchEvent::BlindAlert { alert, why } => format!(
            "alert \"{alert}\" is not evaluated: it needs the throughput of this host, and {why}\n  try: interface = \"eth0\" under [watch]"
        ),
        WatchEvent::NoPage(error) => {
            format!("{error}; no web page\n  try: --listen 127.0.0.1:0, which takes any free port")
        }
        WatchEvent::NoResults { folder, source } => format!(
            "results: {}: {source}; the page shows no tests until this directory can be read",
            folder.display()
        ),
        WatchEvent::Problem(text) | WatchEvent::Delivery(text) | WatchEvent::Push(text) => text.clone(),
        WatchEvent::Test(text) => text.clone(),
        WatchEvent::AlertsNotLoaded(text) => text.clone(),
        WatchEvent::Missed(count) => {
            let probes = counted(*count, "probe was", "probes were");
            format!("{probes} not sent in time and left out: this host was too busy or asleep")
        }
        WatchEvent::Unstamped(count) => format!(
            "{} without a kernel timestamp, or sent while this host was busy: timed by the program instead",
            counted(*count, "packet", "packets")
        ),
        WatchEvent::Strangers(count) => {
            let replies = counted(*count, "ICMP reply", "ICMP replies");
            format!("{replies} from hosts that were not probed: not counted")
        }
        WatchEvent::Alert(one) => format!(
            "{} {}: {} {}: {}",
            one.alert,
            one.change.name(),
            one.target,
            one.probe,
            one.evidence.text
        ),
        WatchEvent::AlertsNotSaved(why) => format!("cannot save the state of alerts: {why}"),
        WatchEvent::Reloaded(changes) => format!(
            "read {} again: {} unchanged, {} started, {} stopped",
            request.source,
            counted(changes.unchanged as u64, "target", "targets"),
            changes.started,
            changes.stopped
        ),
        WatchEvent::NeedsRestart => "changes of the page, store, results and seed need a restart".into(),
        WatchEvent::NotReloaded(error) => {
            format!("{error}\n  the previous configuration stays in use")
        }
        WatchEvent::PushNotReloaded(error) => {
            format!("{error}\n  the previous push configuration stays in use")
        }
    }
}

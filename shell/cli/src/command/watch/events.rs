//! What a watch reports, in words for stderr.
use fathom_app::watch::{WatchEvent, WatchRequest};

/// The lines of an event of the watch that `request` started.
pub(super) fn text(event: &WatchEvent, request: &WatchRequest) -> String {
    match event {
        WatchEvent::Started => welcome(request),
        WatchEvent::Page { address, new_password } => {
            let page = format!("page: http://{address}/");
            new_password.as_ref().map_or(page.clone(), |(password, file)| {
                format!("{page}  password: {password} (shown this once; it is in {})", file.display())
            })
        }
        event => format!("fathom watch: {}", line(event, request)),
    }
}

fn welcome(request: &WatchRequest) -> String {
    format!(
        "fathom watch: {} targets, {:.1} packets/s; history in {}\nCtrl-C stops it, SIGHUP reads the configuration again",
        request.plan.targets.len(),
        request.plan.packets_per_second(),
        request.store.display()
    )
}

fn line(event: &WatchEvent, request: &WatchRequest) -> String {
    match event {
        WatchEvent::Started | WatchEvent::Page { .. } => String::new(),
        WatchEvent::Repaired(repair) => repair.to_string(),
        WatchEvent::NotConfined(error) => {
            format!("cannot give up the right to change other files ({error}); it goes on with it")
        }
        WatchEvent::BlindAlert { alert, why } => format!(
            "alert \"{alert}\" is not judged: it needs this host's throughput, and {why}\n  try: interface = \"eth0\" under [watch]"
        ),
        WatchEvent::NoPage(error) => {
            format!("{error}; there is no page (--listen 127.0.0.1:0 takes any port)")
        }
        WatchEvent::NoResults { folder, source } => format!(
            "results: {}: {source}; the page shows none of its tests until it can be read",
            folder.display()
        ),
        WatchEvent::Problem(text) | WatchEvent::Delivery(text) | WatchEvent::Push(text) => text.clone(),
        WatchEvent::AlertsNotLoaded(text) => text.clone(),
        WatchEvent::Missed(count) => {
            format!("{count} probes were not sent in time and left out: this host was too busy, or asleep")
        }
        WatchEvent::Unstamped(count) => format!(
            "{count} packets had no timestamp of the kernel, or left while this host was busy: they were timed by the program"
        ),
        WatchEvent::Strangers(count) => {
            format!("{count} ICMP replies came from where no probe was sent, and were not counted")
        }
        WatchEvent::Alert(one) => format!(
            "{} {}: {} {}: {}",
            one.alert,
            one.change.name(),
            one.target,
            one.probe,
            one.evidence.text
        ),
        WatchEvent::AlertsNotSaved(why) => format!("the state of alerts is not saved: {why}"),
        WatchEvent::Reloaded(changes) => format!(
            "read {} again: {} targets go on, {} started, {} stopped",
            request.source, changes.unchanged, changes.started, changes.stopped
        ),
        WatchEvent::NeedsRestart => {
            "store, listen, password_file, hosts, results and seed stay as they were until the next start"
                .into()
        }
        WatchEvent::NotReloaded(error) => {
            format!("{error}\n  nothing is changed; the plan before it goes on")
        }
        WatchEvent::PushNotReloaded(error) => {
            format!("{error}\n  what is sent to others goes on as before")
        }
    }
}

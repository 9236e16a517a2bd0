//! `fathom watch` in a build for routers: without a history.
use crate::args::{PushFormat, WatchArgs};
use crate::failure::{Exit, Outcome};
use crate::signal;
use crate::terminal::{Console, warn};
use fathom_app::minimal_watch::{PostFormat, PushRequest, WatchEvent, WatchSettings, checked, run as watch};
use fathom_text::counted;

/// Runs the watch.
pub(crate) fn run(args: &WatchArgs, console: Console) -> Outcome {
    let WatchArgs { target: targets, interval, push: url, push_interval, .. } = args;
    let settings =
        WatchSettings { targets: targets.clone(), interval: *interval, push_interval: *push_interval };
    let destination = checked(&settings, &push(args))?;
    let cancel = signal::cancel_token()?;
    let count = counted(targets.len() as u64, "target", "targets");
    console.note(&format!("fathom watch: {count} every {interval}, sent to {url}\nCtrl-C stops it"));
    watch(&settings, &destination, &cancel, &mut |event| {
        warn(&format!("fathom watch: {}", line(&event, url)));
    })?;
    Ok(Exit::Healthy)
}

fn push(args: &WatchArgs) -> PushRequest {
    PushRequest {
        url: args.push.clone(),
        format: match args.push_format {
            PushFormat::RemoteWrite | PushFormat::RemoteWriteClassic => PostFormat::RemoteWrite,
            PushFormat::Otlp => PostFormat::Otlp,
        },
        has_classic_histograms: args.push_format == PushFormat::RemoteWriteClassic,
        labels: args.label.clone(),
        headers: args.push_header.clone(),
    }
}

fn line(event: &WatchEvent<'_>, url: &str) -> String {
    match event {
        WatchEvent::NotProbed(target, reason) => format!("{target}: {}", fathom_prose::not_sent(reason)),
        WatchEvent::Push(news) => format!("{url}: {news}"),
    }
}

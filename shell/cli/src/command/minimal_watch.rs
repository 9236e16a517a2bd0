//! `fathom watch` in a build for routers: without a history.
use crate::args::{PushFormat, WatchArgs};
use crate::failure::{Exit, Outcome};
use crate::signal;
use crate::terminal::{Console, warn};
use fathom_app::minimal_watch::{MinimalWatchEvent, MinimalWatchRequest, PostFormat, checked, run as watch};
use fathom_text::counted;

/// Runs the watch.
pub(crate) fn run(args: &WatchArgs, console: Console) -> Outcome {
    let request = request(args);
    checked(&request)?;
    let cancel = signal::cancel_token()?;
    let (targets, url) = (counted(request.targets.len() as u64, "target", "targets"), &request.push);
    console
        .note(&format!("fathom watch: {targets} every {}, sent to {url}\nCtrl-C stops it", request.interval));
    watch(&request, &cancel, &mut |event| warn(&format!("fathom watch: {}", line(&event, url))))?;
    Ok(Exit::Healthy)
}

fn request(args: &WatchArgs) -> MinimalWatchRequest {
    MinimalWatchRequest {
        targets: args.target.clone(),
        interval: args.interval,
        push: args.push.clone(),
        format: match args.push_format {
            PushFormat::RemoteWrite | PushFormat::RemoteWriteClassic => PostFormat::RemoteWrite,
            PushFormat::Otlp => PostFormat::Otlp,
        },
        has_classic_histograms: args.push_format == PushFormat::RemoteWriteClassic,
        push_interval: args.push_interval,
        labels: args.label.clone(),
        headers: args.push_header.clone(),
    }
}

fn line(event: &MinimalWatchEvent<'_>, url: &str) -> String {
    match event {
        MinimalWatchEvent::NotProbed(target, reason) => {
            format!("{target}: {}", fathom_prose::not_sent(reason))
        }
        MinimalWatchEvent::Push(news) => format!("{url}: {news}"),
    }
}

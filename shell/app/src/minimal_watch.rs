//! A watch without a history, for routers: probes hosts, and sends their counts to a receiver.
use crate::{AppError, CancelToken};
use fathom_os::names::own_name;
use fathom_units::Duration;
use fathom_watch_plan::{Protocol, Url, check_label};
pub use fathom_watch_post::{Destination, PostFormat, WatchEvent, WatchSettings};

/// Limits of the interval of probes, as those of `fathom watch` with a history.
const PROBE_INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(86_400)];
/// Limits of the interval of points, as those of `fathom watch` with a history.
const PUSH_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(600)];

/// Who gets the counts, and how.
#[derive(Clone, Debug)]
pub struct PushRequest {
    /// URL of the receiver.
    pub url: String,
    /// The format that it takes.
    pub format: PostFormat,
    /// Histograms as one counter for each power of two.
    pub has_classic_histograms: bool,
    /// Additional labels of all series.
    pub labels: Vec<(String, String)>,
    /// Additional headers of all requests.
    pub headers: Vec<(String, String)>,
}

/// Checks the settings of a watch. Returns the receiver.
///
/// # Errors
/// The first that is wrong.
pub fn checked(settings: &WatchSettings, push: &PushRequest) -> Result<Destination, AppError> {
    let wrong = |what: String| AppError::WatchPlan(what);
    let url = Url::parse(&push.url).map_err(wrong)?;
    if url.protocol == Protocol::Https {
        return Err(wrong(format!("{}: this build has no TLS\n  try: http:// to a proxy", push.url)));
    }
    let intervals = [
        ("interval", settings.interval, PROBE_INTERVALS),
        ("push-interval", settings.push_interval, PUSH_INTERVALS),
    ];
    for (flag, given, [low, high]) in intervals {
        if given < low || given > high {
            return Err(wrong(format!("--{flag}: invalid value {given} (expected {low} to {high})")));
        }
    }
    push.labels.iter().try_for_each(|(name, _)| check_label(name)).map_err(wrong)?;
    Ok(Destination {
        url,
        format: push.format,
        has_classic_histograms: push.has_classic_histograms,
        headers: push.headers.clone(),
        instance: own_name(),
        labels: push.labels.clone(),
    })
}

/// Watches until `cancel`, then sends the last counts.
///
/// # Errors
/// If this process may not send ICMP.
pub fn run(
    settings: &WatchSettings,
    destination: &Destination,
    cancel: &CancelToken,
    events: &mut dyn FnMut(WatchEvent<'_>),
) -> Result<(), AppError> {
    fathom_watch_post::watch(settings, destination, cancel.flag(), events).map_err(AppError::from)
}

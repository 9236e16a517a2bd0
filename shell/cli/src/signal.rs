//! Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends at once.
use crate::failure::Failure;
use fathom_app::CancelToken;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first Ctrl-C, SIGTERM or hang-up sets.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Order matters: the shutdown looks at the flag before this signal sets it.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::environment(format_args!("cannot watch signal {signal}: {e}")))?;
    }
    Ok(stop)
}

/// A token that the first Ctrl-C, SIGTERM or hang-up cancels.
pub(crate) fn cancel_token() -> Result<CancelToken, Failure> {
    stop_flag().map(CancelToken::from)
}

/// What signals ask of a program that runs for years.
pub(crate) struct WatchSignals {
    /// Ctrl-C or SIGTERM came; a second one ends at once.
    pub(crate) stop: Arc<AtomicBool>,
    /// SIGHUP came: read the configuration again.
    pub(crate) reload: Arc<AtomicBool>,
}

/// As [`stop_flag`], but a hang-up asks for something else.
pub(crate) fn watch_signals() -> Result<WatchSignals, Failure> {
    let signals = WatchSignals { stop: Arc::default(), reload: Arc::default() };
    let unwatched = |signal, e| Failure::environment(format_args!("cannot watch signal {signal}: {e}"));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&signals.stop))
            .and_then(|_| flag::register(signal, Arc::clone(&signals.stop)))
            .map_err(|e| unwatched(signal, e))?;
    }
    flag::register(SIGHUP, Arc::clone(&signals.reload)).map_err(|e| unwatched(SIGHUP, e))?;
    Ok(signals)
}

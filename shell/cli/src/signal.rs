//! Signals: the first Ctrl-C, SIGTERM or SIGHUP ends a command early with its result so far, the
//! second ends it at once.
use crate::failure::Failure;
use fathom_app::CancelToken;
#[cfg(feature = "full")]
use fathom_os::process::ForwardedSignal;
#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "full")]
use std::sync::atomic::Ordering::Relaxed;

/// Signals that end a command. Windows has no hangup.
#[cfg(unix)]
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
#[cfg(windows)]
const ENDING: [i32; 2] = [SIGINT, SIGTERM];

/// A flag that the first Ctrl-C, SIGTERM or SIGHUP sets.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        // The order matters: the shutdown checks the flag before this signal sets it.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::environment(format_args!("cannot watch signal {signal}: {e}")))?;
    }
    Ok(stop)
}

#[cfg(feature = "full")]
/// Returns each SIGTERM, SIGINT and SIGHUP that arrives, for a program that is to have them.
/// Several between two calls count as one.
pub(crate) fn forwarded() -> Result<impl Fn() -> Option<ForwardedSignal>, Failure> {
    let signals = [
        (SIGTERM, ForwardedSignal::Terminate),
        (SIGINT, ForwardedSignal::Interrupt),
        (SIGHUP, ForwardedSignal::HangUp),
    ];
    let mut flags = Vec::new();
    for (signal, forwarded) in signals {
        let flag = Arc::new(AtomicBool::new(false));
        flag::register(signal, Arc::clone(&flag))
            .map_err(|e| Failure::environment(format_args!("cannot watch signal {signal}: {e}")))?;
        flags.push((flag, forwarded));
    }
    Ok(move || flags.iter().find(|(flag, _)| flag.swap(false, Relaxed)).map(|(_, signal)| *signal))
}

/// A token that the first Ctrl-C, SIGTERM or SIGHUP cancels.
pub(crate) fn cancel_token() -> Result<CancelToken, Failure> {
    stop_flag().map(CancelToken::from)
}

#[cfg(feature = "full")]
/// Flags that signals set for a watch.
pub(crate) struct WatchSignals {
    /// Set by Ctrl-C or SIGTERM. A second one ends the program at once.
    pub(crate) stop: Arc<AtomicBool>,
    /// Set by SIGHUP: the configuration is to be read again.
    pub(crate) reload: Arc<AtomicBool>,
}

#[cfg(feature = "full")]
/// Flags like [`stop_flag`], but SIGHUP reloads the configuration.
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

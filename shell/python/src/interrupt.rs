//! Runs use cases without the global interpreter lock, and ends them when Python has a signal.
use fathom_app::CancelToken;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often signals are checked. People notice a delay of 0.1 s.
const CHECK_EVERY: Duration = Duration::from_millis(50);
/// Stack of the thread, in bytes: that of a main thread on Linux.
const STACK_BYTES: usize = 8 << 20;

/// Calls `work` in another thread, because only this one may handle signals. If the handler of a
/// signal raises an exception, such as KeyboardInterrupt, `work` is cancelled and not awaited.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&CancelToken) -> T + Send + 'static,
) -> PyResult<T> {
    let cancel = CancelToken::new();
    let (sender, mut receiver) = channel();
    let theirs = cancel.clone();
    let body = move || {
        // Nobody receives the result of a cancelled call.
        let _ = sender.send(work(&theirs));
    };
    let thread = thread::Builder::new().name("fathom".into()).stack_size(STACK_BYTES).spawn(body)?;
    loop {
        let (waited, receiver_again) = py.detach(move || {
            let waited = receiver.recv_timeout(CHECK_EVERY);
            (waited, receiver)
        });
        receiver = receiver_again;
        match waited {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.cancel())?,
            // It has panicked: otherwise it has sent its result.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!(),
            },
        }
    }
}

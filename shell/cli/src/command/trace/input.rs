//! Where the packets come from: a file, standard input, or an interface.
use crate::args::TraceArgs;
use crate::failure::Failure;
use crate::signal;
use fathom_capture::Frame;
use fathom_tap::{Ending, Live, Tap, TapError};
use fathom_units::Duration;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// One source of frames.
pub(super) enum Input {
    File(PathBuf),
    Interface { name: String, snaplen: u32, duration: Option<Duration>, stop: Arc<AtomicBool> },
}

impl Input {
    /// The first file, or the interface.
    pub(super) fn of(args: &TraceArgs) -> Result<Input, Failure> {
        match (&args.interface, args.files.first()) {
            (Some(name), _) => Ok(Input::Interface {
                name: name.clone(),
                snaplen: args.snaplen,
                duration: args.duration,
                stop: signal::stop_flag()?,
            }),
            (None, Some(file)) => Ok(Input::File(file.clone())),
            (None, None) => Err(Failure::input("nothing to read\n  try: fathom trace FILE")),
        }
    }
    /// For a person.
    pub(super) fn name(&self) -> String {
        match self {
            Input::File(path) if is_stdin(path) => "standard input".into(),
            Input::File(path) => path.display().to_string(),
            Input::Interface { name, .. } => name.clone(),
        }
    }
    /// Hands over each frame with its number.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u64, &Frame<'_>)) -> Result<Ending, Failure> {
        match self {
            Input::File(path) => of_file(path, visit),
            Input::Interface { name, snaplen, duration, stop } => {
                let mut live = Live::open(name, *snaplen).map_err(failure)?;
                let end = duration
                    .map(|length| Instant::now() + std::time::Duration::from_nanos(length.as_nanos()));
                let is_over = || stop.load(Ordering::Relaxed) || end.is_some_and(|end| Instant::now() >= end);
                Ok(live.for_each(is_over, |number, frame| {
                    visit(number, frame);
                    ControlFlow::Continue(())
                }))
            }
        }
    }
}

/// Standard input is named so.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Hands over each frame of a file.
fn of_file(path: &Path, mut visit: impl FnMut(u64, &Frame<'_>)) -> Result<Ending, Failure> {
    let each = |number, frame: &Frame<'_>| {
        visit(number, frame);
        ControlFlow::Continue(())
    };
    Tap::open(path).and_then(|mut tap| tap.for_each(each)).map_err(failure)
}

fn failure(error: TapError) -> Failure {
    match error {
        TapError::Io { .. } | TapError::Interface(_) => Failure::environment(error),
        _ => Failure::input(error),
    }
}

//! The source of packets: a file, standard input, or an interface.
use super::CaptureInput;
use crate::{AppError, CancelToken};
use fathom_capture::Frame;
use fathom_capture_source::{FrameSource, InputEnd, Live, SourceError};
use fathom_units::Duration;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A source of frames.
pub(super) enum Input {
    File {
        path: PathBuf,
        cancel: CancelToken,
    },
    /// An open file.
    Opened {
        name: String,
        capture: Box<FrameSource>,
        cancel: CancelToken,
    },
    Interface {
        name: String,
        snaplen: u32,
        duration: Option<Duration>,
        cancel: CancelToken,
    },
}

impl Input {
    /// The source for the first file or the interface.
    pub(super) fn of(input: &CaptureInput, cancel: &CancelToken) -> Result<Input, AppError> {
        match input {
            CaptureInput::Interface { name, snaplen, duration } => Ok(Input::Interface {
                name: name.clone(),
                snaplen: *snaplen,
                duration: *duration,
                cancel: cancel.clone(),
            }),
            CaptureInput::Files(files) => {
                let file = |path: &PathBuf| Input::File { path: path.clone(), cancel: cancel.clone() };
                files.first().map(file).ok_or(AppError::NothingToRead)
            }
        }
    }
    /// The name in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Input::File { path, .. } if is_stdin(path) => "standard input".into(),
            Input::File { path, .. } => path.display().to_string(),
            Input::Opened { name, .. } | Input::Interface { name, .. } => name.clone(),
        }
    }
    /// Opens a file for two threads, each of which reads all frames, or for one thread: see
    /// [`FrameSource::open_pair`]. `None` for an interface.
    pub(super) fn open_pair(&self, has_room: bool) -> Result<Option<(Input, Option<Input>)>, AppError> {
        let Input::File { path, cancel } = self else { return Ok(None) };
        let (first, second) = FrameSource::open_pair(path, has_room).map_err(AppError::from)?;
        let opened =
            |capture| Input::Opened { name: self.name(), capture: Box::new(capture), cancel: cancel.clone() };
        Ok(Some((opened(first), second.map(opened))))
    }
    /// Calls `visit` with each frame and its number.
    pub(super) fn for_each(&mut self, mut visit: impl FnMut(u64, &Frame<'_>)) -> Result<InputEnd, AppError> {
        match self {
            Input::File { path, cancel } => FrameSource::open(path)
                .and_then(|mut capture| of_capture(&mut capture, cancel, visit))
                .map_err(AppError::from),
            Input::Opened { capture, cancel, .. } => {
                of_capture(capture, cancel, visit).map_err(AppError::from)
            }
            Input::Interface { name, snaplen, duration, cancel } => {
                let mut live = Live::open(name, *snaplen).map_err(AppError::from)?;
                let end = duration
                    .map(|length| Instant::now() + std::time::Duration::from_nanos(length.as_nanos()));
                let is_over = || cancel.is_cancelled() || end.is_some_and(|end| Instant::now() >= end);
                Ok(live.for_each(is_over, |number, frame| {
                    visit(number, frame);
                    ControlFlow::Continue(())
                }))
            }
        }
    }
}

/// Whether the path denotes standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Frames between two checks for cancellation.
const CANCEL_CHECK_FRAMES: u64 = 1024;

/// Calls `visit` with each frame of a file, until its end or cancellation.
fn of_capture(
    capture: &mut FrameSource,
    cancel: &CancelToken,
    mut visit: impl FnMut(u64, &Frame<'_>),
) -> Result<InputEnd, SourceError> {
    capture.for_each(|number, frame| {
        visit(number, frame);
        match number.is_multiple_of(CANCEL_CHECK_FRAMES) && cancel.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
}

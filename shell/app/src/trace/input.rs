//! Where the packets come from: a file, standard input, or an interface.
use super::CaptureInput;
use crate::{AppError, CancelToken};
use fathom_capture::Frame;
use fathom_capture_source::{FrameSource, InputEnd, Live, SourceError};
use fathom_units::Duration;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One source of frames.
pub(super) enum Input {
    File(PathBuf),
    /// A file that was opened already.
    Opened {
        name: String,
        capture: Box<FrameSource>,
    },
    Interface {
        name: String,
        snaplen: u32,
        duration: Option<Duration>,
        cancel: CancelToken,
    },
}

impl Input {
    /// The first file, or the interface.
    pub(super) fn of(input: &CaptureInput, cancel: &CancelToken) -> Result<Input, AppError> {
        match input {
            CaptureInput::Interface { name, snaplen, duration } => Ok(Input::Interface {
                name: name.clone(),
                snaplen: *snaplen,
                duration: *duration,
                cancel: cancel.clone(),
            }),
            CaptureInput::Files(files) => {
                files.first().map(|file| Input::File(file.clone())).ok_or(AppError::NothingToRead)
            }
        }
    }
    /// For a person.
    pub(super) fn name(&self) -> String {
        match self {
            Input::File(path) if is_stdin(path) => "standard input".into(),
            Input::File(path) => path.display().to_string(),
            Input::Opened { name, .. } | Input::Interface { name, .. } => name.clone(),
        }
    }
    /// A file opened for two threads, each of which has all frames, or for one as [`FrameSource::open_pair`] has it; `None` of an interface.
    pub(super) fn open_pair(&self, has_room: bool) -> Result<Option<(Input, Option<Input>)>, AppError> {
        let Input::File(path) = self else { return Ok(None) };
        let (first, second) = FrameSource::open_pair(path, has_room).map_err(AppError::from)?;
        let opened = |capture| Input::Opened { name: self.name(), capture: Box::new(capture) };
        Ok(Some((opened(first), second.map(opened))))
    }
    /// Hands over each frame with its number.
    pub(super) fn for_each(&mut self, mut visit: impl FnMut(u64, &Frame<'_>)) -> Result<InputEnd, AppError> {
        match self {
            Input::File(path) => FrameSource::open(path)
                .and_then(|mut capture| of_capture(&mut capture, visit))
                .map_err(AppError::from),
            Input::Opened { capture, .. } => of_capture(capture, visit).map_err(AppError::from),
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

/// Standard input is named so.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Hands over each frame of a file.
fn of_capture(
    capture: &mut FrameSource,
    mut visit: impl FnMut(u64, &Frame<'_>),
) -> Result<InputEnd, SourceError> {
    capture.for_each(|number, frame| {
        visit(number, frame);
        ControlFlow::Continue(())
    })
}

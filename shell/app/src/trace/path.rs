//! Several captures of one path.
use super::input::{Input, is_stdin};
use super::pass::pass;
use crate::{AppError, CancelToken};
use fathom_capture::Packet;
use fathom_capture_run::hops;
use fathom_flow::Times;
use fathom_path::{Captures, Settings};
use fathom_run::{CaptureSource, Run};
use std::collections::HashSet;
use std::path::PathBuf;

/// Collects the packets of several captures. Does nothing for one capture.
pub(super) struct PathOf<'a> {
    files: &'a [PathBuf],
    captures: Option<Captures>,
}

impl<'a> PathOf<'a> {
    pub(super) fn new(files: &'a [PathBuf], is_one_clock: bool) -> Self {
        let settings = Settings { is_one_clock, ..Settings::default() };
        let count = files.len();
        PathOf { files, captures: (count > 1).then(|| Captures::new(count, settings)) }
    }
    /// Whether there is only one capture.
    pub(super) const fn is_of_one(&self) -> bool {
        self.captures.is_none()
    }
    /// Records a packet of the first capture.
    #[inline]
    pub(super) fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        if let Some(captures) = &mut self.captures {
            // Passing a copy keeps the original in registers: see `fathom_capture::dissect_fast`.
            captures.packet(0, &packet.clone(), times);
        }
    }
    /// Reads the captures after the first.
    pub(super) fn read_others(
        &mut self,
        cancel: &CancelToken,
    ) -> impl Iterator<Item = Result<CaptureSource, AppError>> {
        let files = self.files.iter().enumerate().skip(1);
        files.filter_map(|(number, file)| {
            let captures = self.captures.as_mut()?;
            let visit = |times, packet: &Packet<'_>| captures.packet(number, packet, times);
            let mut input = Input::File { path: file.clone(), cancel: cancel.clone() };
            Some(pass(&mut input, visit).map(|(source, _)| source))
        })
    }
    /// Adds the hops of the path to `run`.
    pub(super) fn add_to(self, run: &mut Run) -> Result<(), AppError> {
        let Some(captures) = self.captures else { return Ok(()) };
        let report = captures.finish().map_err(|error| AppError::CapturePath(error.to_string()))?;
        if let Some(capture) = &mut run.capture {
            capture.hops = hops(&report, &names(self.files));
        }
        Ok(())
    }
}

/// File names, or full paths where the names are equal.
fn names(files: &[PathBuf]) -> Vec<String> {
    let short = |file: &PathBuf| match file {
        file if is_stdin(file) => "standard input".into(),
        file => file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(),
    };
    let distinct: HashSet<String> = files.iter().map(short).collect();
    let name =
        |file: &PathBuf| if distinct.len() == files.len() { short(file) } else { file.display().to_string() };
    files.iter().map(name).collect()
}

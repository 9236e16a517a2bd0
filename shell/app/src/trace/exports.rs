//! Files in addition to the diagnosis: the page, and the formats of other tools.
use super::{CaptureInput, ExportForm, Exports};
use crate::AppError;
use crate::trace::input::is_stdin;
use fathom_capture::Address;
use fathom_flow::{FlowId, Flows};
use fathom_trace_formats::{Files, Graphs, Pping, Qlog, Tstat, Xplot, tcptrace_csv};
use fathom_trace_page::{Limits, PICTURES, Recorder};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The files that a second pass writes.
pub(super) struct Extras {
    exports: Exports,
    /// The flows on the page and in graphs.
    chosen: Vec<FlowId>,
}

type Choice = Box<dyn FnMut(FlowId, [(Address, u16); 2]) -> bool>;

/// Sinks that receive every packet.
pub(super) type Sinks = (
    (Option<Recorder>, Option<Tstat>),
    (Option<Pping<Text>>, (Option<Xplot<Folder, Choice>>, Option<Qlog<Folder, Choice>>)),
);

impl Extras {
    /// Checks before anything is read that the files can be written.
    pub(super) fn new(exports: &Exports, input: &CaptureInput) -> Result<Extras, AppError> {
        let extras = Extras { exports: exports.clone(), chosen: Vec::new() };
        let is_file =
            matches!(input, CaptureInput::Files(files) if files.first().is_some_and(|file| !is_stdin(file)));
        if extras.is_empty() || is_file { Ok(extras) } else { Err(AppError::NeedsFile) }
    }
    pub(super) fn is_empty(&self) -> bool {
        self.exports.pages.is_empty() && self.exports.others.is_empty()
    }
    fn path(&self, form: ExportForm) -> Option<PathBuf> {
        let found = self.exports.others.iter().find(|export| export.form == form);
        found.map(|export| export.path.clone())
    }
    /// The sinks of the requested files.
    pub(super) fn sinks(&mut self, flows: &Flows) -> Result<Sinks, AppError> {
        self.chosen = chosen(flows, &self.exports.flows)?;
        let recorder = (!self.exports.pages.is_empty())
            .then(|| Recorder::new(&self.chosen, Limits::default(), flows.totalled.first_at));
        let tstat = self.path(ExportForm::Tstat).map(|_| Tstat::new());
        let pping = self.path(ExportForm::Pping).map(Text::create).transpose()?.map(Pping::new);
        let folder = |form| self.path(form).map(Folder::create).transpose();
        let xplot = folder(ExportForm::Xplot)?.map(|into| Xplot::new(Graphs::ALL, into, self.choice()));
        let qlog = folder(ExportForm::Qlog)?.map(|into| Qlog::new(into, self.choice()));
        Ok(((recorder, tstat), (pping, (xplot, qlog))))
    }
    /// The error of an incomplete file. The writer of the format does not keep the system error.
    fn cut_short(&self, form: ExportForm) -> AppError {
        AppError::CutShort { path: self.path(form).unwrap_or_default() }
    }
    fn choice(&self) -> Choice {
        let chosen = self.chosen.clone();
        Box::new(move |flow, _| chosen.contains(&flow))
    }
    /// Writes all files. Returns their paths.
    pub(super) fn write(
        &self,
        sinks: Sinks,
        flows: &Flows,
        page: impl FnOnce(Recorder) -> String,
    ) -> Result<Vec<PathBuf>, AppError> {
        let ((recorder, tstat), (pping, (xplot, qlog))) = sinks;
        if let Some(recorder) = recorder {
            let text = page(recorder);
            for path in &self.exports.pages {
                whole(path, |out| fmt::Write::write_str(out, &text))?;
            }
        }
        if let Some((mut tstat, path)) = tstat.zip(self.path(ExportForm::Tstat)) {
            whole(&path, |out| tstat.write(flows, out))?;
        }
        if let Some(path) = self.path(ExportForm::Tcptrace) {
            whole(&path, |out| tcptrace_csv(flows, out))?;
        }
        if let Some(pping) = pping {
            pping.finish().map_err(|_| self.cut_short(ExportForm::Pping))?.close()?;
        }
        if let Some(xplot) = xplot {
            xplot.finish().map_err(|_| self.cut_short(ExportForm::Xplot))?.close()?;
        }
        if let Some(qlog) = qlog {
            qlog.finish().map_err(|_| self.cut_short(ExportForm::Qlog))?.close()?;
        }
        Ok(self.exports.paths().cloned().collect())
    }
}

/// The flows with these numbers, or the largest flows.
fn chosen(flows: &Flows, numbers: &[u32]) -> Result<Vec<FlowId>, AppError> {
    let is_there = |number: &u32| flows.flows.iter().any(|flow| flow.id.number() == *number);
    if let Some(number) = numbers.iter().find(|number| !is_there(number)) {
        let count = flows.flows.len();
        return Err(AppError::NoFlow { number: *number, count });
    }
    let named: Vec<FlowId> = numbers.iter().filter_map(|number| FlowId::from_number(*number)).collect();
    Ok(if named.is_empty() { flows.largest(PICTURES) } else { named })
}

/// Appends to the file at `path`. The first call creates or overwrites it.
pub(super) fn append(file: &mut Option<BufWriter<File>>, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = match file {
        Some(file) => file,
        None => file.insert(BufWriter::new(File::create(path)?)),
    };
    file.write_all(bytes)
}

/// Writes buffered data to the file.
pub(super) fn flush(file: Option<BufWriter<File>>) -> io::Result<()> {
    file.map_or(Ok(()), |mut file| file.flush())
}

/// The error of a file that could not be written.
pub(super) fn unwritten(path: &Path, error: &io::Error) -> AppError {
    AppError::Unwritable { path: path.to_owned(), reason: error.to_string() }
}

/// Writes a file with `write`.
fn whole(path: &Path, write: impl FnOnce(&mut Text) -> fmt::Result) -> Result<(), AppError> {
    let mut text = Text::new(path.to_path_buf());
    let _ = write(&mut text);
    text.close()
}

/// A text file. It is created at the first write.
pub(super) struct Text {
    path: PathBuf,
    file: io::Result<Option<BufWriter<File>>>,
}

impl Text {
    const fn new(path: PathBuf) -> Self {
        Text { path, file: Ok(None) }
    }
    /// Creates the file at once, to find out early whether that is possible.
    fn create(path: PathBuf) -> Result<Self, AppError> {
        let mut text = Text::new(path);
        let _ = fmt::Write::write_str(&mut text, "");
        match text.file {
            Ok(_) => Ok(text),
            Err(error) => Err(unwritten(&text.path, &error)),
        }
    }
    fn close(mut self) -> Result<(), AppError> {
        let _ = fmt::Write::write_str(&mut self, "");
        self.file.and_then(flush).map_err(|error| unwritten(&self.path, &error))
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Ok(file) = &mut self.file else { return Err(fmt::Error) };
        append(file, &self.path, text.as_bytes()).map_err(|error| {
            self.file = Err(error);
            fmt::Error
        })
    }
}

/// A directory to which files are added.
pub(super) struct Folder {
    path: PathBuf,
    /// Files that this run has started. Files of an earlier run are replaced.
    begun: std::collections::HashSet<String>,
    result: io::Result<()>,
}

impl Folder {
    fn create(path: PathBuf) -> Result<Self, AppError> {
        std::fs::create_dir_all(&path).map_err(|error| unwritten(&path, &error))?;
        Ok(Folder { path, begun: std::collections::HashSet::new(), result: Ok(()) })
    }
    fn close(self) -> Result<(), AppError> {
        self.result.map_err(|error| unwritten(&self.path, &error))
    }
    fn add(&mut self, name: &str, text: &str) -> io::Result<()> {
        let is_new = self.begun.insert(name.to_owned());
        let mut options = OpenOptions::new();
        let options = if is_new { options.write(true).truncate(true) } else { options.append(true) };
        options.create(true).open(self.path.join(name))?.write_all(text.as_bytes())
    }
}

impl Files for Folder {
    fn append(&mut self, name: &str, text: &str) -> fmt::Result {
        if self.result.is_ok() {
            self.result = self.add(name, text);
        }
        if self.result.is_ok() { Ok(()) } else { Err(fmt::Error) }
    }
}

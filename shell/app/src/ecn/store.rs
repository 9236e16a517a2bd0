//! The file of a survey: a JSON object per line.
use crate::AppError;
use crate::error::CommandError;
use fathom_ecn_report::Record;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// How each line starts.
const START: &[u8] = b"{\"host\":";

/// The file of a survey, open to append results.
pub(super) struct Store {
    path: PathBuf,
    file: File,
    /// The results that the file had when it was opened.
    pub(super) earlier: Vec<Record>,
}

impl Store {
    /// Opens or creates the file. An incomplete last line, which an interruption leaves, is
    /// removed.
    pub(super) fn open(path: &Path) -> Result<Store, AppError> {
        let fail = |source| AppError::Unreadable { name: path.display().to_string(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|e| unwritable(path, &e))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail)?;
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (complete, rest) = bytes.split_at(complete);
        let mut earlier = Vec::new();
        let other = |number: usize, why: &str| {
            let at = format!("{}:{}", path.display(), number + 1);
            let text = format!("{at}: not a result of a survey: {why} (choose another --out)");
            AppError::Command(CommandError::EcnList(text))
        };
        for (number, line) in complete.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let record = serde_json::from_slice(line).map_err(|error| other(number, &error.to_string()))?;
            earlier.push(record);
        }
        if !(rest.starts_with(START) || START.starts_with(rest)) {
            return Err(other(earlier.len(), "invalid entry"));
        }
        file.set_len(complete.len() as u64).map_err(|error| unwritable(path, &error))?;
        Ok(Store { path: path.to_owned(), file, earlier })
    }
    /// Adds a result.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), AppError> {
        let line = serde_json::to_string(record).map_err(|error| std::io::Error::other(error.to_string()));
        let written = line.and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> AppError {
    AppError::Unwritable { path: path.to_owned(), reason: fathom_os::error::without_code(error) }
}

//! The results table on disk: CSV with one row per cell, in the order of the cells. An interrupted
//! sweep leaves a shorter table.
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a row, in bytes. A row of a table has a few hundred.
const MAX_ROW_BYTES: u64 = 1 << 20;

/// A table to which rows are appended.
pub(crate) struct Table {
    path: PathBuf,
    file: File,
    rows: u64,
}

/// Errors of a table.
#[derive(Debug)]
pub enum TableError {
    /// Reading or writing failed.
    Io(PathBuf, io::Error),
    /// The file is not the table of this sweep.
    Other {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: u64,
        /// The expected text.
        expected: String,
    },
    /// The folder has the files of another sweep.
    OtherSweep {
        /// The folder.
        path: PathBuf,
        /// The members of the description that differ.
        differences: Vec<String>,
    },
}

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TableError::Io(path, error) => write!(f, "cannot use the table {}: {error}", path.display()),
            TableError::Other { path, line, expected } => write!(
                f,
                "{}:{line}: not the table of this sweep (expected \"{expected}\")\n  try: another file, or --restart",
                path.display()
            ),
            TableError::OtherSweep { path, differences } => {
                let differences = differences.join(", ");
                write!(
                    f,
                    "{}: the folder of another sweep (different: {differences})\n  try: another folder",
                    path.display()
                )
            }
        }
    }
}
impl std::error::Error for TableError {}

impl Table {
    /// Opens or creates the table. Complete rows of this sweep are kept; `key` returns the key
    /// columns of a row. An incomplete last row is removed.
    pub(crate) fn open(
        path: &Path,
        columns: &[String],
        key: impl Fn(u64) -> Vec<String>,
    ) -> Result<Table, TableError> {
        let io = |error| TableError::Io(path.to_owned(), error);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let header = row(columns);
        let mut reader = BufReader::new(&mut file);
        let (mut good, mut rows, mut line) = (0_u64, 0_u64, String::new());
        loop {
            line.clear();
            let read = reader.by_ref().take(MAX_ROW_BYTES).read_line(&mut line).map_err(io)?;
            if read as u64 == MAX_ROW_BYTES {
                return Err(io(long_row()));
            }
            if !line.ends_with('\n') {
                break;
            }
            let expected = if good == 0 { header.clone() } else { row(&key(rows)).replace('\n', ",") };
            if !line.starts_with(&expected) {
                return Err(TableError::Other {
                    path: path.to_owned(),
                    line: if good == 0 { 1 } else { rows + 2 },
                    expected: expected.trim_end().to_owned(),
                });
            }
            rows += u64::from(good > 0);
            good += read as u64;
        }
        file.set_len(good).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut table = Table { path: path.to_owned(), file, rows };
        if good == 0 {
            table.write(&header)?;
        }
        Ok(table)
    }
    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }
    /// Appends a row. If that fails, the table stays as it is.
    pub(crate) fn push(&mut self, values: &[String]) -> Result<(), TableError> {
        self.write(&row(values))?;
        self.rows += 1;
        Ok(())
    }
    fn write(&mut self, text: &str) -> Result<(), TableError> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| TableError::Io(self.path.clone(), error))
    }
}

/// Values separated by commas and quoted where needed (RFC 4180, but with only a line feed at the
/// end).
pub(crate) fn row(values: &[String]) -> String {
    let quoted = |value: &String| {
        let plain = !value.contains([',', '"', '\n', '\r']);
        if plain { value.clone() } else { format!("\"{}\"", value.replace('"', "\"\"")) }
    };
    values.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// The values of a row.
pub(crate) fn split(line: &str) -> Vec<String> {
    let (mut values, mut value, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.trim_end_matches('\n').chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('"', true) if chars.peek() == Some(&'"') => value.extend(chars.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => values.push(std::mem::take(&mut value)),
            _ => value.push(c),
        }
    }
    values.push(value);
    values
}

fn long_row() -> io::Error {
    io::Error::other(format!("a row exceeds the limit of {MAX_ROW_BYTES} bytes"))
}

/// All rows of the table at `path`. The first row has the names.
///
/// # Errors
/// If the file cannot be read.
pub fn read_rows(path: &Path) -> io::Result<Vec<Vec<String>>> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut rows, mut line) = (Vec::new(), String::new());
    loop {
        line.clear();
        match reader.by_ref().take(MAX_ROW_BYTES).read_line(&mut line)? as u64 {
            0 => return Ok(rows),
            MAX_ROW_BYTES => return Err(long_row()),
            _ => rows.push(split(&line)),
        }
    }
}

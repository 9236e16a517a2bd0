//! The journal of a registry: one line per change, in a file that only its owner can read.
//!
//! Each line is on the disk before the next one is written. So after a crash only the last line can
//! be incomplete, and its change was never answered.
use fathom_fleet_admission::{Change, Registry, read_line};
use fathom_os::error::without_code;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Lines beyond those of a snapshot, at which the journal is rewritten.
const SPARE_LINES: usize = 10_000;

/// The open file, and how much of it is in memory.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    inode: u64,
    /// Bytes and lines that were applied.
    len: u64,
    lines: usize,
    /// A write failed, and what is on the disk is unknown.
    is_broken: bool,
}

/// What other processes wrote.
pub(crate) enum News {
    Changes(Vec<Change>),
    /// The file was replaced.
    Whole(Registry),
}

impl Journal {
    /// Opens or creates the file; nothing is read yet.
    pub(crate) fn open(path: PathBuf) -> io::Result<Journal> {
        let file = open(&path)?;
        let inode = file.metadata()?.ino();
        Ok(Journal { path, file, inode, len: 0, lines: 0, is_broken: false })
    }
    /// Whether another process wrote to the file or replaced it.
    pub(crate) fn is_behind(&self) -> bool {
        fs::metadata(&self.path).map_or(true, |meta| meta.ino() != self.inode || meta.len() != self.len)
    }
    /// Reads what other processes wrote.
    pub(crate) fn catch_up(&mut self) -> Result<News, String> {
        self.check()?;
        let meta = fs::metadata(&self.path).map_err(text)?;
        let is_same = meta.ino() == self.inode && meta.len() >= self.len;
        if is_same {
            let is_behind = meta.len() > self.len;
            return Ok(News::Changes(if is_behind { self.read_rest()? } else { Vec::new() }));
        }
        *self = Journal::open(self.path.clone()).map_err(text)?;
        self.read_all().map(News::Whole)
    }
    /// Reads all of a newly opened file.
    pub(crate) fn read_all(&mut self) -> Result<Registry, String> {
        let mut registry = Registry::default();
        for (at, change) in self.read_rest()?.iter().enumerate() {
            registry.apply(change).map_err(|error| format!("line {} {error}", at + 1))?;
        }
        Ok(registry)
    }
    fn read_rest(&mut self) -> Result<Vec<Change>, String> {
        let (mut bytes, mut changes) = (Vec::new(), Vec::new());
        self.file.seek(SeekFrom::Start(self.len)).map_err(text)?;
        self.file.read_to_end(&mut bytes).map_err(text)?;
        let mut rest = bytes.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end + 1);
            let content = std::str::from_utf8(line).ok().and_then(|text| text.strip_suffix('\n'));
            match content.and_then(|text| read_line(text).ok()) {
                Some(change) => changes.push(change),
                // Its change was never answered.
                None if !after.contains(&b'\n') => break,
                None => return Err(format!("line {} is damaged", self.lines + 1)),
            }
            self.len += line.len() as u64;
            self.lines += 1;
            rest = after;
        }
        if !rest.is_empty() {
            self.cut().map_err(text)?;
        }
        Ok(changes)
    }
    /// Removes an incomplete line at the end.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.len)?;
        self.file.sync_all()
    }
    /// Writes changes to the disk.
    pub(crate) fn append(&mut self, change: &Change) -> Result<(), String> {
        self.check()?;
        let line = change.to_line();
        let written =
            self.file.seek(SeekFrom::Start(self.len)).and_then(|_| self.file.write_all(line.as_bytes()));
        if let Err(error) = written {
            self.is_broken = self.cut().is_err();
            return Err(text(error));
        }
        // What a failed fsync left on the disk is unknown, also after a second one.
        if let Err(error) = self.file.sync_data() {
            self.is_broken = true;
            return Err(text(error));
        }
        self.len += line.len() as u64;
        self.lines += 1;
        Ok(())
    }
    fn check(&self) -> Result<(), String> {
        if self.is_broken { Err("a write failed: restart".into()) } else { Ok(()) }
    }
    /// Rewrites the file if most of its lines are obsolete: a few megabytes every hundred thousand
    /// changes of a large fleet.
    pub(crate) fn compact(&mut self, registry: &Registry, now_ms: u64) -> io::Result<()> {
        let needed = registry.sites().len() + registry.tokens();
        if self.lines <= 2 * needed + SPARE_LINES {
            return Ok(());
        }
        let new = self.path.with_extension("journal.new");
        remove(&new)?;
        let mut writer = BufWriter::new(fathom_os::files::create_new(&new, 0o600)?);
        for change in registry.snapshot(now_ms) {
            writer.write_all(change.to_line().as_bytes())?;
        }
        writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&new, &self.path)?;
        sync_folder(self.path.parent())?;
        let mut next = Journal::open(self.path.clone())?;
        next.len = fs::metadata(&self.path)?.len();
        next.lines = needed;
        *self = next;
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let is_new = !path.exists();
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if is_new {
        sync_folder(path.parent())?;
    }
    Ok(file)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes new names in a folder durable.
pub(crate) fn sync_folder(folder: Option<&Path>) -> io::Result<()> {
    folder.map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn text(error: io::Error) -> String {
    without_code(&error)
}

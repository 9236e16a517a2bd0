//! Opens captures and decompresses them.
use crate::ahead;
use crate::packing::Source;
use crate::{SourceError, packing};
use fathom_os::files::read_at;
use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;

/// Maximum levels of nested compression.
const MAX_PACKINGS: usize = 2;
/// Bytes needed to detect the compression format.
const MAGIC_BYTES: usize = 6;

/// Decompressed bytes of a capture.
pub(crate) struct Plain {
    pub(crate) source: Source,
    /// Whether decompression costs time.
    pub(crate) was_packed: bool,
}

/// Opens `path`; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Plain, SourceError> {
    if path.as_os_str() == "-" {
        if io::stdin().is_terminal() {
            return Err(SourceError::Terminal);
        }
        return unpacked("standard input", Box::new(io::stdin()));
    }
    unpacked(&path.display().to_string(), Box::new(file(path)?))
}

fn file(path: &Path) -> Result<File, SourceError> {
    let file = File::open(path).map_err(|source| unopened(path, source))?;
    if file.metadata().map_err(|source| unopened(path, source))?.is_dir() {
        return Err(SourceError::Directory(path.display().to_string()));
    }
    Ok(file)
}

fn unopened(path: &Path, source: io::Error) -> SourceError {
    SourceError::Io { name: path.display().to_string(), action: "open", source }
}

/// A source for one reader; decompression runs ahead in a thread.
pub(crate) fn alone(plain: Plain) -> Source {
    if plain.was_packed { ahead::ahead(plain.source) } else { plain.source }
}

/// Two readers of `path`, to be read concurrently; only one if that takes an extra thread and there
/// is no room for it.
pub(crate) fn open_pair(path: &Path, has_room: bool) -> Result<(Source, Option<Source>), SourceError> {
    if path.as_os_str() != "-" {
        let whole = Stored::whole(file(path)?).map_err(|source| unopened(path, source))?;
        if let Some(whole) = whole
            && !unpacked(&path.display().to_string(), Box::new(whole.clone()))?.was_packed
        {
            return Ok((Box::new(whole.clone()), Some(Box::new(whole))));
        }
    }
    let plain = open(path)?;
    Ok(if has_room { ahead::tee(plain.source) } else { (alone(plain), None) })
}

/// Content of a file up to its length when it was opened, read from an offset.
#[derive(Clone)]
struct Stored {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Stored {
    /// `None` for files without random access, such as pipes, or without a length, such as those of
    /// `/proc`.
    fn whole(file: File) -> io::Result<Option<Stored>> {
        let metadata = file.metadata()?;
        let is_stored = metadata.is_file() && metadata.len() > 0;
        Ok(is_stored.then(|| Stored { file: Arc::new(file), at: 0, end: metadata.len() }))
    }
}

impl Read for Stored {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(self.end.saturating_sub(self.at) as usize);
        let read = read_at(&self.file, &mut into[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Removes the compression that the first bytes indicate.
pub(crate) fn unpacked(name: &str, packed: Source) -> Result<Plain, SourceError> {
    let io = |source| SourceError::Io { name: name.to_owned(), action: "read", source };
    let mut source = packed;
    for packings in 0..MAX_PACKINGS {
        let (begins, whole) = peek(source).map_err(io)?;
        if let Some(error) = refuse_packed(name, &begins) {
            return Err(error);
        }
        source = match packing::unpack(&begins, whole) {
            Ok(within) => within,
            Err(plain) => return Ok(Plain { source: plain, was_packed: packings > 0 }),
        };
    }
    Ok(Plain { source, was_packed: true })
}

/// Refuses formats that are recognized but not supported.
fn refuse_packed(name: &str, begins: &[u8]) -> Option<SourceError> {
    let kind = match begins {
        [b'B', b'Z', b'h', ..] => "bzip2",
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'7', b'z', 0xbc, 0xaf, ..] => "a 7z archive",
        _ => return None,
    };
    Some(SourceError::Packed { name: name.to_owned(), kind })
}

/// The first bytes, and a reader that returns them again.
fn peek(mut source: Source) -> io::Result<(Vec<u8>, Source)> {
    let mut begins = Vec::with_capacity(MAGIC_BYTES);
    (&mut source).take(MAGIC_BYTES as u64).read_to_end(&mut begins)?;
    let whole = Cursor::new(begins.clone()).chain(source);
    Ok((begins, Box::new(whole)))
}

//! Bytes of a capture, unpacked on the way.
use crate::ahead::ahead;
use crate::packing::Source;
use crate::{TapError, packing};
use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read};
use std::path::Path;

/// Packings that may be around each other.
const MAX_PACKINGS: usize = 2;
/// Bytes by which packings are told apart.
const MAGIC_BYTES: usize = 6;

/// Opens `path`; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Source, TapError> {
    let name = path.display().to_string();
    if path.as_os_str() == "-" {
        if io::stdin().is_terminal() {
            return Err(TapError::Terminal);
        }
        return unpacked("standard input", Box::new(io::stdin()));
    }
    let io = |source| TapError::Io { name: name.clone(), action: "open it", source };
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(TapError::Directory(name));
    }
    unpacked(&name, Box::new(file))
}

/// Takes off what the first bytes say it is packed in.
pub(crate) fn unpacked(name: &str, packed: Source) -> Result<Source, TapError> {
    let io = |source| TapError::Io { name: name.to_owned(), action: "read it", source };
    let mut source = packed;
    for packings in 0..MAX_PACKINGS {
        let (begins, whole) = peek(source).map_err(io)?;
        if let Some(error) = refuse_packed(name, &begins) {
            return Err(error);
        }
        source = match packing::unpack(&begins, whole) {
            Ok(within) => within,
            Err(plain) if packings == 0 => return Ok(plain),
            Err(plain) => return Ok(ahead(plain)),
        };
    }
    Ok(ahead(source))
}

/// What is told apart, but not unpacked.
fn refuse_packed(name: &str, begins: &[u8]) -> Option<TapError> {
    let kind = match begins {
        [b'B', b'Z', b'h', ..] => "bzip2",
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'7', b'z', 0xbc, 0xaf, ..] => "a 7z archive",
        _ => return None,
    };
    Some(TapError::Packed { name: name.to_owned(), kind })
}

/// The first bytes, and a reader that gives them again.
fn peek(mut source: Source) -> io::Result<(Vec<u8>, Source)> {
    let mut begins = Vec::with_capacity(MAGIC_BYTES);
    (&mut source).take(MAGIC_BYTES as u64).read_to_end(&mut begins)?;
    let whole = Cursor::new(begins.clone()).chain(source);
    Ok((begins, Box::new(whole)))
}

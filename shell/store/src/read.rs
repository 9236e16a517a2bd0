//! Reads run files.
use crate::StoreError;
use fathom_import::{CRUSADER_HEADER_BYTES, CRUSADER_MAGIC, detect, import};
use fathom_run::{Run, RunError};
use flate2::read::MultiGzDecoder;
use snap::read::FrameDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

/// Largest run file in bytes, compressed or decompressed. A longer file is not a run, or is meant
/// to exhaust memory.
pub const MAX_FILE_BYTES: u64 = 100_000_000;

/// Magic number of gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads and validates a run file. Its first bytes, not its name, decide whether it is compressed.
///
/// # Errors
/// Any [`StoreError`] except `Write`.
pub fn load(path: &Path) -> Result<Run, StoreError> {
    parsed(path, &read_within(path, MAX_FILE_BYTES)?)
}

/// Reads a run file, or a result of another tool that `fathom_import` knows.
///
/// # Errors
/// Any [`StoreError`] except `Write`.
pub fn load_any(path: &Path) -> Result<Run, StoreError> {
    let bytes = unpacked_frames(path, read_within(path, MAX_FILE_BYTES)?, MAX_FILE_BYTES)?;
    let error = match parsed(path, &bytes) {
        Ok(run) => return Ok(run),
        Err(error) => error,
    };
    match (detect(&bytes), &error) {
        (Some(format), _) => {
            import(format, &bytes).map_err(|source| StoreError::Import { path: path.into(), source })
        }
        (None, StoreError::Run { source: RunError::Malformed(_), .. }) if !is_own(&bytes) => {
            Err(StoreError::Unknown { path: path.into() })
        }
        (None, _) => Err(error),
    }
}

/// The content of a file of Crusader, of which all but the begin is in Snappy frames; any other
/// content as it is.
fn unpacked_frames(path: &Path, bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, StoreError> {
    if !bytes.starts_with(&CRUSADER_MAGIC) {
        return Ok(bytes);
    }
    let (header, frames) = bytes.split_at(bytes.len().min(CRUSADER_HEADER_BYTES));
    let mut content = header.to_vec();
    match FrameDecoder::new(frames).take(limit + 1).read_to_end(&mut content) {
        Ok(length) if length as u64 > limit => Err(StoreError::TooLarge { path: path.into() }),
        Ok(_) => Ok(content),
        Err(source) => Err(StoreError::Read { path: path.into(), source }),
    }
}

/// Whether a file was written by Fathom, so that its own error says most.
fn is_own(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"\"schema_version\"";
    let begin = &bytes[..bytes.len().min(1_000)];
    begin.windows(MARK.len()).any(|window| window == MARK)
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Run, StoreError> {
    Run::from_json(bytes).map_err(|source| StoreError::Run { path: path.into(), source })
}

/// The content of a file, unpacked.
fn read_within(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let read = |source| StoreError::Read { path: path.into(), source };
    let mut file = BufReader::new(File::open(path).map_err(read)?);
    let mut begin = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut begin).map_err(read)?;
    let is_compressed = begin == GZIP;
    let mut file = Cursor::new(begin).chain(file).take(limit + 1);
    let mut bytes = Vec::new();
    let unpacked = match is_compressed {
        true => MultiGzDecoder::new(file).take(limit + 1).read_to_end(&mut bytes),
        false => file.read_to_end(&mut bytes),
    };
    match unpacked {
        Ok(length) if length as u64 > limit => Err(StoreError::TooLarge { path: path.into() }),
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(StoreError::Run { path: path.into(), source: RunError::Truncated })
        }
        Err(error) => Err(read(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_small_file_that_unpacks_to_a_huge_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.json.gz");
        let mut packer =
            flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        packer.write_all(&vec![b' '; 1 << 20]).unwrap();
        packer.finish().unwrap();
        let result = read_within(&path, 100_000);
        assert!(matches!(result, Err(StoreError::TooLarge { .. })), "{result:?}");
    }
}

//! Reads run files.
use crate::StoreError;
use fathom_run::{Run, RunError};
use flate2::read::MultiGzDecoder;
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
    load_within(path, MAX_FILE_BYTES)
}

fn load_within(path: &Path, limit: u64) -> Result<Run, StoreError> {
    let read = |source| StoreError::Read { path: path.into(), source };
    let run = |source| StoreError::Run { path: path.into(), source };
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
        Ok(_) => Run::from_json(&bytes).map_err(run),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(run(RunError::Truncated)),
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
        let result = load_within(&path, 100_000);
        assert!(matches!(result, Err(StoreError::TooLarge { .. })), "{result:?}");
    }
}

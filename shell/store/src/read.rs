//! Reads run files.
use crate::StoreError;
use fathom_run::{Run, RunError};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest run file in bytes, compressed or decompressed. A longer file is not a run, or is meant
/// to exhaust memory.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

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
    let too_large = || StoreError::TooLarge { path: path.into() };
    let run = |source| StoreError::Run { path: path.into(), source };
    let file = File::open(path).map_err(read)?;
    let bytes = take(file, limit).map_err(read)?.ok_or_else(too_large)?;
    if !bytes.starts_with(&GZIP) {
        return Run::from_json(&bytes).map_err(run);
    }
    match take(MultiGzDecoder::new(bytes.as_slice()), limit) {
        Ok(Some(unpacked)) => Run::from_json(&unpacked).map_err(run),
        Ok(None) => Err(too_large()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(run(RunError::Truncated)),
        Err(error) => Err(read(error)),
    }
}

/// All bytes of `source`; `None` if they are more than `limit`.
fn take(source: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
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

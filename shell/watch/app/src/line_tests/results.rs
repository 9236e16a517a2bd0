//! The result files of scheduled tests.
use fathom_run::Run;
use fathom_store::{StoreError, default_name, save as write};
use std::fs;
use std::path::Path;

/// Maximum size of the results of one test, in bytes: at 50 kB each, those of three years with four
/// a day. The oldest are removed; their values stay in the history.
const MAX_BYTES: u64 = 200 << 20;

/// Saves a result, and removes the oldest ones of this test beyond [`MAX_BYTES`].
pub(super) fn save(folder: &Path, test: &str, run: &Run) -> Result<(), StoreError> {
    let name = default_name(&format!("watch-{test}"), &run.started);
    write(&folder.join(&name), run)?;
    let prefix = default_name(&format!("watch-{test}"), "");
    let prefix = prefix.trim_end_matches("Z.json.gz");
    let mut all: Vec<(String, u64)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| Some((file.file_name().into_string().ok()?, file.metadata().ok()?.len())))
        .filter(|(known, _)| known.starts_with(prefix) && known.ends_with("Z.json.gz"))
        .collect();
    // The names end with the time.
    all.sort();
    let mut bytes: u64 = all.iter().map(|(_, size)| size).sum();
    for (oldest, size) in all {
        if bytes <= MAX_BYTES || oldest == name {
            break;
        }
        // What cannot be removed now is tried again after the next test.
        let _ = fs::remove_file(folder.join(oldest));
        bytes -= size;
    }
    Ok(())
}

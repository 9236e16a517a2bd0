//! Saves a tree as files in a directory, to analyze, send or test with later.
use fathom_audit::Tree;
use std::fs;
use std::io;
use std::path::{Component, Path};

/// Writes every file of `tree` below `folder`, except those whose path would lead out of it.
///
/// # Errors
/// The path and the error, if a file cannot be written.
pub fn save(tree: &Tree, folder: &Path) -> Result<usize, (String, io::Error)> {
    let mut count = 0;
    for (path, bytes) in tree.iter() {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            continue;
        }
        let to = folder.join(path);
        let parent = to.parent().map_or(Ok(()), fs::create_dir_all);
        parent.and_then(|()| fs::write(&to, bytes)).map_err(|error| (to.display().to_string(), error))?;
        count += 1;
    }
    Ok(count)
}

//! Reads files below a root by patterns of fixed depth, so that symbolic link loops cannot trap a
//! search.
use fathom_audit::{PATHS, SAMPLED, Tree};
use fathom_os::files::open_to_read;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum bytes per file: the kernel's files are short; longer ones are truncated.
const FILE_BYTES: u64 = 256 << 10;

/// Maximum bytes of all files together.
const TOTAL_BYTES: u64 = 32 << 20;

/// Maximum entries per directory.
const ENTRIES: usize = 20_000;

/// Reads all files that an audit uses, below `root`.
pub fn files(root: &Path) -> Tree {
    read(root, PATHS)
}

/// Reads the files that change while the host is under load.
pub fn sampled(root: &Path) -> Tree {
    read(root, SAMPLED)
}

fn read(root: &Path, patterns: &[&str]) -> Tree {
    let mut tree = Tree::default();
    let mut left = TOTAL_BYTES;
    for path in patterns.iter().flat_map(|pattern| matching(root, pattern)) {
        let Some(bytes) = content(&root.join(&path), FILE_BYTES.min(left)) else { continue };
        left -= bytes.len() as u64;
        if let Some(name) = path.to_str() {
            tree.insert(name, bytes);
        }
    }
    tree
}

/// Paths, relative to the root, that match the pattern.
fn matching(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.split('/') {
        found = match part.split_once('*') {
            None => found.into_iter().map(|folder| folder.join(part)).collect(),
            Some((start, end)) => {
                found.iter().flat_map(|folder| children(root, folder, start, end)).collect()
            }
        };
    }
    found
}

fn children(root: &Path, folder: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Vec::new() };
    let names = entries.take(ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let fits = |name: &String| {
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    let mut names: Vec<String> = names.filter(fits).collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// The start of a regular file. Opening other files could block or have side effects.
fn content(path: &Path, most: u64) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    // Some kernel files refuse to be read, such as `speed` on a link that is down.
    open_to_read(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

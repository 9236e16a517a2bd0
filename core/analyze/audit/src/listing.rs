//! Files of another host: the script that its shell runs, and what the script prints, read.
use crate::tree::CONNECTIONS;
use crate::{PATHS, Tree};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Begins a line with a path; the file follows.
const MARK: &str = "@@fathom ";

/// The last line: without it, the listing was cut off.
pub const SCRIPT_END: &str = "@@fathom end";

/// Of this file only lines with the word count, of which a busy router has very many without.
const CONNTRACK: &str = "proc/net/nf_conntrack";

/// A script for any shell, busybox's too: it reads files, and does nothing else.
pub fn script() -> String {
    let is_whole =
        |path: &&&str| !path.starts_with("replies") && **path != CONNTRACK && !path.starts_with(CONNECTIONS);
    let plain: Vec<&str> = PATHS.iter().filter(is_whole).copied().collect();
    format!(
        "cd / || exit 1\n\
         for f in {}; do\n\
         if [ -f \"$f\" ] && [ -r \"$f\" ]; then printf '\\n{MARK}%s\\n' \"$f\"; cat \"$f\" 2>/dev/null; fi\n\
         done\n\
         for f in {CONNECTIONS}*; do\n\
         if [ -f \"$f\" ] && [ -r \"$f\" ]; then printf '\\n{MARK}%s\\n' \"$f\"; grep '^\\[' \"$f\"; fi\n\
         done\n\
         if [ -r {CONNTRACK} ]; then printf '\\n{MARK}%s\\n' {CONNTRACK}; grep -m 20 OFFLOAD {CONNTRACK}; fi\n\
         printf '\\n{SCRIPT_END}\\n'\n",
        plain.join(" ")
    )
}

/// What the script printed, up to its last line or to where it was cut off; and whether that line was there.
pub fn listing(bytes: &[u8]) -> (Tree, bool) {
    let mut tree = Tree::default();
    let mut open: Option<(String, Vec<u8>)> = None;
    let mut is_whole = false;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Some(path) = path_of(line) {
            close(&mut tree, open.take());
            is_whole = [MARK, &path].concat() == SCRIPT_END;
            open = Some((path, Vec::new()));
        } else if let Some((_, content)) = &mut open {
            content.extend_from_slice(line);
        }
    }
    if !is_whole {
        close(&mut tree, open);
    }
    (tree, is_whole)
}

fn path_of(line: &[u8]) -> Option<String> {
    let path = line.strip_prefix(MARK.as_bytes())?;
    Some(String::from_utf8_lossy(path).trim_end().into())
}

/// The line break before the mark is the script's.
fn close(tree: &mut Tree, open: Option<(String, Vec<u8>)>) {
    if let Some((path, mut content)) = open {
        if content.last() == Some(&b'\n') {
            content.pop();
        }
        tree.insert(path, content);
    }
}

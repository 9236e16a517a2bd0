//! Reading files of a remote host: the shell script that lists them, and the parser of its output.
use crate::tree::CONNECTIONS;
use crate::{PATHS, Tree};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Starts a line with a path; the content of the file follows.
const MARK: &str = "@@fathom ";

/// The last line of a complete listing.
pub const SCRIPT_END: &str = "@@fathom end";

/// Only the lines of offloaded connections are read, because a busy router has very many others.
const CONNTRACK: &str = "proc/net/nf_conntrack";

/// A read-only script for any POSIX shell, including busybox.
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

/// Parses the output of the script, and returns whether it is complete.
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

/// The newline before the marker is part of the script's output, not of the file.
fn close(tree: &mut Tree, open: Option<(String, Vec<u8>)>) {
    if let Some((path, mut content)) = open {
        if content.last() == Some(&b'\n') {
            content.pop();
        }
        tree.insert(path, content);
    }
}

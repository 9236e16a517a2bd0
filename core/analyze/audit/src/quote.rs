//! Names in commands: an interface may be called nearly anything.
use alloc::format;
use alloc::string::{String, ToString};

/// A word that a shell takes as it is.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@:/".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

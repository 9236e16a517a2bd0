//! The queue of a receiver: bounded, and kept across restarts.
use crate::notice::Notice;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Queue limit, many times what a working receiver has waiting. Beyond it, the oldest are dropped
/// and reported.
pub(crate) const MAX_WAITING: usize = 256;

/// A queue with its file.
#[derive(Debug)]
pub(crate) struct Outbox {
    file: Option<PathBuf>,
    pub(crate) waiting: VecDeque<Notice>,
}

impl Outbox {
    /// Opens the queue of a receiver and loads its file, if there is a directory.
    pub(crate) fn open(dir: Option<&Path>, receiver: &str) -> Outbox {
        let file = dir.map(|dir| dir.join(format!("outbox-{}.json", encoded(receiver))));
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let kept: Value = serde_json::from_str(&text).unwrap_or_default();
        let waiting = kept.as_array().into_iter().flatten().filter_map(Notice::read).collect();
        Outbox { file, waiting }
    }
    /// Adds a notification. Returns false if the oldest was dropped.
    pub(crate) fn push(&mut self, notice: Notice) -> bool {
        self.waiting.push_back(notice);
        let is_room = self.waiting.len() <= MAX_WAITING;
        if !is_room {
            self.waiting.pop_front();
        }
        self.save();
        is_room
    }
    /// Removes a delivered notification. It may already have been dropped.
    pub(crate) fn done(&mut self, notice: &Notice) {
        if self.waiting.front() == Some(notice) {
            self.waiting.pop_front();
            self.save();
        }
    }
    /// Saves the queue. Errors are ignored: the queue in memory still works.
    fn save(&self) {
        let Some(file) = &self.file else { return };
        let all: Vec<Value> = self.waiting.iter().map(Notice::kept).collect();
        let _ =
            if all.is_empty() { std::fs::remove_file(file) } else { write(file, &json!(all).to_string()) };
    }
}

/// Replaces the file atomically, even on power failure.
pub(crate) fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let new = file.with_extension("new");
    let mut out = std::fs::File::create(&new)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    std::fs::rename(&new, file)
}

/// Encodes a receiver's name, which may contain any characters, for a file name.
fn encoded(name: &str) -> String {
    let one = |byte: u8| match byte {
        plain if plain.is_ascii_alphanumeric() || plain == b'-' => char::from(plain).to_string(),
        other => format!("_{other:02x}"),
    };
    name.bytes().map(one).collect()
}

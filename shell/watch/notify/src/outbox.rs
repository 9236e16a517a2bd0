//! What waits for a receiver: a queue with a limit that outlives the program.
use crate::notice::Notice;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Many times what a working receiver ever has waiting. Beyond it the oldest go, and it is said.
pub(crate) const MAX_WAITING: usize = 256;

/// A queue and its file.
#[derive(Debug)]
pub(crate) struct Outbox {
    file: Option<PathBuf>,
    pub(crate) waiting: VecDeque<Notice>,
}

impl Outbox {
    /// With what is in the file of that receiver, if there is a directory.
    pub(crate) fn open(dir: Option<&Path>, receiver: &str) -> Outbox {
        let file = dir.map(|dir| dir.join(format!("outbox-{}.json", encoded(receiver))));
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let kept: Value = serde_json::from_str(&text).unwrap_or_default();
        let waiting = kept.as_array().into_iter().flatten().filter_map(Notice::read).collect();
        Outbox { file, waiting }
    }
    /// Adds one. False if the oldest went for it.
    pub(crate) fn push(&mut self, notice: Notice) -> bool {
        self.waiting.push_back(notice);
        let is_room = self.waiting.len() <= MAX_WAITING;
        if !is_room {
            self.waiting.pop_front();
        }
        self.save();
        is_room
    }
    /// That one is done. It may have gone already, if room was wanted meanwhile.
    pub(crate) fn done(&mut self, notice: &Notice) {
        if self.waiting.front() == Some(notice) {
            self.waiting.pop_front();
            self.save();
        }
    }
    /// A disk that takes nothing costs what it would keep; the queue itself goes on.
    fn save(&self) {
        let Some(file) = &self.file else { return };
        let all: Vec<Value> = self.waiting.iter().map(Notice::kept).collect();
        let _ =
            if all.is_empty() { std::fs::remove_file(file) } else { write(file, &json!(all).to_string()) };
    }
}

/// All of it or nothing, whenever the power goes.
pub(crate) fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let new = file.with_extension("new");
    let mut out = std::fs::File::create(&new)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    std::fs::rename(&new, file)
}

/// A receiver may have any name, a file not.
fn encoded(name: &str) -> String {
    let one = |byte: u8| match byte {
        plain if plain.is_ascii_alphanumeric() || plain == b'-' => char::from(plain).to_string(),
        other => format!("_{other:02x}"),
    };
    name.bytes().map(one).collect()
}

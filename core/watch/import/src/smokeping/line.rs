//! Reads lines like Config::Grammar: comments, continuations, `@include` and `@define`.
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Limit for files that include each other.
const MAX_DEPTH: usize = 16;
/// Maximum size of all files together, in bytes; the largest seen was 1 MB.
pub const MAX_BYTES: usize = 64 << 20;
/// Maximum length of a line after `@define`.
const MAX_LINE_BYTES: usize = 65_536;

/// A position in a file; lines count from 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A setting that was changed or left out, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The position.
    pub place: Place,
    /// What it is, and what was done.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// An error in the configuration, which SmokePing would refuse too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The position.
    pub place: Place,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
impl core::error::Error for Mistake {}

/// A line with its continuations, without comments.
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) text: String,
}

/// Returns the text of a file, or why it cannot be read.
pub(super) type Load<'l> = &'l mut dyn FnMut(&str) -> Result<String, String>;

/// All lines, with the lines of included files in their place.
pub(super) fn lines(file: &str, load: Load<'_>) -> Result<Vec<Line>, Mistake> {
    let mut reader = Reader { load, defines: BTreeMap::new(), bytes: 0, out: Vec::new() };
    reader.file(file, &Place { file: file.to_string(), line: 1 }, 0)?;
    Ok(reader.out)
}

struct Reader<'l> {
    load: Load<'l>,
    defines: BTreeMap<String, String>,
    bytes: usize,
    out: Vec<Line>,
}

impl Reader<'_> {
    fn file(&mut self, file: &str, from: &Place, depth: usize) -> Result<(), Mistake> {
        let refused = |what| Err(Mistake { place: from.clone(), what });
        if depth > MAX_DEPTH {
            return refused(format!("{file}: the depth of includes exceeds the limit of {MAX_DEPTH}"));
        }
        let whole = match (self.load)(file) {
            Ok(text) => text,
            Err(why) => return refused(format!("{file}: {why}")),
        };
        self.bytes += whole.len();
        if self.bytes > MAX_BYTES {
            return refused(format!("{file}: the size of all files exceeds the limit of {MAX_BYTES} bytes"));
        }
        let mut raw = whole.lines().zip(1..);
        while let Some((first, line)) = raw.next() {
            let mut text = without_comment(first).to_string();
            let place = Place { file: file.to_string(), line };
            while let Some(begun) = text.strip_suffix('\\') {
                let more = raw.next().map_or("", |(more, _)| more.trim());
                text = format!("{begun} {more}");
                if more.is_empty() {
                    text.truncate(text.trim_end().len());
                }
            }
            if !text.is_empty() {
                self.line(text, place, depth)?;
            }
        }
        Ok(())
    }
    fn line(&mut self, text: String, place: Place, depth: usize) -> Result<(), Mistake> {
        if let Some(rest) = word(&text, "@include") {
            let named = rest.trim_matches(['"', '\'']);
            let folder = place.file.rsplit_once('/').map(|(folder, _)| folder);
            let file = match folder {
                Some(folder) if !named.starts_with('/') => format!("{folder}/{named}"),
                _ => named.to_string(),
            };
            return self.file(&file, &place, depth + 1);
        }
        if let Some(rest) = word(&text, "@define") {
            if let Some((name, value)) = rest.split_once(char::is_whitespace) {
                self.defines.insert(name.to_string(), value.trim_start().to_string());
            }
            return Ok(());
        }
        let mut text = text;
        for (name, value) in &self.defines {
            let times = text.matches(name.as_str()).count();
            if times > 0 && text.len() + times * value.len() <= MAX_LINE_BYTES {
                text = text.replace(name.as_str(), value);
            }
        }
        self.out.push(Line { place, text });
        Ok(())
    }
}

/// The text after `word` at the start of a line.
fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

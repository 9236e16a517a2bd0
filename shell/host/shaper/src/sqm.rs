//! The queues of sqm-scripts on OpenWrt, which a fix replaces, and gives back.
//!
//! The configuration stays what it is, except two lines: a queue that was replaced is not enabled,
//! and says who replaced it.
use crate::{ApplyError, Framing, ShapeRequest, ShaperKind};
use fathom_units::Rate;
use std::fs;
use std::io;
use std::path::Path;

/// The configuration, below the root directory.
const FILE: &str = "etc/config/sqm";
/// The option that marks a queue that was replaced, and its value.
const REPLACED: (&str, &str) = ("replaced_by", "fathom");

/// A section `config queue`.
#[derive(Clone, PartialEq, Debug)]
pub struct SqmQueue {
    /// What it shapes, and how.
    pub shape: ShapeRequest,
    /// Whether it is enabled.
    pub is_enabled: bool,
    /// Whether a fix has replaced it.
    pub is_replaced: bool,
}

/// The queues of the configuration below `root`; none without it. Those without an interface are
/// left out.
///
/// # Errors
/// If the file cannot be read.
pub fn sqm_queues(root: &Path) -> Result<Vec<SqmQueue>, ApplyError> {
    Ok(parse(&read(root)?).into_iter().map(|(queue, _)| queue).collect())
}

/// Marks the queue of an interface as replaced and disables it, or the reverse.
///
/// # Errors
/// If the file cannot be read or written.
pub fn mark_replaced(root: &Path, device: &str, is_replaced: bool) -> Result<(), ApplyError> {
    let text = read(root)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (queue, at) in parse(&text).iter().rev().filter(|(queue, _)| queue.shape.device == device) {
        if queue.is_replaced != is_replaced && (queue.is_enabled || !is_replaced) {
            let end =
                (at + 1..lines.len()).find(|n| words(&lines[*n])[..].first().is_some_and(|w| w == "config"));
            change(&mut lines, at + 1, end, is_replaced);
        }
    }
    let path = root.join(FILE);
    let write = || {
        // A power failure leaves the old file or the new one.
        let new = path.with_extension("new");
        fs::write(&new, lines.join("\n") + "\n")?;
        fs::set_permissions(&new, fs::metadata(&path)?.permissions())?;
        fs::rename(&new, &path)
    };
    write().map_err(ApplyError::system(path.display().to_string()))
}

fn read(root: &Path) -> Result<String, ApplyError> {
    let path = root.join(FILE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(ApplyError::system(path.display().to_string())),
    }
}

/// Changes the options of the section in these lines.
fn change(lines: &mut Vec<String>, start: usize, end: Option<usize>, is_replaced: bool) {
    let section: Vec<String> = lines.drain(start..end.unwrap_or(lines.len())).collect();
    let changed = section.into_iter().flat_map(|line| {
        let indent = line[..line.len() - line.trim_start().len()].to_owned();
        let option = |(key, value): (&str, &str)| format!("{indent}option {key} '{value}'");
        match &words(&line)[..] {
            [kind, key, ..] if kind == "option" && key == "enabled" => {
                let mut both = vec![option(("enabled", if is_replaced { "0" } else { "1" }))];
                both.extend(is_replaced.then(|| option(REPLACED)));
                both
            }
            [kind, key, ..] if kind == "option" && key == REPLACED.0 => Vec::new(),
            _ => vec![line],
        }
    });
    let changed: Vec<String> = changed.collect();
    lines.splice(start..start, changed);
}

/// The queues, each with the number of its first line.
fn parse(text: &str) -> Vec<(SqmQueue, usize)> {
    let mut found: Vec<(Options, usize)> = Vec::new();
    let mut is_queue = false;
    for (number, line) in text.lines().enumerate() {
        match &words(line)[..] {
            [kind, name, ..] if kind == "config" => {
                is_queue = name == "queue";
                found.extend(is_queue.then(|| (Options::default(), number)));
            }
            [kind, key, value] if kind == "option" && is_queue => {
                if let Some((options, _)) = found.last_mut() {
                    options.0.push((key.clone(), value.clone()));
                }
            }
            _ => {}
        }
    }
    found.into_iter().filter_map(|(options, number)| Some((options.queue()?, number))).collect()
}

/// The options of a section, in order: the last of a name counts.
#[derive(Default)]
struct Options(Vec<(String, String)>);

impl Options {
    fn of(&self, wanted: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str())
    }
    /// In kbit/s; 0 does not shape.
    fn rate(&self, key: &str) -> Option<Rate> {
        let kilobits: u64 = self.of(key)?.parse().ok().filter(|rate| *rate > 0)?;
        Some(Rate::from_bits_per_second(kilobits.checked_mul(1_000)?))
    }
    fn bytes(&self, key: &str) -> Option<u16> {
        self.of(key)?.parse().ok()
    }
    fn queue(&self) -> Option<SqmQueue> {
        let layer = self.of("linklayer").unwrap_or("none");
        let framing = Framing {
            // Without a link layer, sqm-scripts ignores the overhead.
            overhead: self.bytes("overhead").filter(|_| layer != "none"),
            mpu: self.bytes("tcMPU").filter(|_| layer != "none").unwrap_or(0),
            atm: matches!(layer, "atm" | "adsl"),
        };
        // Its scripts for other queues shape with HTB or TBF: the best that this kernel has is at
        // least as good.
        let shaper = match self.of("qdisc") {
            Some("cake") => Some(ShaperKind::Cake),
            Some("fq_codel") => Some(ShaperKind::HtbFqCodel),
            _ => None,
        };
        let device = self.of("interface").filter(|name| fathom_tc::is_interface_name(name))?.to_owned();
        let (up, down) = (self.rate("upload"), self.rate("download"));
        Some(SqmQueue {
            shape: ShapeRequest { device, up, down, shaper, framing, round_trip: None },
            is_enabled: self.of("enabled") == Some("1"),
            is_replaced: self.of(REPLACED.0) == Some(REPLACED.1),
        })
    }
}

/// The words of a line of UCI, without quotes and comments.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

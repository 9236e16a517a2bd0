//! A text of sections, groups and sentences, which a person reads in ten minutes.
use crate::variants::{Likeness, merged, words};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Width of the text.
const COLUMNS: usize = 100;

/// Sentences of one name.
#[derive(Default)]
struct Group {
    name: String,
    sentences: Vec<String>,
}

struct Section {
    name: String,
    likeness: Likeness,
    groups: Vec<Group>,
}

/// Sections in order.
#[derive(Default)]
pub(crate) struct Corpus {
    sections: Vec<Section>,
    /// Sentences without their numbers.
    seen: BTreeSet<String>,
    /// All sentences in lower case.
    all: Vec<String>,
}

impl Corpus {
    /// Begins a section.
    pub(crate) fn section(&mut self, name: &str, likeness: Likeness) {
        self.sections.push(Section { name: name.to_owned(), likeness, groups: Vec::new() });
    }

    /// Adds those sentences of a text that are new to a group of the last section.
    pub(crate) fn add(&mut self, group: &str, text: &str) {
        assert!(!text.is_empty() && text.trim() == text, "{group}: {text}");
        for sentence in split(text) {
            // Other numbers do not make another sentence.
            let same: String = sentence.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
            if self.seen.insert(same.replace("##", "#")) {
                self.all.push(sentence.to_lowercase());
                let groups = &mut self.sections.last_mut().expect("a section").groups;
                match groups.iter_mut().find(|one| one.name == group) {
                    Some(one) => one.sentences.push(sentence),
                    None => groups.push(Group { name: group.to_owned(), sentences: vec![sentence] }),
                }
            }
        }
    }

    /// Whether a sentence has a part, which is in lower case.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.all.iter().any(|sentence| sentence.contains(part))
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            write!(text, "\n## {}\n", section.name).expect("text");
            for group in &section.groups {
                let lines = merged(group.sentences.iter().map(String::as_str), section.likeness);
                match (group.name.as_str(), &lines[..]) {
                    ("", _) => lines.iter().for_each(|line| wrap(&mut text, "", line)),
                    (name, [line]) => wrap(&mut text, "", &format!("{name}: {line}")),
                    (name, _) => {
                        wrap(&mut text, "", &format!("{name}:"));
                        lines.iter().for_each(|line| wrap(&mut text, "  ", line));
                    }
                }
            }
        }
        text
    }

    pub(crate) fn words(&self) -> usize {
        words(&self.text())
    }

    /// Words of each section.
    pub(crate) fn sizes(&self) -> String {
        let all = self.text();
        let sections = all.split("\n## ").filter(|section| !section.is_empty());
        let size =
            |section: &str| format!("{} {}\n", words(section), section.lines().next().unwrap_or_default());
        sections.map(size).collect()
    }
}

/// Adds a line; what is beyond the width goes to further lines, which are indented.
fn wrap(text: &mut String, indent: &str, line: &str) {
    let mut width = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > COLUMNS {
            write!(text, "\n{indent}    ").expect("text");
            width = indent.len() + 4;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        } else {
            text.push_str(indent);
            width = indent.len();
        }
        text.push_str(word);
        width += length;
    }
    text.push('\n');
}

/// The sentences of a text.
fn split(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let last = all.last_mut().expect("a sentence");
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
        let is_new = words
            .peek()
            .is_some_and(|next| next.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()));
        if word.ends_with(['.', '?']) && is_new {
            all.push(String::new());
        }
    }
    all
}

//! Cells, colors and columns of a terminal.
//!
//! ```
//! use fathom_layout::{Style, Table};
//! let mut table = Table::new();
//! table.row(["up", "9.5 Mbit/s"].map(|text| (text.to_owned(), None)));
//! assert_eq!(table.lines(80, Style::default()), ["up  9.5 Mbit/s"]);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How much of a result is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// The headline.
    Quiet,
    /// Headline, numbers, the most important findings, and what to do: a screen.
    #[default]
    Normal,
    /// All findings, and then tables and charts.
    Verbose,
}

/// What the terminal can show, and how much the user wants to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// ANSI colors may be used.
    pub color: bool,
    /// Unicode may be used; else ASCII alone.
    pub unicode: bool,
    /// How much is shown.
    pub detail: Detail,
}

/// Roles, not colors: one table gives each its ANSI code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ink {
    /// Uploads.
    Up,
    /// Downloads.
    Down,
    /// Delays.
    Latency,
    /// What is good.
    Good,
    /// What is neither good nor bad.
    Fair,
    /// What is bad.
    Bad,
    /// What matters less.
    Dim,
    /// What matters more.
    Bold,
}

impl Ink {
    /// The 16 colors that every terminal has and every theme keeps readable.
    const fn code(self) -> &'static str {
        match self {
            Ink::Up => "33",
            Ink::Down => "36",
            Ink::Latency => "35",
            Ink::Good => "32",
            Ink::Fair => "33",
            Ink::Bad => "31",
            Ink::Dim => "2",
            Ink::Bold => "1",
        }
    }
}

impl Style {
    /// `text` in `ink`, if colors may be used.
    pub fn ink(self, ink: Ink, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", ink.code())
        } else {
            text.to_string()
        }
    }
    /// The Unicode text, or the ASCII one.
    pub const fn pick<'a>(self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }
}

/// Text from a file made harmless: a control character could move the cursor, an override could
/// hide words.
pub fn clean(text: &str) -> String {
    let bidi =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || bidi(c) { ' ' } else { c }).collect()
}

/// Lines as the text that goes to the terminal. Text from right to left, as in names, is isolated,
/// so that it does not reorder what surrounds it; without Unicode nothing but ASCII is left.
pub fn finish(lines: &[String], style: Style) -> String {
    let text = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n") + "\n";
    match style.unicode {
        true => isolated(&text),
        false => text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect(),
    }
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and their neighbors, and the old scripts of the Middle
/// East.
const fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// `text` with an isolate around each stretch that is written from right to left.
pub fn isolated(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(start) = rest.find(is_right_to_left) {
        // A stretch goes on over spaces and signs up to its last letter.
        let stretch = &rest[start..];
        let end =
            stretch.find(|c: char| c.is_control() || c.is_ascii_alphanumeric()).unwrap_or(stretch.len());
        let last = stretch[..end].char_indices().rfind(|(_, c)| is_right_to_left(*c));
        let end = last.map_or(end, |(at, c)| at + c.len_utf8());
        out = out + &rest[..start] + "\u{2068}" + &stretch[..end] + "\u{2069}";
        rest = &stretch[end..];
    }
    out + rest
}

/// Cells that a character takes: East Asian wide characters and emoji take two.
fn cells_of(c: char) -> usize {
    match u32::from(c) {
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Cells of a text without colors.
pub fn cells(text: &str) -> usize {
    text.chars().map(cells_of).sum()
}

/// As much of `text` as fits into `columns`.
pub fn clip(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += cells_of(*c);
        used <= columns
    };
    text.chars().take_while(fits).collect()
}

/// `text` and spaces up to `columns`.
pub fn left(text: &str, columns: usize) -> String {
    let clipped = clip(text, columns);
    let missing = columns - cells(&clipped);
    clipped + &" ".repeat(missing)
}

/// Spaces and `text`, together `columns`.
pub fn right(text: &str, columns: usize) -> String {
    let clipped = clip(text, columns);
    " ".repeat(columns - cells(&clipped)) + &clipped
}

/// `text` broken at spaces into lines of at most `columns`; all but the first begin with `indent`
/// spaces. A number stays with the word after it, which is its unit more often than not. A word
/// that is longer than a line is broken.
pub fn wrap(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let longest = columns.saturating_sub(indent).max(1);
    for piece in pieces(text).into_iter().flat_map(|piece| broken(piece, longest)) {
        let space = usize::from(!line.trim_start().is_empty());
        if space > 0 && cells(&line) + space + cells(&piece) > columns {
            lines.push(core::mem::replace(&mut line, " ".repeat(indent)));
        } else if space > 0 {
            line.push(' ');
        }
        line += &piece;
    }
    lines.push(line);
    lines
}

/// Parts of at most `columns` of a word; a number and its unit are separated at their space.
fn broken(piece: String, columns: usize) -> Vec<String> {
    if cells(&piece) <= columns {
        return Vec::from([piece]);
    }
    let mut parts = Vec::new();
    for word in piece.split(' ') {
        let mut rest = word;
        while cells(rest) > columns {
            let part = clip(rest, columns.max(2));
            rest = &rest[part.len()..];
            parts.push(part);
        }
        if !rest.is_empty() {
            parts.push(rest.to_string());
        }
    }
    parts
}

/// Words, a number together with the word after it.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match pieces.last_mut().filter(|p| p.ends_with(|c: char| c.is_ascii_digit()) && !p.contains(' ')) {
            Some(number) => *number = format!("{number} {word}"),
            None => pieces.push(word.to_string()),
        }
    }
    pieces
}

/// Columns of text, the first left and the others right, each as wide as it must be.
#[derive(Clone, Default, Debug)]
pub struct Table {
    rows: Vec<Vec<(String, Option<Ink>)>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new() -> Self {
        Table { rows: Vec::new() }
    }
    /// A row; a cell may have an ink.
    pub fn row(&mut self, cells: impl IntoIterator<Item = (String, Option<Ink>)>) {
        self.rows.push(cells.into_iter().collect());
    }
    /// A row of headings.
    pub fn head(&mut self, names: &[&str]) {
        self.row(names.iter().map(|n| ((*n).to_string(), Some(Ink::Dim))));
    }
    /// Lines, with two spaces between columns; columns that do not fit are left out from the right.
    pub fn lines(&self, columns: usize, style: Style) -> Vec<String> {
        let widths = self.widths();
        let fitting = self.fitting(&widths, columns);
        self.rows.iter().map(|row| line(row.get(..fitting).unwrap_or(row), &widths, style)).collect()
    }
    fn widths(&self) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |i: usize| self.rows.iter().filter_map(|r| r.get(i)).map(|(t, _)| cells(t)).max().unwrap_or(0);
        (0..count).map(width).collect()
    }
    fn fitting(&self, widths: &[usize], columns: usize) -> usize {
        let mut used = 0;
        let fits = |w: &&usize| {
            used += **w + 2;
            used <= columns + 2
        };
        widths.iter().take_while(fits).count().max(1)
    }
}

fn line(row: &[(String, Option<Ink>)], widths: &[usize], style: Style) -> String {
    let texts = row.iter().zip(widths).enumerate().map(|(i, ((text, ink), width))| {
        let padded = if i == 0 { left(text, *width) } else { right(text, *width) };
        ink.map_or(padded.clone(), |ink| style.ink(ink, &padded))
    });
    let joined = texts.collect::<Vec<_>>().join("  ");
    if style.color { joined } else { joined.trim_end().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_made_harmless() {
        assert_eq!(clean("a\x1b[2Jb\u{202e}c\r\n"), "a [2Jb c  ");
    }

    #[test]
    fn cells_of_wide_characters() {
        assert_eq!((cells("ab"), cells("日本"), clip("日本", 3).as_str()), (2, 4, "日"));
        assert_eq!((left("é", 3), right("日", 3)), ("é  ".into(), " 日".into()));
    }

    #[test]
    fn words_wrap_and_long_words_are_broken() {
        assert_eq!(wrap("one two three", 7, 2), ["one two", "  three"]);
        assert_eq!(wrap("unbreakable x", 4, 0), ["unbr", "eaka", "ble", "x"]);
        assert_eq!(wrap("日本語", 1, 0), ["日", "本", "語"]);
        assert_eq!(wrap("it took 65 ms here", 10, 0), ["it took", "65 ms here"]);
    }

    #[test]
    fn names_from_right_to_left_are_isolated() {
        assert_eq!(
            isolated("to \u{5d0}\u{5d1} \u{5d2} 5 ms"),
            "to \u{2068}\u{5d0}\u{5d1} \u{5d2}\u{2069} 5 ms"
        );
        assert_eq!(isolated("\u{628}."), "\u{2068}\u{628}\u{2069}.");
        assert_eq!(isolated("plain"), "plain");
        let ascii = Style::default();
        assert_eq!(finish(&["\u{5d0} \u{b1}".to_string()], ascii), "? ?\n");
    }

    #[test]
    fn a_table_drops_columns_that_do_not_fit() {
        let mut table = Table::new();
        table.head(&["name", "a", "b"]);
        table.row(["x", "10", "200"].map(|t| (t.to_string(), None)));
        let style = Style::default();
        assert_eq!(table.lines(80, style), ["name   a    b", "x     10  200"]);
        assert_eq!(table.lines(9, style), ["name   a", "x     10"]);
    }
}

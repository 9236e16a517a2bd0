//! Language lint: reports phrases of `docs/language/phrases.txt` and overlong lines in the
//! documentation, in comments and in string literals.
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Maximum width of prose and comments.
const MAX_COLUMNS: usize = 100;
/// Folders and files that are searched.
const ROOTS: [&str; 15] = [
    "core",
    "shell",
    "bench",
    "fuzz",
    "docs",
    "packaging",
    "scenarios",
    "ui",
    ".ci",
    "setup",
    "Makefile",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
];
/// Folders with generated or third-party content, and this file, which quotes phrases.
const SKIPPED: [&str; 6] = ["target", "node_modules", "dist", "corpus", "check", "language.rs"];

/// A line of the phrase list.
struct Phrase {
    text: String,
    /// Whether further letters may follow.
    is_open: bool,
    instead: String,
    exceptions: Vec<String>,
}

impl Phrase {
    fn parse(line: &str) -> Phrase {
        let mut cells = line.split('|').map(str::trim);
        let (text, instead) = (cells.next().unwrap_or_default(), cells.next());
        let instead = instead.unwrap_or_else(|| panic!("phrases.txt: no replacement in \"{line}\""));
        let exceptions = cells.next().map_or_else(Vec::new, |all| {
            all.split(';').map(|exception| exception.trim().to_lowercase()).collect()
        });
        Phrase {
            text: text.trim_end_matches('*').to_lowercase(),
            is_open: text.ends_with('*'),
            instead: instead.to_owned(),
            exceptions,
        }
    }
    /// Offsets of its uses in a lower-case text.
    fn uses<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        text.match_indices(&self.text).map(|(at, _)| at).filter(move |at| {
            let (before, after) = (&text[..*at], &text[at + self.text.len()..]);
            let is_start = !before.ends_with(is_word);
            let is_end = self.is_open || !after.starts_with(is_word);
            is_start && is_end && !self.is_excepted(text, *at)
        })
    }
    fn is_excepted(&self, text: &str, at: usize) -> bool {
        self.exceptions.iter().any(|exception| {
            let inside =
                exception.find(&self.text).unwrap_or_else(|| panic!("\"{exception}\" lacks its phrase"));
            at >= inside && text[at - inside..].starts_with(exception.as_str())
        })
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '\''
}

/// Prose of a file. Consecutive lines are joined, so that phrases across line ends are found.
#[derive(Default)]
struct Prose {
    /// In lower case, with single spaces between words and without inline code.
    text: String,
    /// The line of each byte.
    lines: Vec<usize>,
    last_line: usize,
    is_code: bool,
}

impl Prose {
    /// Adds the text of a line; a gap between lines ends a sentence.
    fn add(&mut self, line: usize, text: &str) {
        if line > self.last_line + 1 || text.trim().is_empty() {
            self.push(line, " \n ");
            self.is_code = false;
        }
        self.last_line = line;
        self.push(line, " ");
        for letter in text.chars() {
            if letter == '`' {
                self.is_code = !self.is_code;
                self.push(line, "`");
            } else if !self.is_code {
                let letter = if letter.is_whitespace() { ' ' } else { letter };
                if !(letter == ' ' && self.text.ends_with(' ')) {
                    self.push(line, &letter.to_lowercase().collect::<String>());
                }
            }
        }
    }
    fn push(&mut self, line: usize, text: &str) {
        self.text.push_str(text);
        self.lines.resize(self.text.len(), line);
    }
}

/// What was extracted from a file: prose, and lines that consist of prose only.
#[derive(Default)]
struct Extract {
    comments: Prose,
    strings: Prose,
    overlong: Vec<usize>,
}

impl Extract {
    fn of(path: &Path, text: &str) -> Extract {
        let mut extract = Extract::default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") => extract.markdown(text),
            Some("rs") => extract.source(text, &['"']),
            Some("ts" | "mjs" | "js") => extract.source(text, &['"', '\'', '`']),
            Some("toml") | None => extract.script(text),
            _ => {}
        }
        extract
    }

    fn check_width(&mut self, number: usize, line: &str) {
        // Links, tables, and the syntax of a queue discipline cannot be wrapped.
        let is_syntax = line.starts_with('`') && line.ends_with('`');
        let is_exempt = is_syntax || line.contains("://") || line.contains("](") || line.contains('|');
        if line.chars().count() > MAX_COLUMNS && !is_exempt {
            self.overlong.push(number);
        }
    }

    fn markdown(&mut self, text: &str) {
        let mut is_fence = false;
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim_start().starts_with("```") {
                is_fence = !is_fence;
                self.comments.add(number, "");
            } else if is_fence {
                // Commands of an example may have comments.
                if let Some((_, comment)) = line.split_once("  # ") {
                    self.strings.add(number, comment);
                }
            } else {
                self.comments.add(number, line);
                self.check_width(number, line);
            }
        }
    }

    /// Files with `#` comments. All text is searched, since messages of scripts are prose too.
    fn script(&mut self, text: &str) {
        for (number, line) in (1..).zip(text.lines()) {
            self.comments.add(number, line.trim_start().trim_start_matches('#'));
            if line.trim_start().starts_with('#') && !line.starts_with("#!") {
                self.check_width(number, line);
            }
        }
    }

    /// Comments and string literals of Rust and TypeScript.
    fn source(&mut self, text: &str, quotes: &[char]) {
        let mut is_fence = false;
        let mut open: Option<Open> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let trimmed = line.trim_start();
            if open.is_none() && trimmed.starts_with("//") {
                let comment = trimmed.trim_start_matches('/').trim_start_matches('!');
                if comment.trim_start().starts_with("```") {
                    is_fence = !is_fence;
                    self.comments.add(number, "");
                } else if !is_fence {
                    self.comments.add(number, comment);
                    self.check_width(number, line);
                }
                continue;
            }
            is_fence = false;
            open = self.code(number, line, open, quotes);
        }
    }

    /// Extracts the literals and the trailing comment of a line. Returns what is open at its end.
    fn code(&mut self, number: usize, line: &str, open: Option<Open>, quotes: &[char]) -> Option<Open> {
        let (mut open, mut rest) = (open, line);
        loop {
            if let Some(inside) = open {
                let Some((content, after)) = inside.split(rest) else {
                    // Literals of several lines are code of another language in TypeScript.
                    if quotes.len() == 1 {
                        let text = rest.trim_start().trim_end_matches('\\');
                        self.strings.add(number, &without_values(text));
                    }
                    return Some(inside);
                };
                // A literal of one word is a name or a key.
                if content.contains(' ') {
                    self.strings.add(number, &without_values(&content.replace("\\n", " ")));
                    self.strings.push(number, " \n ");
                }
                (open, rest) = (None, after);
                continue;
            }
            let (at, found) = next_token(rest, quotes)?;
            match found {
                Token::Comment => {
                    self.comments.add(number, &rest[at + 2..]);
                    return None;
                }
                Token::Skip(bytes) => rest = &rest[at + bytes..],
                Token::Begin(begun, bytes) => (open, rest) = (Some(begun), &rest[at + bytes..]),
            }
        }
    }
}

/// The text of a literal without the values in it: `{name}`, `${expression}`.
fn without_values(text: &str) -> String {
    let mut depth = 0_usize;
    let mut outside = String::new();
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            letter if depth == 0 => outside.push(letter),
            _ => {}
        }
    }
    outside
}

/// A literal or comment that has begun.
#[derive(Clone, Copy)]
enum Open {
    Quote(char),
    Raw(usize),
    Block,
}

impl Open {
    /// The content, and what follows the end.
    fn split(self, rest: &str) -> Option<(&str, &str)> {
        match self {
            Open::Block => rest.split_once("*/"),
            Open::Raw(hashes) => rest.split_once(&format!("\"{}", "#".repeat(hashes))),
            Open::Quote(quote) => {
                let mut is_escaped = false;
                let end = rest.char_indices().find(|(_, letter)| {
                    let is_end = !is_escaped && *letter == quote;
                    is_escaped = !is_escaped && *letter == '\\';
                    is_end
                })?;
                Some((&rest[..end.0], &rest[end.0 + 1..]))
            }
        }
    }
}

enum Token {
    Comment,
    Begin(Open, usize),
    Skip(usize),
}

/// The first relevant token of `rest`, and its offset.
fn next_token(rest: &str, quotes: &[char]) -> Option<(usize, Token)> {
    let is_rust = quotes.len() == 1;
    rest.char_indices().find_map(|(at, letter)| {
        let here = &rest[at..];
        let token = match letter {
            '/' if here.starts_with("//") => Token::Comment,
            '/' if here.starts_with("/*") => Token::Begin(Open::Block, 2),
            'r' if is_rust && (here.starts_with("r\"") || here.starts_with("r#")) => {
                let hashes = here[1..].bytes().take_while(|byte| *byte == b'#').count();
                if !here[1 + hashes..].starts_with('"') || rest[..at].ends_with(is_word) {
                    return None;
                }
                Token::Begin(Open::Raw(hashes), 2 + hashes)
            }
            // A character such as '"' is not the start of a literal.
            '\'' if is_rust && here.starts_with("'\"'") => Token::Skip(3),
            '\'' if is_rust && here.starts_with("'\\\"'") => Token::Skip(4),
            quote if quotes.contains(&quote) => Token::Begin(Open::Quote(quote), 1),
            _ => return None,
        };
        Some((at, token))
    })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn files(path: &Path, to: &mut Vec<PathBuf>) {
    if path.is_file() {
        to.push(path.to_owned());
        return;
    }
    let mut inside: Vec<PathBuf> = read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    inside.sort();
    for entry in inside {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !SKIPPED.contains(&name.as_str()) && !name.starts_with("package-lock") {
            files(&entry, to);
        }
    }
}

fn phrases() -> Vec<Phrase> {
    let text = read_to_string(root().join("docs/language/phrases.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(Phrase::parse).collect()
}

/// The findings in a file, by line.
fn complaints(name: &str, extract: &Extract, phrases: &[Phrase]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for prose in [&extract.comments, &extract.strings] {
        for phrase in phrases {
            found.extend(phrase.uses(&prose.text).map(|at| {
                let line = prose.lines[at];
                (line, format!("{name}:{line}: \"{}\": write {}", phrase.text, phrase.instead))
            }));
        }
    }
    let wide = |line: &usize| (*line, format!("{name}:{line}: prose is wider than {MAX_COLUMNS} columns"));
    found.extend(extract.overlong.iter().map(wide));
    found.sort();
    found
}

#[test]
fn no_text_has_a_phrase_of_the_list_or_an_overlong_line() {
    let (root, phrases) = (root(), phrases());
    let mut all = Vec::new();
    ROOTS.iter().for_each(|name| files(&root.join(name), &mut all));
    assert!(all.len() > 500, "{} files", all.len());
    let mut found = Vec::new();
    for path in &all {
        // Images and captures are not text.
        let Ok(text) = read_to_string(path) else { continue };
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        found.extend(complaints(&name, &Extract::of(path, &text), &phrases));
    }
    let lines: Vec<&str> = found.iter().map(|(_, line)| line.as_str()).collect();
    assert!(lines.is_empty(), "{} complaints:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn the_lint_finds_phrases_in_comments_and_literals_only() {
    let phrases = [
        Phrase::parse("told | said"),
        Phrase::parse("of its own | its own"),
        Phrase::parse("colour* | color"),
    ];
    let source = r##"
        /// It has a clock of
        /// its own, `told` by nobody.
        fn told() { say("the colours", '"', r#"told "# ); } // told
        //! retold
    "##;
    let found = complaints("x.rs", &Extract::of(Path::new("x.rs"), source), &phrases);
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 4, 4, 4], "{found:?}");
    let prose = "It was\ntold. `told`\n\n```sh\ntold  # told\n```\n";
    let in_prose = complaints("x.md", &Extract::of(Path::new("x.md"), prose), &phrases);
    assert_eq!(in_prose.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 5], "{in_prose:?}");
    let exception = Phrase::parse("stands | is | stands for");
    assert_eq!(exception.uses("it stands for a queue that stands").collect::<Vec<_>>(), [27]);
}

//! Reads Rust sources well enough to find string literals and what contains them.
use std::ops::Range;

/// A string literal.
pub(crate) struct Literal {
    /// Offset of its opening quote.
    pub(crate) start: usize,
    /// Offset of the code after it.
    end: usize,
    /// Its text, with escaped line ends removed.
    pub(crate) text: String,
}

/// An `impl` block.
pub(crate) struct Impl {
    /// The last segment of the type's path.
    pub(crate) of: String,
    /// The trait, or an empty string.
    of_trait: String,
    pub(crate) range: Range<usize>,
}

impl Impl {
    pub(crate) fn is_of_trait(&self, name: &str) -> bool {
        self.of_trait.rsplit("::").next() == Some(name)
    }
}

/// A function with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    /// Its return type, without spaces at line ends.
    pub(crate) returns: String,
    pub(crate) range: Range<usize>,
}

/// A file.
pub(crate) struct RustSource {
    /// Its path in `src`.
    pub(crate) name: String,
    /// The text with spaces in place of comments, literals and tests, so that offsets are
    /// unchanged.
    code: String,
    pub(crate) literals: Vec<Literal>,
    pub(crate) impls: Vec<Impl>,
    /// In order of their starts: inner functions after outer ones.
    pub(crate) functions: Vec<Function>,
}

impl RustSource {
    pub(crate) fn new(name: &str, text: &str) -> RustSource {
        let (mut code, mut literals) = lex(text);
        let tests: Vec<Range<usize>> =
            code.match_indices("#[cfg(test)]").map(|(at, _)| body(&code, at)).collect();
        literals.retain(|literal| !tests.iter().any(|range| range.contains(&literal.start)));
        for range in tests {
            let blank = " ".repeat(range.len());
            code.replace_range(range, &blank);
        }
        let (impls, functions) = (impls(&code), functions(&code));
        RustSource { name: name.to_owned(), code, literals, impls, functions }
    }

    /// The calls and macros whose parentheses are open at `at`, up to the start of the statement.
    pub(crate) fn calls_around(&self, at: usize) -> Vec<String> {
        let (mut depth, mut calls) = (0, Vec::new());
        for (index, letter) in self.code[..at].char_indices().rev() {
            match letter {
                ')' | ']' | '}' => depth += 1,
                '(' | '[' | '{' if depth > 0 => depth -= 1,
                '(' => {
                    let before = self.code[..index].trim_end_matches('!');
                    let from = before.rfind(|c: char| !is_word(c) && c != ':').map_or(0, |end| end + 1);
                    calls.push(before[from..].to_owned());
                }
                // A block of statements ends the search, except a closure or match within a call.
                '{' if self.code[..index].trim_end().ends_with("->") => break,
                ';' if depth == 0 => break,
                _ => {}
            }
        }
        calls
    }

    /// The text of a literal with the names of its arguments in the braces.
    pub(crate) fn template(&self, literal: &Literal) -> String {
        let mut arguments = self.arguments(literal.end).into_iter();
        let (mut text, mut rest) = (String::new(), literal.text.as_str());
        while let Some((before, after)) = rest.split_once('{') {
            text += before;
            if let Some(escaped) = after.strip_prefix('{') {
                text += "{{";
                rest = escaped;
                continue;
            }
            let Some((inside, next)) = after.split_once('}') else { break };
            let named = inside.split(':').next().unwrap_or_default();
            let argument =
                if named.is_empty() { arguments.next().unwrap_or_default() } else { named.to_owned() };
            text += &format!("{{{argument}}}");
            rest = next;
        }
        (text + rest).replace('\n', "\\n")
    }

    /// A short name of each argument that follows at `at`.
    fn arguments(&self, at: usize) -> Vec<String> {
        let rest = self.code[at..].trim_start();
        let Some(rest) = rest.strip_prefix(',') else { return Vec::new() };
        let (mut depth, mut names, mut from) = (0, Vec::new(), 0);
        for (index, letter) in rest.char_indices() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth > 0 => depth -= 1,
                ')' => {
                    names.push(short(&rest[from..index]));
                    break;
                }
                ',' if depth == 0 => {
                    names.push(short(&rest[from..index]));
                    from = index + 1;
                }
                _ => {}
            }
        }
        names
    }
}

/// The last field or variable of an expression: `path` for `self.path.display()`.
fn short(expression: &str) -> String {
    let expression = expression.trim().trim_start_matches(['&', '*']);
    let chain: Vec<&str> = expression.split(['.', '(']).map(str::trim).collect();
    let is_field = |part: &&&str| part.chars().all(is_word) && !part.is_empty() && **part != "self";
    let called = |part: &str| expression.contains(&format!("{part}("));
    let fields = chain.iter().take_while(|part| part.chars().all(is_word)).filter(is_field);
    let field = fields.filter(|part| !called(part)).last();
    field.or(chain.iter().find(is_field)).map_or_else(String::new, |part| (*part).to_owned())
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The code without comments and literals, and the literals.
fn lex(text: &str) -> (String, Vec<Literal>) {
    let (mut code, mut literals, mut at) = (String::with_capacity(text.len()), Vec::new(), 0);
    while at < text.len() {
        let rest = &text[at..];
        let word_before = code.ends_with(is_word);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with('"') {
            let length = quoted(rest);
            literals.push(Literal { start: at, end: at + length, text: unescaped(&rest[1..length - 1]) });
            length
        } else if !word_before && (rest.starts_with("r\"") || rest.starts_with("r#\"")) {
            let end = if rest.starts_with("r#") { "\"#" } else { "\"" };
            let begin = end.len() + 1;
            let length = rest[begin..].find(end).map_or(rest.len(), |found| begin + found + end.len());
            literals.push(Literal {
                start: at,
                end: at + length,
                text: rest[begin..length - end.len()].to_owned(),
            });
            length
        } else if let Some(length) = character(rest) {
            length
        } else {
            let letter = rest.chars().next().unwrap_or_default();
            code.push(letter);
            at += letter.len_utf8();
            continue;
        };
        code.push_str(&" ".repeat(length));
        at += length;
    }
    (code, literals)
}

/// The length of a literal, with its quotes.
fn quoted(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal, if one begins here. A lifetime is not one.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let end = if inside.starts_with('\\') {
        inside[2..].find('\'')? + 2
    } else {
        inside.chars().next()?.len_utf8()
    };
    inside[end..].starts_with('\'').then_some(end + 2)
}

/// The text of a literal: a backslash at the end of a line joins it with the next.
fn unescaped(literal: &str) -> String {
    let mut lines = literal.split("\\\n");
    let mut text = lines.next().unwrap_or_default().to_owned();
    lines.for_each(|line| text += line.trim_start());
    text.replace("\\\"", "\"").replace("\\n", "\n").replace("\\u{2212}", "\u{2212}")
}

/// The range from `at` to the end of the block or statement that begins there.
fn body(code: &str, at: usize) -> Range<usize> {
    let mut depth = 0;
    for (index, letter) in code[at..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => return at..at + index + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at..at + index + 1,
            _ => {}
        }
    }
    at..code.len()
}

/// The starts of `keyword` as a word at the start of an item.
fn items<'a>(code: &'a str, keyword: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(keyword).map(|(at, _)| at).filter(move |at| {
        let after = &code[at + keyword.len()..];
        !code[..*at].ends_with(is_word) && after.starts_with([' ', '<'])
    })
}

fn impls(code: &str) -> Vec<Impl> {
    let is_item = |at: &usize| code[..*at].trim_end_matches(' ').ends_with(['\n']) || *at == 0;
    let read = |at: usize| {
        let range = body(code, at);
        let head = code[at + 4..range.end].split(['{', ';']).next().unwrap_or_default();
        let head = skip_generics(head.trim());
        let (of_trait, of) = head.split_once(" for ").unwrap_or(("", head));
        let of = of.split(['<', ' ']).next().unwrap_or_default();
        let of = of.trim_start_matches('&').rsplit("::").next().unwrap_or_default().trim().to_owned();
        Impl { of, of_trait: of_trait.trim().to_owned(), range }
    };
    items(code, "impl").filter(is_item).map(read).collect()
}

/// What follows the `<...>` of an `impl`.
fn skip_generics(head: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in head.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { head } else { head[at + 1..].trim_start() };
        }
    }
    head
}

fn functions(code: &str) -> Vec<Function> {
    let read = |at: usize| {
        let range = body(code, at);
        let head = code[at + 2..range.end].split(['{', ';']).next().unwrap_or_default();
        let name = head.trim_start().split(|c: char| !is_word(c)).next().unwrap_or_default().to_owned();
        // The arrow of a closure among the arguments comes before the last one.
        let returns = head.rsplit_once("->").map_or("", |(_, returns)| returns);
        let returns = returns.split(" where ").next().unwrap_or_default();
        Function { name, returns: returns.split_whitespace().collect::<Vec<_>>().join(" "), range }
    };
    items(code, "fn").map(read).collect()
}

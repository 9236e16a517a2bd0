//! Text from outside of the program, such as a file name in an error.
use alloc::borrow::Cow;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Longest word that a message shows whole, in characters: longer than the name of any file.
const WORD: usize = 300;

/// Escapes control characters and directional overrides: a name in an error could otherwise move
/// the cursor, change colors or reorder the words. Newlines stay. Words that would fill the screen
/// lose their middle part, and the number that Rust adds to errors of the system is left out.
pub fn printable(text: &str) -> String {
    let lines = text.trim_end().split('\n');
    let words = lines.map(|line| line.split(' ').map(short).collect::<Vec<_>>().join(" "));
    let shown = without_error_numbers(&words.collect::<Vec<_>>().join("\n"));
    let escape = |c: char| match c {
        '\n' => None,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(c.escape_unicode().to_string())
        }
        c if c.is_control() => Some(c.escape_debug().to_string()),
        _ => None,
    };
    shown.chars().map(|c| escape(c).unwrap_or_else(|| c.into())).collect()
}

fn short(word: &str) -> Cow<'_, str> {
    let count = word.chars().count();
    if count <= WORD {
        return word.into();
    }
    let (start, end): (String, String) =
        (word.chars().take(WORD / 2).collect(), word.chars().skip(count - WORD / 4).collect());
    format!("{start}...{end}").into()
}

/// Without ` (os error 2)`: the words before it say the same.
fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += part.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(')');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_others_shows_what_it_has() {
        let cases = [
            (
                "cannot read x: No such file or directory (os error 2)",
                "cannot read x: No such file or directory",
            ),
            ("a\u{1b}[31mb\tc\nd\n", "a\\u{1b}[31mb\\tc\nd"),
            ("\u{202e}abc", "\\u{202e}abc"),
        ];
        for (text, expected) in cases {
            assert_eq!(printable(text), expected);
        }
        let long = printable(&"x".repeat(1000));
        assert_eq!(long, format!("{}...{}", "x".repeat(150), "x".repeat(75)));
    }
}

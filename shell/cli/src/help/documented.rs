//! Parses every `fathom` command of the documentation, so that no example has a flag that does not
//! exist.
use super::command;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

fn markdown(path: &Path, to: &mut Vec<PathBuf>) {
    if path.is_dir() {
        read_dir(path).unwrap().for_each(|entry| markdown(&entry.unwrap().path(), to));
    } else if path.extension().is_some_and(|extension| extension == "md") {
        to.push(path.to_owned());
    }
}

/// The words of a command up to a comment, a pipe, a redirection or the next command. `None` if a
/// word is `...`.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    // Three blanks separate a command from a description.
    let line = line.split("   ").next().unwrap_or_default();
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '#' | '|' | '>' | '&' | ';') => break,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (_, letter) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|one| !one.is_empty());
    (!words.iter().any(|one| one == "...")).then_some(words)
}

/// The commands in the code blocks of a page.
fn commands(text: &str) -> Vec<(usize, Vec<String>)> {
    let (mut found, mut pending) = (Vec::new(), String::new());
    let (mut is_fence, mut is_block) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            // Other languages have a name; the output of a command is `text`.
            is_fence = !is_fence;
            is_block = is_fence && matches!(line, "```" | "```sh");
            continue;
        }
        if !is_block {
            continue;
        }
        if let Some(begun) = line.strip_suffix('\\') {
            pending += begun;
            continue;
        }
        let whole = std::mem::take(&mut pending) + line;
        for part in whole.split(" | ") {
            let part = part.trim_start().trim_start_matches("$ ").trim_start_matches("sudo ");
            if part.starts_with("fathom ") {
                found.extend(words(part).map(|words| (number, words)));
            }
        }
    }
    found
}

#[test]
fn every_documented_command_is_accepted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    markdown(&root.join("docs"), &mut pages);
    let (mut count, mut refused) = (0, Vec::new());
    for page in pages {
        for (line, words) in commands(&read_to_string(&page).unwrap()) {
            count += 1;
            let parsed = command().try_get_matches_from(&words);
            if let Err(error) =
                parsed.map(drop).or_else(|error| if error.use_stderr() { Err(error) } else { Ok(()) })
            {
                refused.push(format!("{}:{line}: {}\n{error}", page.display(), words.join(" ")));
            }
        }
    }
    assert!(count > 60, "{count} commands");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

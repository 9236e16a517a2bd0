//! `golden/prose/errors.txt` lists every error sentence that the program can print, for review.
//!
//! The sources are searched for string literals in these places: in any `impl` block of a type that
//! implements `Error` or has a name such as `SizeError` or `Refusal`; in the arguments of calls
//! that make errors, such as `Err(...)` and `Failure::input(...)`; and in functions that return an
//! error as text. This test fails if a sentence is not in the file; `UPDATE_GOLDEN=1` adds it.
use crate::rust_source::{Literal, RustSource};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string, write};
use std::path::{Path, PathBuf};

/// Calls whose arguments are errors.
const CALLS: [&str; 22] = [
    "Err",
    "map_err",
    "ok_or",
    "ok_or_else",
    "input",
    "environment",
    "other",
    "refuse",
    "refused",
    "wrong",
    "bad",
    "fail",
    "failed",
    "error",
    "unexpected",
    "malformed",
    "invalid",
    "no_such",
    "system",
    "needs",
    "mistake",
    "reject",
];
/// Suffixes of the names of error types.
const TYPES: [&str; 6] = ["Error", "Failure", "Refusal", "Fault", "Mistake", "Obstacle"];
/// Parts of names of functions that return an error as text.
const FUNCTIONS: [&str; 6] = ["refus", "mistake", "error", "fault", "why", "reason"];
const HEADER: &str = "\
# Every sentence of an error that the program can print, by crate and by type or file. Values are in {braces}.
# Messages about flags that clap(1) itself writes are not here. `UPDATE_GOLDEN=1 cargo test -p fathom-text` rewrites it.
";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The sources of each crate of the program.
fn sources() -> BTreeMap<String, Vec<RustSource>> {
    let (root, mut found) = (root(), BTreeMap::new());
    for folder in ["core", "shell"] {
        crates(&root.join(folder), &mut found);
    }
    found.remove("fathom-test-support");
    found
}

fn crates(folder: &Path, to: &mut BTreeMap<String, Vec<RustSource>>) {
    if let Ok(manifest) = read_to_string(folder.join("Cargo.toml")) {
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
        let mut files = Vec::new();
        rust_files(&folder.join("src"), Path::new(""), &mut files);
        to.insert(name.trim_matches('"').to_owned(), files);
    } else {
        let inside = read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        inside.filter(|path| path.is_dir()).for_each(|path| crates(&path, to));
    }
}

fn rust_files(folder: &Path, name: &Path, to: &mut Vec<RustSource>) {
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let inner = name.join(path.file_name().unwrap());
        if path.is_dir() {
            rust_files(&path, &inner, to);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            to.push(RustSource::new(&inner.display().to_string(), &read_to_string(&path).unwrap()));
        }
    }
}

/// Types that implement `Error` or are named like one.
fn error_types(all: &BTreeMap<String, Vec<RustSource>>) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    for file in all.values().flatten() {
        for block in &file.impls {
            if block.is_of_trait("Error") || TYPES.iter().any(|end| block.of.ends_with(end)) {
                types.insert(block.of.clone());
            }
        }
    }
    types
}

/// The type or file that a sentence belongs to. `None` if it is not part of an error.
fn owner(file: &RustSource, literal: &Literal, types: &BTreeSet<String>) -> Option<String> {
    let words = literal.text.split_whitespace().count();
    let is_sentence =
        literal.text.chars().any(char::is_alphabetic) && (words > 1 || literal.text.contains('{'));
    if !is_sentence {
        return None;
    }
    let block = file.impls.iter().find(|block| block.range.contains(&literal.start));
    if let Some(block) = block.filter(|block| types.contains(&block.of)) {
        return Some(block.of.clone());
    }
    let is_call = |call: &String| {
        let mut path = call.rsplit("::");
        let (name, of) = (path.next().unwrap_or_default(), path.next().unwrap_or_default());
        CALLS.contains(&name) || types.contains(of)
    };
    let is_in_call = file.calls_around(literal.start).iter().any(is_call);
    let function = file.functions.iter().rfind(|function| function.range.contains(&literal.start));
    let is_in_function = function.is_some_and(|function| {
        let is_text = function.returns.ends_with(", String>") || function.returns.ends_with("str>");
        let is_named = FUNCTIONS.iter().any(|part| function.name.contains(part));
        words > 2 && (is_text && function.returns.starts_with("Result<") || is_named)
    });
    (is_in_call || is_in_function).then(|| format!("({})", file.name))
}

fn document() -> String {
    let all = sources();
    let types = error_types(&all);
    let mut text = HEADER.to_owned();
    for (name, files) in &all {
        let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in files {
            for literal in &file.literals {
                if let Some(owner) = owner(file, literal, &types) {
                    owners.entry(owner).or_default().insert(file.template(literal));
                }
            }
        }
        if !owners.is_empty() {
            text += &format!("\n## {name}\n");
        }
        for (owner, sentences) in owners {
            text += &format!("{owner}\n");
            sentences.iter().for_each(|sentence| text += &format!("  {sentence}\n"));
        }
    }
    text
}

#[test]
fn the_file_of_errors_has_every_sentence() {
    let path = root().join("golden/prose/errors.txt");
    let actual = document();
    assert!(actual.lines().count() > 300, "{} lines", actual.lines().count());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        write(&path, &actual).unwrap();
    }
    let expected = read_to_string(&path).unwrap();
    let known: BTreeSet<&str> = expected.lines().collect();
    let found: BTreeSet<&str> = actual.lines().collect();
    let new: Vec<_> = found.difference(&known).collect();
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(
        expected == actual,
        "new: {new:#?}\ngone: {gone:#?}\nUPDATE_GOLDEN=1 rewrites golden/prose/errors.txt"
    );
}

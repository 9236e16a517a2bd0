//! The errors of the program, found in its sources.
//!
//! String literals are errors in these places: in any `impl` block of a type that implements
//! `Error` or has a name such as `SizeError` or `Refusal`; in the arguments of calls that make
//! errors, such as `Err(...)` and `Failure::input(...)`; and in functions that may fail, or that
//! return an error as text.
use crate::corpus::Corpus;
use crate::error_forms::{ERRORS, Sentence, TITLES, title};
use crate::rust_source::{Literal, RustSource};
use crate::variants::Likeness;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Calls whose arguments are errors.
const CALLS: &str = " Err map_err ok_or ok_or_else input environment other refuse refused wrong bad \
    fail failed error unexpected malformed invalid no_such system needs mistake reject ";
/// Suffixes of the names of error types.
const TYPES: [&str; 6] = ["Error", "Failure", "Refusal", "Fault", "Mistake", "Obstacle"];
/// Parts of names of functions that return an error as text.
const FUNCTIONS: [&str; 6] = ["refus", "mistake", "error", "fault", "why", "reason"];

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

/// Whether a literal is an error or a part of one.
fn is_error(file: &RustSource, literal: &Literal, types: &BTreeSet<String>) -> bool {
    let words = literal.text.split_whitespace().count();
    let is_sentence =
        literal.text.chars().any(char::is_alphabetic) && (words > 1 || literal.text.contains('{'));
    let block = file.impls.iter().find(|block| block.range.contains(&literal.start));
    let is_in_type = block.is_some_and(|block| types.contains(&block.of));
    let is_call = |call: &String| {
        let mut path = call.rsplit("::");
        let (name, of) = (path.next().unwrap_or_default(), path.next().unwrap_or_default());
        CALLS.contains(&format!(" {name} ")) || types.contains(of)
    };
    let is_in_call = file.calls_around(literal.start).iter().any(is_call);
    let function = file.functions.iter().rfind(|function| function.range.contains(&literal.start));
    let is_in_function = function.is_some_and(|function| {
        let is_text = function.returns.ends_with(", String>") || function.returns.ends_with("str>");
        let is_named = FUNCTIONS.iter().any(|part| function.name.contains(part));
        let may_fail = ["Result<", "Fault", "Failure", "Refusal"];
        let may_fail = may_fail.iter().any(|name| function.returns.contains(name));
        words > 2 && (is_text && function.returns.starts_with("Result<") || is_named || may_fail)
    });
    is_sentence && (is_in_type || is_in_call || is_in_function)
}

/// Crates that present results, and do not fail.
const PRESENTERS: [&str; 4] = ["fathom-prose", "fathom-report", "fathom-trace-page", "fathom-trace-formats"];

/// Adds the sentences of all errors by form, and the errors in full by crate.
pub(crate) fn errors(to: &mut Corpus, parts: &mut Corpus) {
    let all = sources();
    let types = error_types(&all);
    let mut sentences = Vec::new();
    parts.section("Errors and their parts in full, by crate", Likeness { max_choices: 0, ..ERRORS });
    for (name, files) in all.iter().filter(|(name, _)| !PRESENTERS.contains(&name.as_str())) {
        for file in files {
            for literal in file.literals.iter().filter(|one| is_error(file, one, &types)) {
                let template = file.template(literal);
                if template.chars().any(char::is_alphabetic) {
                    parts.add(name, template.trim());
                }
                sentences.push(Sentence::new(&template));
            }
        }
    }
    for one in TITLES {
        to.section(&format!("Errors: {one}"), ERRORS);
        let heads = sentences.iter().filter_map(|sentence| sentence.head.as_deref());
        heads.filter(|head| title(head) == one).for_each(|head| to.add("", head));
    }
    to.section("What to try about an error", ERRORS);
    sentences.iter().filter_map(|sentence| sentence.hint.as_deref()).for_each(|hint| to.add("", hint));
}

/// Functions of `core/present/prose` that give names and values, by file.
const NAMING: [(&str, &[&str]); 12] = [
    ("timer.rs", &["name"]),
    ("alternative.rs", &["excluded_name"]),
    ("action.rs", &["longer"]),
    ("history.rs", &["hours"]),
    ("phase.rs", &["doing"]),
    (
        "audit.rs",
        &[
            "queue_name",
            "interface_name",
            "rate_source",
            "limit",
            "buffer",
            "driver",
            "queue",
            "qdisc",
            "card",
            "airtime_words",
            "link",
            "sentence",
        ],
    ),
    ("evidence.rs", &["figures", "parameters", "figure"]),
    ("kind.rs", &["kind_name"]),
    ("note.rs", &["fact_name"]),
    ("numbers.rs", &["sender", "loaded"]),
    ("queue.rs", &["delayed_probes"]),
    ("verdict.rs", &["word"]),
];

/// Adds the literals of `core/present/prose` that no example has.
pub(crate) fn without_example(to: &mut Corpus, parts: &mut Corpus) {
    for file in &sources()["fathom-prose"] {
        let naming = NAMING.iter().find(|(name, _)| *name == file.name);
        for literal in &file.literals {
            let template = file.template(literal);
            let fragments = template.split(['{', '}']).step_by(2).flat_map(|part| part.split(". "));
            let fragments: Vec<String> = fragments
                .map(|part| part.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase())
                .filter(|part| part.contains(' '))
                .collect();
            // The other form of a count.
            let is_count = file.calls_around(literal.start).iter().any(|call| call.ends_with("counted"));
            if is_count
                || fragments.is_empty()
                || fragments.iter().all(|part| to.has(part) || parts.has(part))
            {
                continue;
            }
            let within = file.functions.iter().rfind(|one| one.range.contains(&literal.start));
            let is_name = match (naming, within) {
                (Some((_, functions)), Some(within)) => functions.contains(&within.name.as_str()),
                // A constant.
                (Some(_), None) => true,
                (None, _) => false,
            };
            if is_name {
                parts.add("", template.trim());
            } else {
                to.add("", template.trim());
            }
        }
    }
}

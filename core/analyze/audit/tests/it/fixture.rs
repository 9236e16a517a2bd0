//! Trees of `testdata/audit`: hosts as their files tell of them.
use fathom_audit::{Asked, Facts, Place, Tree, audit};
use std::path::{Path, PathBuf};

/// Hosts, and what their user says of rates.
pub(crate) const HOSTS: [(&str, &str); 4] = [
    ("router", "20mbit wlan0=300mbit"),
    ("laptop", "wwan0=5mbit"),
    ("vm-host", ""),
    ("container", "100mbit"),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/audit").join(name)
}

pub(crate) fn tree(name: &str) -> Tree {
    let mut tree = Tree::default();
    add(&mut tree, &folder(name), "");
    assert!(!tree.is_empty(), "testdata/audit/{name}");
    tree
}

fn add(tree: &mut Tree, folder: &Path, path: &str) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let entry = entry.expect("an entry");
        let inner = format!("{path}{}", entry.file_name().to_str().expect("UTF-8"));
        if entry.path().is_dir() {
            add(tree, &entry.path(), &format!("{inner}/"));
        } else {
            tree.insert(inner, std::fs::read(entry.path()).expect("a readable file"));
        }
    }
}

pub(crate) fn asked(words: &str) -> Asked {
    let mut asked = Asked::default();
    for word in words.split_whitespace() {
        match word.split_once('=') {
            Some((name, rate)) => drop(asked.own.insert(name.to_owned(), rate.parse().expect("a rate"))),
            None => asked.line = Some(word.parse().expect("a rate")),
        }
    }
    asked
}

/// Its places, with what its user says.
pub(crate) fn places(name: &str, rates: &str) -> Vec<Place> {
    audit(&Facts::of(&tree(name)), &asked(rates), None)
}

//! Hosts in `testdata/audit`, given by their files.
use fathom_audit::{Audit, Facts, KnownRates, Tree, audit};
use std::path::{Path, PathBuf};

/// Hosts, and the rates that the user gives for each.
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

pub(crate) fn known(words: &str) -> KnownRates {
    let mut known = KnownRates::default();
    for word in words.split_whitespace() {
        match word.split_once('=') {
            Some((name, rate)) => {
                known.interfaces.insert(name.to_owned(), rate.parse().expect("a rate"));
            }
            None => known.line = Some(word.parse().expect("a rate")),
        }
    }
    known
}

pub(crate) fn audited(name: &str, rates: &str) -> Audit {
    audit(&Facts::of(&tree(name)), &known(rates), None)
}

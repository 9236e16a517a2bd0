//! Holds the table `crate | may depend on` of ARCHITECTURE.md against `cargo metadata`, and core/ against its rules.
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

type Edges = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn short(name: &str) -> &str {
    name.strip_prefix("fathom-").unwrap_or(name)
}

/// Dependencies of each crate, of one kind: "normal" or "dev".
fn edges(kind: &str) -> Edges {
    let mut edges = Edges::new();
    for package in metadata()["packages"].as_array().unwrap() {
        let to = edges.entry(short(package["name"].as_str().unwrap()).to_owned()).or_default();
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["kind"].as_str().unwrap_or("normal") == kind {
                to.insert(short(dependency["name"].as_str().unwrap()).to_owned());
            }
        }
    }
    edges
}

/// The table's rows: crate, crates and outside crates that it may depend on.
fn allowed() -> Edges {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows =
        text.lines().skip_while(|l| !l.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    let mut allowed = Edges::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let all_above = allowed.keys().cloned().collect::<BTreeSet<String>>();
        let mut to: BTreeSet<String> = cells[1]
            .split(", ")
            .chain(cells[2].split(", "))
            .filter(|n| !n.is_empty())
            .map(str::to_owned)
            .collect();
        if to.remove("all of the above") {
            to.extend(all_above);
        }
        allowed.insert(cells[0].to_owned(), to);
    }
    allowed
}

#[test]
fn every_dependency_is_in_the_table() {
    let (allowed, actual) = (allowed(), edges("normal"));
    let names = |edges: &Edges| edges.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&allowed), names(&actual), "crates of the table against crates of the workspace");
    for (name, to) in &actual {
        let extra: Vec<_> = to.difference(&allowed[name]).collect();
        assert!(
            extra.is_empty(),
            "{name} depends on {extra:?}, which its row in ARCHITECTURE.md does not allow"
        );
    }
}

#[test]
fn core_never_depends_on_shell() {
    let in_folder = |folder: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).filter(|n| !n.contains('.')).collect()
    };
    let (core, shell) = (in_folder("core"), in_folder("shell"));
    assert!(core.contains("units") && shell.contains("os"));
    for kind in ["normal", "dev", "build"] {
        for (name, to) in edges(kind).iter().filter(|(name, _)| core.contains(*name)) {
            assert!(to.is_disjoint(&shell), "core/{name} has a {kind} dependency on shell: {to:?}");
        }
    }
}

#[test]
fn core_is_pure() {
    for entry in std::fs::read_dir(root().join("core")).unwrap() {
        let lib = entry.unwrap().path().join("src/lib.rs");
        let Ok(text) = std::fs::read_to_string(&lib) else { continue };
        for rule in ["#![no_std]", "#![forbid(unsafe_code)]", "#![deny(missing_docs)]"] {
            assert!(text.contains(rule), "{} lacks {rule}", lib.display());
        }
        assert!(!text.contains("extern crate std"), "{} brings std back", lib.display());
    }
}

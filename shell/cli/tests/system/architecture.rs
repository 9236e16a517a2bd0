//! Checks the table `crate | may depend on` of ARCHITECTURE.md against `cargo metadata`, and
//! `core/` against its rules.
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A package of the workspace.
struct Package {
    /// Its name without the prefix `fathom-`.
    name: String,
    /// Its directory, relative to the root.
    directory: PathBuf,
    /// Name and kind ("normal", "dev", "build") of each dependency.
    dependencies: Vec<(String, String)>,
}

fn short(name: &str) -> String {
    name.strip_prefix("fathom-").unwrap_or(name).to_owned()
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value[member].as_str()
}

fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let package = |package: &Value| {
        let manifest = PathBuf::from(text(package, "manifest_path").unwrap());
        let dependency =
            |d: &Value| (text(d, "name").unwrap().to_owned(), text(d, "kind").unwrap_or("normal").to_owned());
        Package {
            name: short(text(package, "name").unwrap()),
            directory: manifest.parent().unwrap().strip_prefix(root()).unwrap().to_owned(),
            dependencies: package["dependencies"].as_array().unwrap().iter().map(dependency).collect(),
        }
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

impl Package {
    /// Short names of the dependencies of one kind.
    fn of_kind(&self, kind: &str) -> BTreeSet<String> {
        self.dependencies.iter().filter(|(_, k)| k == kind).map(|(name, _)| short(name)).collect()
    }
    fn is_in(&self, folder: &str) -> bool {
        self.directory.starts_with(folder)
    }
    /// Text of all Rust files in these directories of the package.
    fn source(&self, folders: &[&str]) -> String {
        let mut all = String::new();
        folders.iter().for_each(|folder| append_rust(&root().join(&self.directory).join(folder), &mut all));
        all
    }
}

fn append_rust(folder: &Path, to: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            append_rust(&path, to);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            append_file(&path, to);
        }
    }
}

/// The text of a file and of the files of other packages that it includes with `#[path]`.
fn append_file(path: &Path, to: &mut String) {
    let text = read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for elsewhere in text.split("#[path = \"").skip(1).filter_map(|rest| rest.split('"').next()) {
        append_file(&path.parent().unwrap().join(elsewhere), to);
    }
    to.push_str(&text);
}

/// The rows of the table: crate, and the workspace crates and outside crates that it may depend on.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let file = read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows =
        file.lines().skip_while(|l| !l.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    let mut allowed = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, own, others, ..] = cells[..] else { panic!("a row with too few cells: {row}") };
        let to = own.split(' ').chain(others.split(' ')).filter(|to| !to.is_empty());
        allowed.insert(name.to_owned(), to.map(str::to_owned).collect());
    }
    allowed
}

#[test]
fn the_table_lists_exactly_the_dependencies_of_each_crate() {
    let mut allowed = allowed();
    for package in packages() {
        let actual = package.of_kind("normal");
        let row = allowed.remove(&package.name);
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {}", package.name));
        let added: Vec<_> = actual.difference(&row).collect();
        let stale: Vec<_> = row.difference(&actual).collect();
        assert!(added.is_empty(), "{}: the row in ARCHITECTURE.md lacks {added:?}", package.name);
        assert!(stale.is_empty(), "{}: the row in ARCHITECTURE.md has stale {stale:?}", package.name);
    }
    assert!(allowed.is_empty(), "rows of ARCHITECTURE.md without a crate: {:?}", allowed.keys());
}

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for package in packages() {
        let library = package.source(&["src", "build.rs"]);
        let tests = library.clone() + &package.source(&["tests", "examples", "benches"]);
        for (name, kind) in &package.dependencies {
            let word = name.replace('-', "_");
            let source = if kind == "normal" { &library } else { &tests };
            let is_used = [format!("{word}::"), format!("use {word};"), format!("use {word} as")]
                .iter()
                .any(|u| source.contains(u));
            if !is_used {
                unused.push(format!("{}: the {kind} dependency {name}", package.name));
            }
        }
    }
    assert!(unused.is_empty(), "not used: {unused:#?}");
}

#[test]
fn core_never_depends_on_shell() {
    let packages = packages();
    let shell: BTreeSet<String> =
        packages.iter().filter(|p| p.is_in("shell")).map(|p| p.name.clone()).collect();
    let core: Vec<&Package> = packages.iter().filter(|p| p.is_in("core")).collect();
    assert!(core.len() > 10 && shell.contains("os"), "{} {shell:?}", core.len());
    for package in core {
        for kind in ["normal", "dev", "build"] {
            let to = package.of_kind(kind);
            assert!(to.is_disjoint(&shell), "{} has a {kind} dependency on shell: {to:?}", package.name);
        }
    }
}

#[test]
fn core_is_pure() {
    for package in packages().iter().filter(|p| p.is_in("core")) {
        let lib = root().join(&package.directory).join("src/lib.rs");
        let text = read_to_string(&lib).unwrap();
        for rule in ["#![no_std]", "#![forbid(unsafe_code)]", "#![deny(missing_docs)]"] {
            assert!(text.contains(rule), "{} lacks {rule}", lib.display());
        }
        assert!(!text.contains("extern crate std"), "{} brings std back", lib.display());
    }
}

/// Maximum number of lines of a crate.
const MAX_LINES: usize = 8_000;

#[test]
fn no_crate_is_too_large() {
    for package in packages() {
        let lines = package.source(&["src"]).lines().count();
        assert!(lines <= MAX_LINES, "{}: {lines} lines in src, at most {MAX_LINES}", package.name);
    }
}

/// Licenses that permit use in a program under this project's license.
const LICENSES: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether one of the alternatives of an SPDX expression consists of known licenses.
fn is_permissive(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], "");
    plain.split(" OR ").any(|choice| choice.split(" AND ").all(|license| LICENSES.contains(&license.trim())))
}

/// The part of `cargo deny` that needs no list of advisories, which no package registry has.
#[test]
fn dependencies_are_from_the_registry_and_have_a_permissive_license() {
    let version = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // What other platforms need may not have been downloaded.
    let args = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host];
    let output = Command::new(env!("CARGO")).args(args).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let outside: Vec<&Value> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| !package["source"].is_null())
        .collect();
    assert!(outside.len() > 100, "{}", outside.len());
    for package in outside {
        let (name, license) = (text(package, "name"), text(package, "license"));
        assert!(license.is_some_and(is_permissive), "{name:?} has the license {license:?}");
        let source = text(package, "source");
        let is_registry = source == Some("registry+https://github.com/rust-lang/crates.io-index");
        assert!(is_registry, "{name:?} is from {source:?}");
    }
    assert!(!is_permissive("GPL-3.0-only") && !is_permissive("MIT AND GPL-3.0-only"));
}

#[test]
fn each_fuzz_target_has_a_corpus() {
    let targets = root().join("fuzz/fuzz_targets").read_dir().unwrap();
    let targets: Vec<PathBuf> = targets.map(|entry| entry.unwrap().path()).collect();
    assert!(targets.len() > 20, "{targets:?}");
    for target in targets {
        let corpus = root().join("fuzz/corpus").join(target.file_stem().unwrap());
        let files = corpus.read_dir().map_or(0, Iterator::count);
        assert!(files >= 3, "{}: {files} files", corpus.display());
    }
}

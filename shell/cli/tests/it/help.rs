//! The help texts, man page and completions are part of the product: a change of them is seen.
use crate::program::{fathom, run};
use std::path::Path;

fn check(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/help").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, got).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{} differs; `make golden` rewrites it", path.display());
}

#[test]
fn help_of_every_command() {
    check("fathom.txt", &run(&["--help"]).out);
    let commands = [
        "demo",
        "test",
        "serve",
        "lab",
        "sim",
        "sim sweep",
        "sim gallery",
        "watch",
        "watch check",
        "watch status",
        "watch alerts",
        "watch test-alert",
        "watch export",
        "trace",
        "audit",
        "size",
        "fix",
        "report",
        "compare",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let shown = fathom(&words).env("COLUMNS", "100").output().unwrap();
        check(&format!("{}.txt", command.replace(' ', "-")), &String::from_utf8(shown.stdout).unwrap());
    }
}

#[test]
fn alone_it_says_what_it_is() {
    let ran = run(&[]);
    assert_eq!(ran.code, Some(2));
    for words in ["bufferbloat", "fathom demo", "fathom test", "Exit codes"] {
        assert!(ran.err.contains(words), "{words} missing: {}", ran.told());
    }
}

#[test]
fn man_page_and_completions_come_from_the_flags() {
    let page = run(&["man"]).out;
    for words in [".TH fathom", "fathom\\-test", "congestion\\-control", "fathom\\-lab"] {
        assert!(page.contains(words), "{words} missing in the man page");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).out.contains("congestion-control"), "{shell}");
    }
}

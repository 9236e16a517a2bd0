//! The help texts, man page and completions are part of the product: a change of them is seen.
use crate::program::{check_golden, fathom, run};
use std::collections::BTreeMap;
use std::path::Path;

fn check(name: &str, got: &str) {
    check_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/help").join(name), got);
}

/// All commands, as clap's tree has them: the completions of bash say `PARENT,NAME)` and, in the next line, `cmd="CHILD"`.
fn commands() -> Vec<String> {
    let script = run(&["completions", "bash"]).out;
    let mut paths = BTreeMap::from([("fathom", String::new())]);
    let lines: Vec<&str> = script.lines().map(str::trim).collect();
    for pair in lines.windows(2) {
        let edge = pair[0].strip_suffix(')').and_then(|edge| edge.split_once(','));
        let child = pair[1].strip_prefix("cmd=\"").and_then(|child| child.strip_suffix('"'));
        let (Some((parent, name)), Some(child)) = (edge, child) else { continue };
        if let Some(path) = paths.get(parent).filter(|_| name != "help") {
            let path = format!("{path} {name}").trim().to_owned();
            paths.insert(child, path);
        }
    }
    paths.into_values().filter(|path| !path.is_empty()).collect()
}

#[test]
fn help_of_every_command() {
    check("fathom.txt", &run(&["--help"]).out);
    let commands = commands();
    assert!(commands.iter().any(|name| name == "watch import smokeping"), "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let shown = fathom(&words).env("COLUMNS", "100").output().unwrap();
        check(&format!("{}.txt", command.replace(' ', "-")), &String::from_utf8(shown.stdout).unwrap());
    }
}

#[test]
fn without_arguments_it_prints_a_summary() {
    let ran = run(&[]);
    assert_eq!((ran.code, ran.err), (Some(2), run(&["-h"]).out));
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

//! Tests of the help texts, manual pages and completions. Golden files show every change.
use crate::program::{Words, check_golden, fathom, run, scratch};
use std::collections::BTreeMap;
use std::path::Path;

fn check(name: &str, got: &str) {
    check_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/help").join(name), got);
}

/// All commands. The completions of bash list them: `PARENT,NAME)` and, in the next line,
/// `cmd="CHILD"`.
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

/// The output of the program on a terminal of 80 columns.
fn at_80(args: &[&str]) -> String {
    let shown = fathom(args).env("COLUMNS", "80").output().unwrap();
    String::from_utf8(shown.stdout).unwrap()
}

/// Both forms of the help of a command, as in its golden file.
fn both(words: &[&str]) -> String {
    let form = |flag| format!("$ fathom {} {flag}\n{}", words.join(" "), at_80(&[words, &[flag]].concat()));
    let text = format!("{}\n{}", form("-h"), form("--help")).replace("fathom  ", "fathom ");
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn help_of_every_command() {
    check("fathom.txt", &both(&[]));
    let commands = commands();
    assert!(commands.iter().any(|name| name == "watch import smokeping"), "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        check(&format!("{}.txt", command.replace(' ', "-")), &both(&words));
        // `fathom help` is the same as `--help`.
        let help = at_80(&[&["help"], &words[..]].concat());
        assert_eq!(help.trim(), at_80(&[&words[..], &["--help"]].concat()).trim(), "{command}");
    }
}

#[test]
fn without_arguments_it_prints_a_summary() {
    let ran = run(&[]);
    assert_eq!((ran.code, &*ran.out), (Some(2), ""));
    check("none.txt", &ran.err);
}

/// The document has the same list as the help, which is made from the exit classes.
#[test]
fn exit_codes_are_documented() {
    let list = run(&["help", "exit-codes"]).out;
    let document = format!(
        "# Exit codes\n\nEvery command of `fathom` ends with one of these. `fathom help exit-codes` and fathom(1)\nshow the same list.\n\n```\n{list}```\n"
    );
    check_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/exit-codes.md"), &document);
    assert!(at_80(&["--help"]).contains(list.lines().nth(2).unwrap()));
    assert!(run(&["man"]).out.contains("Completed, and no problem found"));
}

/// Each command has a page, and groff reports no warnings.
#[test]
fn a_manual_page_of_every_command() {
    let folder = scratch().join("man");
    let ran = run(&["man", "--all", &folder.display().to_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    for command in commands() {
        let file = folder.join(format!("fathom-{}.1", command.replace(' ', "-")));
        let page = std::fs::read_to_string(&file).unwrap();
        let words: Vec<&str> = ["man"].into_iter().chain(command.split(' ')).collect();
        assert_eq!(page, run(&words).out, "{command}");
        for heading in ["NAME", "SYNOPSIS", "EXAMPLES", "OPTIONS", "EXIT STATUS"] {
            assert!(page.contains(&format!(".SH {heading}\n")), "{command}: {heading}");
        }
        let groff =
            std::process::Command::new("groff").args(["-man", "-ww", "-z", "-Tutf8"]).arg(&file).output();
        // A machine without groff cannot check.
        let warnings = groff.map_or_else(|_| Vec::new(), |groff| groff.stderr);
        assert!(warnings.is_empty(), "{command}: {}", String::from_utf8_lossy(&warnings));
    }
    check("man-page.txt", &run(&["man", "watch", "status"]).out);
}

#[test]
fn a_typo_gets_the_nearest_name() {
    let mut words = Words::of("typos", &scratch());
    for args in [
        &["tst", "192.0.2.1"][..],
        &["watch", "stat"],
        &["help", "tset"],
        &["man", "watch", "alert"],
        &["test", "--flow", "4"],
        &["fix", "--congestion", "x"],
        // Old and internal flags are never suggested.
        &["fix", "eth0", "--rng", "cake"],
        &["fix", "eth0", "--gard"],
        &["fix", "eth0", "--roots", "/"],
        &["sim", "dls"],
        &["sim", "dsl", "--queue", "fqcodel"],
        &["lab", "--line", "cabel", "--", "true"],
        &["sim", "dsl", "--set", "hop.modm.up.rate=1mbit"],
        &["sim", "gallery", "seifried"],
        &["trace", "x.pcap", "--export", "tstatt=x"],
        &["test", "192.0.2.1", "-o", "x.htm"],
    ] {
        words.run(args, 2);
    }
}

#[test]
fn completions_come_from_the_flags() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).out.contains("congestion-control"), "{shell}");
    }
}

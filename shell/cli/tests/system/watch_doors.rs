//! Tests of the outputs of a watch: push and export.
use crate::program::{Words, run, scratch};
use crate::watch::{Watch, file};
use std::fs::File;
use std::process::{Command, Stdio};

const TARGET: &str = "[[target]]\nname = 'here'\nhost = '127.0.0.1'\ninterval = '100ms'\n";

#[test]
fn errors_of_a_push_are_found_before_the_start() {
    let push = "[[push]]\nkind = 'remote_write'\nurl = 'http://127.0.0.1:1/w'\n";
    let cases = [
        ("good", "", 0),
        ("interval", "interval = '5m'\n", 2),
        ("token", "token_file = '/no/such/token'\n", 2),
        ("authority", "ca_file = '/dev/null'\n", 2),
    ];
    let mut words = Words::of("watch-push", &scratch());
    for (name, line, code) in cases {
        let name = format!("push-{name}.toml");
        file(&name, &format!("{TARGET}{push}{line}"));
        words.run(&["watch", "check", &name], code);
    }
}

#[test]
fn a_push_runs_with_the_watch_and_the_history_is_exported() {
    let store = scratch().join("doors-store");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("push-far.json.gz"), "no gzip").unwrap();
    let push = "[[push]]\nname = 'far'\nkind = 'otlp'\nurl = 'http://127.0.0.1:1/v1/metrics'\n";
    let path = file("doors.toml", &format!("{TARGET}{push}"));
    let dir = store.to_str().unwrap();
    let watch = Watch::start(&["watch", &path, "--store", dir, "--listen", "127.0.0.1:0"]);
    let page = watch.wait_for_line("page: http://");
    watch.wait_for_line("push far: cannot read the cursor");
    crate::watch::wait_until_sent(&page, &[("here", 20)]);
    assert_eq!(watch.end(), Some(0));
    assert!(store.join("push-far.json.gz.damaged-1").exists());
    let status = run(&["watch", "status", "--store", dir]);
    let far = status
        .out
        .lines()
        .find(|line| line.starts_with("  far: "))
        .unwrap_or_else(|| panic!("{}", status.describe()));
    assert!(far.starts_with("  far: sent until 20") && far.ends_with("s behind"), "{far}");

    let csv = run(&["watch", "export", "--store", dir, "--target", "here"]);
    let (head, rows) = csv.out.split_once("\r\n").unwrap();
    assert_eq!(head, "target,probe,at_ms,outcome,rtt_s,level_bits_per_second,level_bytes");
    assert!(rows.lines().count() >= 20 && rows.starts_with("here,icmp,"), "{}", csv.describe());
    let parquet = store.join("x.parquet");
    let output = parquet.to_str().unwrap();
    let whole = run(&["watch", "export", "--store", dir, "--every", "1s", "-o", output]);
    assert_eq!(whole.code, Some(0), "{}", whole.describe());
    assert!(std::fs::read(&parquet).unwrap().starts_with(b"PAR1"), "{}", whole.describe());
    let mut words = Words::of("watch-export", &scratch());
    for (args, code) in [(["--target", "nobody"], 2), (["-o", "/no/such/dir/x.csv"], 3)] {
        words.run(&["watch", "export", "--store", "doors-store", args[0], args[1]], code);
    }
    assert_eq!(run(&["watch", "export", "--store", dir, "--to", "2001-01-01"]).code, Some(2));
    let full = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["watch", "export", "--store", dir])
        .stdout(File::options().write(true).open("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    words.add("fathom watch export > /dev/full", &full.into(), 3);
}

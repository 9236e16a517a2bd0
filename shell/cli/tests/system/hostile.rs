//! Tests with unusual terminals, locales, pipes and arguments: no panic, no escape sequence from an
//! argument, and the right exit code.
use crate::program::{Ran, Serve, ended, fathom, run, scratch, until};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Runs a script of bash. FATHOM in it is the program.
fn shell(script: &str) -> Ran {
    let script = script.replace("FATHOM", env!("CARGO_BIN_EXE_fathom"));
    let mut command = Command::new("bash");
    command.args(["-c", &script]).stdin(Stdio::null()).current_dir(scratch());
    command.output().unwrap().into()
}

#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    for (args, code) in [
        ("sim dsl", 1),
        ("sim dsl --json", 1),
        ("lab --list", 0),
        ("size", 0),
        ("man", 0),
        ("--help", 0),
        ("help test", 0),
        ("help exit-codes", 0),
        ("completions bash", 0),
    ] {
        let ran = shell(&format!("FATHOM -q {args} | true; exit ${{PIPESTATUS[0]}}"));
        assert_eq!((ran.code, &*ran.err), (Some(code), ""), "{args}: {}", ran.describe());
    }
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    for args in [
        "sim dsl",
        "sim dsl --json",
        "lab --list",
        "size 256p 10mbit",
        "man",
        "--help",
        "--version",
        "help test",
    ] {
        let ran = shell(&format!("FATHOM -q {args} > /dev/full"));
        assert_eq!(ran.code, Some(3), "{args}: {}", ran.describe());
        assert!(ran.err.contains("cannot write to stdout: No space left on device\n"), "{args}: {}", ran.err);
    }
    // A full stderr cannot be reported, and closed streams are not an error.
    for redirect in ["2> /dev/full", "2>&-", "<&-", ">&-"] {
        let ran = shell(&format!("FATHOM sim dsl {redirect}"));
        assert_eq!(ran.code, Some(1), "{redirect}: {}", ran.describe());
    }
}

#[test]
fn numbers_do_not_depend_on_the_locale() {
    let shown = |locale: &str| {
        let ran: Ran = fathom(&["sim", "dsl", "-v"]).env("LC_ALL", locale).output().unwrap().into();
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        ran.out
    };
    let (english, german, plain) = (shown("en_US.UTF-8"), shown("de_DE.UTF-8"), shown("C"));
    assert_eq!(english, german);
    assert!(plain.is_ascii(), "{plain}");
}

/// The program on a terminal, with `environment` as in `LC_ALL=C TERM=dumb`.
fn on_a_terminal(columns: u16, environment: &str, args: &str) -> String {
    let program = env!("CARGO_BIN_EXE_fathom");
    let script = format!("stty cols {columns} rows 24; env {environment} {program} {args}");
    let mut command = Command::new("script");
    let shown = command.args(["-qec", &script, "/dev/null"]).current_dir(scratch()).output().unwrap();
    String::from_utf8_lossy(&shown.stdout).replace('\r', "")
}

#[test]
fn forty_columns_are_enough() {
    for args in
        ["sim dsl", "sim dsl -v", "sim dsl -q", "size 256p 10mbit", "audit", "-h", "test -h", "fix --help"]
    {
        let shown = on_a_terminal(40, "NO_COLOR=1", args);
        // Commands to copy and lines of stderr stay whole.
        let is_whole = |line: &&str| {
            ["fathom sim: ", "warning: ", "    fix ", "    undo "].iter().any(|start| line.starts_with(start))
        };
        for line in shown.lines().filter(|line| !is_whole(line)) {
            assert!(line.chars().count() <= 40, "{args}: {} columns: {line}", line.chars().count());
        }
    }
}

#[test]
fn color_only_where_it_is_wanted() {
    for (environment, has_color) in
        [("TERM=xterm", true), ("NO_COLOR=1 TERM=xterm", false), ("TERM=dumb", false)]
    {
        // With CI set, clap colors its help on every terminal.
        let environment = format!("-u CI -u NO_COLOR {environment}");
        for args in ["sim dsl", "test -h", "test --nonsense"] {
            let shown = on_a_terminal(80, &environment, args);
            assert_eq!(shown.contains('\u{1b}'), has_color, "{environment} {args}: {shown:?}");
        }
    }
    assert!(!on_a_terminal(80, "TERM=xterm", "sim dsl --color never").contains('\u{1b}'));
}

#[test]
fn arguments_cannot_write_to_the_terminal() {
    let evil = "\u{1b}[31mred\u{202e}\u{7}";
    let set = format!("{evil}=1");
    let flag = format!("--{evil}");
    for args in [
        &[evil][..],
        &["sim", evil],
        &["sim", "dsl", "--set", &set],
        &["sim", "dsl", "--queue", evil],
        &["sim", "gallery", evil],
        &["sim", "sweep", "dsl", "--measure", evil],
        &["trace", evil],
        &["trace", "x", "--export", evil],
        &["report", evil],
        &["size", evil],
        &["test", evil],
        &["test", "x", &flag],
        &["test", "x", "--phases", evil],
        &["fix", evil, "--up", "5mbit"],
        &["audit", "--rate", &set],
        &["audit", "--root", evil],
        &["watch", evil],
        &["watch", "status", "--store", evil],
        &["help", evil],
        &["lab", "--", evil],
    ] {
        let ran = run(args);
        assert!(matches!(ran.code, Some(2 | 3)), "{args:?}: {}", ran.describe());
        let is_safe = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!((ran.out + &ran.err).chars().all(is_safe), "{args:?}: {:?}", ran.err);
    }
}

#[test]
fn long_and_empty_names_get_one_short_sentence() {
    let long = "a".repeat(5000);
    for args in [
        &["sim", &long][..],
        &["trace", &long],
        &["report", &long],
        &["fix", &long, "--up", "5mbit"],
        &[&long],
    ] {
        let ran = run(args);
        assert!(matches!(ran.code, Some(2 | 3)), "{}", ran.describe());
        assert!(ran.err.len() < 1500, "{} bytes: {}", ran.err.len(), ran.err);
    }
    for args in [
        &["test", ""][..],
        &["sim", ""],
        &["trace", ""],
        &["watch", "--target", ""],
        &["audit", "--host", ""],
        &["fix", "--server", ""],
        &["fix", "", "--up", "5mbit"],
        &["size", ""],
        &["man", ""],
        &[""],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.describe());
        assert!(!ran.err.is_empty(), "{args:?}");
    }
}

#[test]
fn arguments_need_not_be_utf8() {
    let bytes = OsStr::from_bytes(b"\xff\xfe");
    for command in ["sim", "trace", "report", "watch", "size", "help"] {
        let ran: Ran = fathom(&[command]).arg(bytes).output().unwrap().into();
        assert!(
            matches!(ran.code, Some(2 | 3)) && !ran.err.contains("panicked"),
            "{command}: {}",
            ran.describe()
        );
    }
    // A program behind a line gets its arguments unchanged.
    let mut command = fathom(&["lab", "--", "sh", "-c", "printf %s \"$1\" | od -An -tx1", "sh"]);
    let ran: Ran = command.arg(bytes).output().unwrap().into();
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "ff fe"), "{}", ran.describe());
}

#[test]
fn a_home_is_not_needed() {
    let bare =
        |args: &[&str]| -> Ran { fathom(args).env_clear().current_dir(scratch()).output().unwrap().into() };
    assert_eq!(bare(&["sim", "dsl"]).code, Some(1));
    let history = bare(&["watch", "status"]);
    assert!(history.code == Some(3) && history.err.contains("--store DIR"), "{}", history.describe());
}

/// The verdict is printed, and one warning reports that the result is not saved.
#[test]
fn a_test_in_a_directory_that_cannot_be_written() {
    let serve = Serve::start(&[]);
    let mut command = fathom(&["test", &serve.target(), "--phases", "idle", "-q"]);
    let ran: Ran = command.current_dir("/proc").env("TMPDIR", "/proc").output().unwrap().into();
    assert!(ran.code != Some(3) && !ran.out.is_empty(), "{}", ran.describe());
    assert_eq!(ran.err.matches("warning: the result is not saved").count(), 1, "{}", ran.describe());
}

/// Starts a command, waits for `words` on its stderr, and sends SIGINT.
/// Commands with the beginning of what they say, where nothing can be written, and the kernel shows
/// nothing of itself.
const BARE: [(&[&str], i32, &str); 10] = [
    (&["--version"], 0, "fathom "),
    (&["size", "256p", "10mbit"], 0, "310 ms"),
    (&["report", "testdata/results/v0.2.0-test.json.gz", "-q"], 1, "BAD   Your upload makes everything wait"),
    (&["trace", "testdata/trace/kernel/one.pcap.gz", "-q"], 0, "GOOD  "),
    (&["sim", "seifried-2011", "-q"], 1, "BAD   "),
    (&["ping", "-c", "2", "-i", "0.1", "127.0.0.1"], 0, "PING 127.0.0.1"),
    (&["doctor", "-q"], 0, ""),
    (&["fix", "--status"], 0, "nothing is shaped"),
    (&["audit"], 3, "fathom audit: /: no network interfaces below sys/class/net"),
    (&["watch", "--target", "127.0.0.1"], 3, "fathom watch: cannot use "),
];

#[test]
fn a_read_only_system_without_proc_and_sys() {
    let hide = "ip link set lo up && mount -o bind / /mnt && mount -t tmpfs -o ro none /mnt/proc && \
        mount -t tmpfs -o ro none /mnt/sys && mount -o remount,ro,bind /mnt && exec chroot /mnt \"$@\"";
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for (args, code, begin) in BARE {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "sh", "-c", hide, "sh", "env", "-C", root]);
        let ran: Ran = command.arg(env!("CARGO_BIN_EXE_fathom")).args(args).output().unwrap().into();
        let said = if ran.out.is_empty() { &ran.err } else { &ran.out };
        assert!(ran.code == Some(code) && said.starts_with(begin), "{args:?}: {}", ran.describe());
    }
}

fn interrupted(args: &[&str], words: &str) -> Ran {
    use std::io::Read;
    let mut child = fathom(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut err = child.stderr.take().unwrap();
    let mut seen = String::new();
    let mut byte = [0; 1];
    while !seen.contains(words) && err.read(&mut byte).unwrap() == 1 {
        seen.push(char::from(byte[0]));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let rest = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).map(|_| text)
    });
    let mut ran: Ran = child.wait_with_output().unwrap().into();
    ran.err = seen + &rest.join().unwrap().unwrap();
    ran
}

#[test]
fn ctrl_c_in_each_phase_of_a_test_keeps_what_was_measured() {
    let serve = Serve::start(&[]);
    // The lines of progress before the phases idle, down, up, both and drain.
    for (number, before) in ["transfers at most", "idle ", "down ", "up ", "both "].into_iter().enumerate() {
        let file = scratch().join(format!("interrupted-{number}.json")).display().to_string();
        let target = serve.target();
        let args = ["test", &target, "-v", "--max-phase", "1s", "-o", &file];
        let ran = interrupted(&args, &format!("\n{before}"));
        // 4 on a machine that was too busy to measure.
        assert!(matches!(ran.code, Some(3 | 4)), "{before}: {}", ran.describe());
        assert!(ran.err.contains("partial result: stopped by the user"), "{before}: {}", ran.describe());
        let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(saved["partial"]["kind"], "stopped", "{before}");
    }
}

/// Sends SIGINT to a command that has used half a second of CPU time: by then its signal handler is
/// installed, and it is at work.
fn interrupt_at_work(child: &Child) {
    let pid = child.id().to_string();
    let stat = format!("/proc/{pid}/stat");
    until("a command at work", Duration::from_secs(30), || {
        let line = std::fs::read_to_string(&stat).ok()?;
        let ticks = line.rsplit(") ").next()?.split(' ').nth(11)?.parse::<u64>().ok()?;
        (ticks > 50).then_some(())
    });
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

/// Interrupts a simulation that would take hours.
#[test]
fn ctrl_c_ends_a_simulation_with_what_it_has() {
    let scenario = scratch().join("long.toml");
    let text = "name = \"long\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"a\"\n\
                up = { rate = \"10gbit\", delay = \"1ms\", queue = \"fifo limit 1000p\" }\n\
                down = { rate = \"10gbit\", delay = \"1ms\" }\n[load]\nup_flows = 8\nduration = \"3600s\"\n";
    std::fs::write(&scenario, text).unwrap();
    let child = fathom(&["sim", "long.toml", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    interrupt_at_work(&child);
    let ran = ended(child, Duration::from_secs(30));
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("fathom sim: partial result: stopped by the user"), "{}", ran.err);
    assert_eq!(ran.document()["partial"]["kind"], "stopped");
}

/// Interrupts the simulation of a line that was fitted to a load of an hour.
#[test]
fn ctrl_c_ends_a_trial_of_another_queue_with_what_it_has() {
    let file = scratch().join("hour.json");
    let path = file.to_str().unwrap();
    let made = run(&["sim", "auerswald-switch", "-q", "-o", path]);
    assert_eq!(made.code, Some(1), "{}", made.describe());
    let mut result: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let mut later_ns = 0;
    for phase in result["phases"].as_array_mut().unwrap() {
        phase["start_ns"] = (phase["start_ns"].as_u64().unwrap() + later_ns).into();
        if phase["kind"] == "up" {
            later_ns = 3_500_000_000_000;
        }
        phase["end_ns"] = (phase["end_ns"].as_u64().unwrap() + later_ns).into();
    }
    std::fs::write(&file, serde_json::to_vec(&result).unwrap()).unwrap();
    let child = fathom(&["sim", "--from", path, "--with", "fq_codel"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    interrupt_at_work(&child);
    let ran = ended(child, Duration::from_secs(30));
    assert_eq!(ran.code, Some(3), "{}", ran.describe());
    assert!(ran.err.contains("fathom sim: partial result: stopped by the user"), "{}", ran.describe());
    assert!(ran.out.contains("measured") && ran.out.contains("fitted"), "{}", ran.describe());
}

/// Interrupts the reading of an endless capture.
#[test]
fn ctrl_c_ends_the_reading_of_a_capture() {
    let pipe = scratch().join("endless.pcap");
    let script = format!(
        "mkfifo {0}; (cat {1}; while :; do tail -c +25 {1}; done) > {0}",
        pipe.display(),
        scratch().join("part.pcap").display()
    );
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trace/lab/up-sender.pcap.gz");
    let unpack = Command::new("sh")
        .args(["-c", &format!("gzip -dc {lab} > part.pcap")])
        .current_dir(scratch())
        .status();
    assert!(unpack.unwrap().success());
    let mut feeder =
        Command::new("timeout").args(["60", "sh", "-c", &script]).stderr(Stdio::null()).spawn().unwrap();
    until("the pipe", Duration::from_secs(10), || pipe.exists().then_some(()));
    let child = fathom(&["trace", "endless.pcap", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    interrupt_at_work(&child);
    let ran = ended(child, Duration::from_secs(30));
    let _ = Command::new("kill").arg(feeder.id().to_string()).status();
    let _ = feeder.wait();
    assert_eq!(ran.code, Some(3), "{}", ran.describe());
    assert!(ran.err.contains("fathom trace: partial result: stopped by the user"), "{}", ran.describe());
    assert!(!ran.out.is_empty());
}

/// Files without end, and small files that unpack to huge ones, each with 700 MB of address space.
#[test]
fn huge_files_are_refused_in_little_memory() {
    let head = r#"{"schema_version":2,"tool_version":"1","command":"test","started":"2026-11-01T00:00:00Z","title":"t","host":{"kernel":"k","cpus":1},"phases":[],"instrument":{"timer_lateness":{"bins":{},"max_ns":0},"send_lateness":{"bins":{},"max_ns":0}}"#;
    std::fs::write(scratch().join("head"), head).unwrap();
    let bomb = |name: &str, before: &str, part: &str, after: &str| {
        format!(
            "(cat head; printf '{before}'; yes '{part}' | tr -d '\\n' | head -c 90000000; printf '{after}') \
             | gzip -1 > {name}.json.gz; "
        )
    };
    let bombs = bomb("notes", r#","notes":["#, "{},", "{}]}")
        + &bomb("note", r#","notes":[["#, "[],", "[]]]}")
        + &bomb("capture", r#","capture":{"queues":[{"delay":["#, "0,", "0]}]}}")
        + &bomb("unknown", r#","series":[{"x":["#, "[],", "[]]}]}")
        + &bomb("facts", r#","facts":{"x":"","x":{"x":["#, "0,", "0]}}}")
        + &bomb("truncated", r#","facts":["#, "[", "");
    assert_eq!(shell(&bombs).code, Some(0));
    for (command, reason) in [
        ("report /dev/zero", "limit for run files"),
        ("report notes.json.gz", "exceeds the limit of 10000"),
        ("compare note.json.gz note.json.gz", "exceeds the limit of 65536"),
        ("report capture.json.gz", "exceeds the limit of 16000000"),
        ("report facts.json.gz", "exceeds the limit of 65536"),
        ("report unknown.json.gz", "is not a run file"),
        ("sim --from truncated.json.gz --with codel", "is truncated"),
        ("watch check /dev/zero", "limit"),
        ("watch status /dev/zero", "limit"),
        ("watch import smokeping /dev/zero", "limit"),
        ("sim /dev/zero", "limit"),
        ("trace /dev/zero", "not a capture file"),
    ] {
        let ran = shell(&format!("ulimit -v 700000; timeout 60 FATHOM {command}"));
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.describe());
        assert!(ran.err.contains(reason), "{command}: {}", ran.describe());
    }
}

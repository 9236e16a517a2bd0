//! Commands inside a lab; nothing remains when it ends.
use crate::{one_link, options, soon, start};
use fathom_lab::{LabError, Side};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::panic::AssertUnwindSafe;
use std::process::{Command, Stdio};

const LINK: &str = "rate = \"10mbit\", delay = \"1ms\", queue = \"fifo limit 64kb\"";

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null());
    command
}

/// The network namespace of this thread, as `/proc` names it.
fn namespace() -> String {
    fs::read_link("/proc/thread-self/ns/net").unwrap().to_string_lossy().into_owned()
}

/// PIDs of all processes for whose `/proc` directory `matches` returns true.
fn processes(matches: impl Fn(&std::path::Path) -> bool) -> Vec<u32> {
    let folders = fs::read_dir("/proc").unwrap().flatten();
    folders.filter(|f| matches(&f.path())).filter_map(|f| f.file_name().to_str()?.parse().ok()).collect()
}

fn with_argument(argument: &str) -> Vec<u32> {
    let has = |line: Vec<u8>| line.split(|b| *b == 0).any(|word| word == argument.as_bytes());
    processes(|folder| fs::read(folder.join("cmdline")).is_ok_and(has))
}

fn in_namespace(name: &str) -> Vec<u32> {
    let is = |path: std::path::PathBuf| path.to_string_lossy() == name;
    processes(|folder| fs::read_link(folder.join("ns/net")).is_ok_and(is))
}

#[test]
fn a_closure_runs_in_its_namespace_and_this_thread_stays_outside() {
    let lab = one_link(LINK);
    let (outside, client, server) =
        (namespace(), lab.in_client(namespace).unwrap(), lab.in_server(namespace).unwrap());
    assert!(outside != client && outside != server && client != server);
    assert_eq!(outside, namespace());
    let inherited = lab.in_client(|| std::thread::spawn(namespace).join().unwrap()).unwrap();
    assert_eq!(inherited, client);
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| lab.in_client(|| panic!("as a test fails"))));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"as a test fails"));
}

#[test]
fn the_exit_status_of_a_command_is_passed_on() {
    let lab = one_link(LINK);
    let run = |script| lab.spawn_command(Side::Client, shell(script)).unwrap().wait().unwrap().code();
    assert_eq!(run("exit 0"), Some(0));
    assert_eq!(run("exit 7"), Some(7));
    // As a shell reports a command killed by a signal.
    assert_eq!(run("kill -TERM $$"), Some(128 + 15));
    // Orphans do not delay the command's end.
    assert_eq!(run("sleep 1000 & exit 3"), Some(3));
    let missing = lab.spawn_command(Side::Client, Command::new("/no/such/program")).unwrap_err();
    let is_missing =
        |e: &LabError| matches!(e, LabError::System { source, .. } if source.kind() == ErrorKind::NotFound);
    assert!(is_missing(&missing), "{missing:?}");
}

#[test]
fn a_command_has_a_pid_namespace_of_its_own() {
    let lab = one_link(LINK);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command =
        shell("echo $$; ls -d /proc/[0-9]* | wc -l; ls /sys/class/net >/dev/null; cat /proc/net/dev");
    command.stdout(writer);
    let child = lab.spawn_command(Side::Server, command).unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2", "{text}");
    assert!(lines[1].parse::<u32>().unwrap() <= 5, "{text}");
    assert!(text.contains("line0:") && !text.contains("eth0:"), "{text}");
}

#[test]
fn dropping_a_command_ends_all_that_it_started() {
    let lab = one_link(LINK);
    let mark = format!("1000.{}1", std::process::id());
    let child = lab
        .spawn_command(Side::Client, shell(&format!("sleep {mark} & setsid sleep {mark} & wait")))
        .unwrap();
    assert!(soon(|| with_argument(&mark).len() == 2), "{:?}", with_argument(&mark));
    drop(child);
    assert!(soon(|| with_argument(&mark).is_empty()), "{:?} left", with_argument(&mark));
}

#[test]
fn after_kill_9_nothing_is_left() {
    // The killed process is this test again, run separately and holding a lab.
    const INNER: &str = "FATHOM_TEST_HOLD_A_LAB";
    if let Ok(mark) = std::env::var(INNER) {
        return hold_a_lab(&mark);
    }
    let _turn = crate::turn();
    let mark = format!("1000.{}2", std::process::id());
    let mut holder = Command::new(std::env::current_exe().unwrap());
    holder.args(["--exact", "lifetime::after_kill_9_nothing_is_left", "--nocapture"]).env(INNER, &mark);
    let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let names: Vec<String> = lines.map_while(Result::ok).filter(|l| l.starts_with("net:")).take(2).collect();
    assert_eq!(names.len(), 2, "the holder says its two namespaces");
    assert!(soon(|| with_argument(&mark).len() == 2));
    assert!(!in_namespace(&names[0]).is_empty());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(soon(|| with_argument(&mark).is_empty()), "{:?} left", with_argument(&mark));
    for name in names {
        assert!(soon(|| in_namespace(&name).is_empty()), "{:?} left in {name}", in_namespace(&name));
    }
    assert!(!fs::read_to_string("/proc/net/dev").unwrap().contains("line0:"));
}

/// Keeps a lab with two commands open until it is killed.
#[expect(clippy::print_stdout, reason = "how the process reports its namespaces to the test")]
fn hold_a_lab(mark: &str) {
    let lab = start(&format!("[[hop]]\nname = \"a\"\nup = {{ {LINK} }}\ndown = {{ {LINK} }}\n"), &options());
    let script = format!("sleep {mark} & setsid sleep {mark} & wait");
    let command = || {
        let mut command = shell(&script);
        // The pipe to the test must close when this process ends.
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command
    };
    let child = lab.spawn_command(Side::Client, command()).unwrap();
    println!("\n{}\n{}", lab.in_client(namespace).unwrap(), lab.in_server(namespace).unwrap());
    child.wait().unwrap();
}

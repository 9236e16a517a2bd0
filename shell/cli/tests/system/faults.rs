//! Tests of bad input and faults. Each gets one clear line: the object, the value, the limit and
//! what to try.
use crate::program::{Ran, Serve, Words, alone, fathom, run, scratch};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;

fn scenario(name: &str, text: &str) {
    std::fs::write(scratch().join(name), text).unwrap();
}

#[test]
fn bad_arguments() {
    let cases: &[(&[&str], i32)] = &[
        (&["test", "127.0.0.1", "--flows", "0"], 2),
        (&["test", "127.0.0.1", "--sample-every", "50"], 2),
        (&["test", "127.0.0.1", "--sample-every", "1ms"], 2),
        (&["test", "127.0.0.1", "--phases", "sideways"], 2),
        (&["test", "127.0.0.1", "-o", "x.doc"], 2),
        (&["test", "127.0.0.1", "-o", "/no/such/place/x.html"], 2),
        (&["test", "127.0.0.1", "-4", "-6"], 2),
        (&["lab", "--line", "dls", "--", "true"], 2),
        (&["lab", "--line", "/no/such.toml", "--", "true"], 2),
        (&["lab", "--queue", "fifo limit 64", "--", "true"], 2),
        (&["demo", "--queue", "fastest"], 2),
        (&["report", "/no/such.json"], 2),
        (&["report", "/dev/null"], 2),
        (&["compare", "one.json"], 2),
        (&["serve", "--port", "70000"], 2),
        (&["serve", "--max-clients", "0"], 2),
        (&["serve", "--listen", "203.0.113.1", "--port", "0"], 3),
        (&["sim"], 2),
    ];
    let mut words = Words::of("arguments", &scratch());
    for (args, code) in cases {
        words.run(args, *code);
    }
}

#[test]
fn bad_scenarios() {
    let good = "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"a\"\n";
    let down = "down = { rate = \"1Mbit\", delay = \"1ms\", queue = \"fifo limit 10p\" }\n";
    let cases = [
        (
            "unit.toml",
            format!("{good}{down}up = {{ rate = \"3\", delay = \"1ms\", queue = \"fifo limit 10p\" }}\n"),
        ),
        ("key.toml", format!("{good}{down}upp = {{ rate = \"3Mbit\" }}\n")),
        (
            "queue.toml",
            format!("{good}{down}up = {{ rate = \"3Mbit\", delay = \"1ms\", queue = \"magic\" }}\n"),
        ),
        ("empty.toml", String::new()),
        ("bytes.toml", "\u{0}\u{1}".to_owned()),
    ];
    let mut words = Words::of("scenarios", &scratch());
    for (name, text) in cases {
        scenario(name, &text);
        words.run(&["lab", "--line", name, "--", "true"], 2);
    }
}

#[test]
fn server_absent() {
    let free = fathom_test_support::unused_port();
    let mut words = Words::of("server-absent", &scratch());
    let refused = run(&["test", &format!("127.0.0.1:{free}")]);
    words.add("fathom test 127.0.0.1:PORT", &without_number(refused, free), 3);
    let unknown = run(&["test", "no-such-host.invalid"]);
    assert_eq!(unknown.code, Some(3), "{}", unknown.describe());
}

/// Replaces this port number by `PORT`.
fn without_number(ran: Ran, port: u16) -> Ran {
    let err = ran.err.replace(&format!("port {port}"), "port PORT");
    Ran { err, ..ran }
}

#[test]
fn server_is_something_else() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
        let _ = stream.read(&mut [0; 256]);
    });
    let ran = run(&["test", &format!("127.0.0.1:{port}")]);
    Words::of("server-other", &scratch()).add("fathom test 127.0.0.1:PORT", &ran, 3);
    other.join().unwrap();
}

#[test]
fn a_server_requires_a_token() {
    let folder = scratch();
    let file = |name: &str, token: &str| {
        let path = folder.join(name);
        std::fs::write(&path, token).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (file("right", "right\n"), file("wrong", "wrong\n"));
    let server = Serve::start(&["--token-file", &right]);
    let mut words = Words::of("server-token", &folder);
    words.run(&["test", &server.target()], 3);
    words.run(&["test", &server.target(), "--token-file", &wrong], 3);
    words.run(&["test", &server.target(), "--token", "wrong"], 3);
    words.run(&["test", &server.target(), "--token-file", "missing"], 2);
    file("empty", "\nright\n");
    words.run(&["test", &server.target(), "--token-file", "empty"], 2);
}

/// Every thread that handles data of others has a filter of system calls, and cannot regain rights.
#[test]
fn a_server_drops_rights_that_it_does_not_need() {
    let server = Serve::start(&[]);
    let threads = || -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
        let status = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("status")).unwrap());
        status.filter(|s| s.contains("fathom-front") || s.contains("fathom-echo")).collect()
    };
    let start = std::time::Instant::now();
    // A thread sets its name itself.
    while threads().len() < 2 {
        assert!(start.elapsed().as_secs() < 20, "the threads of the server are missing");
    }
    for status in threads() {
        let has = |line: &str| status.lines().any(|l| l == line);
        assert!(has("Seccomp:\t2") && has("NoNewPrivs:\t1"), "{status}");
    }
}

/// The data from before the server died are kept and reported as partial.
#[test]
fn server_dies_in_mid_test() {
    let mut server = Serve::start(&[]);
    let mut test =
        fathom(&["test", &server.target(), "--no-save", "--json", "-v", "--phases", "idle,up,drain"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    // The progress on stderr (-v) shows when the load begins: no sleep is needed.
    let mut err = test.stderr.take().unwrap();
    let mut seen = String::new();
    let mut byte = [0; 1];
    while !seen.contains("idle ") && err.read(&mut byte).unwrap() == 1 {
        seen.push(char::from(byte[0]));
    }
    server.kill();
    let rest = thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).map(|_| text)
    });
    let output = test.wait_with_output().unwrap();
    let stderr = rest.join().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(3), "{seen}{stderr}");
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(run["partial"]["kind"].is_string());
    assert!(run["series"].as_array().unwrap().iter().any(|s| !s["values"].as_array().unwrap().is_empty()));
}

#[test]
fn output_to_a_closed_pipe_is_not_an_error() {
    let mut help = fathom(&["lab", "--list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(help.stdout.take());
    let ran: Ran = help.wait_with_output().unwrap().into();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

/// The result is printed anyway, and saved in the directory of temporary files.
#[test]
fn full_disk() {
    let server = Serve::start(&[]);
    let folder = scratch().join("full");
    std::fs::create_dir_all(&folder).unwrap();
    let mount = format!(
        "mount -t tmpfs -o size=4k tmpfs {0} && exec {1} test {2} --phases idle -o {0}/x.json",
        folder.display(),
        env!("CARGO_BIN_EXE_fathom"),
        server.target()
    );
    let spare = scratch().join("spare");
    std::fs::create_dir_all(&spare).unwrap();
    let mut command = Command::new("unshare");
    let output = command.args(["-m", "sh", "-c", &mount]).env("TMPDIR", &spare).output().unwrap();
    let ran: Ran = output.into();
    assert_eq!(ran.code, Some(3), "{}", ran.describe());
    assert!(ran.err.contains("x.json") && ran.err.contains(&*spare.to_string_lossy()), "{}", ran.describe());
    assert!(!ran.out.is_empty(), "the result is printed all the same: {}", ran.describe());
    let kept: Vec<_> = std::fs::read_dir(&spare).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(std::fs::read_to_string(&kept[0]).unwrap().starts_with('{'), "{kept:?}");
    std::fs::remove_dir_all(&spare).unwrap();
}

/// Without enough CPU, the program reports that, instead of calling a line healthy that it could
/// not load.
#[test]
fn a_starved_program_gives_no_verdict() {
    let _alone = alone();
    let serve = Serve::start(&[]);
    let hogs: Vec<Hog> = (0..8).map(|_| Hog::start()).collect();
    // Root may ask for real-time scheduling; without CAP_SYS_NICE it cannot.
    let mut command = Command::new("sh");
    let starve = "[ $(id -u) = 0 ] && set -- setpriv --bounding-set=-sys_nice \"$@\"; exec nice -n 10 \"$@\"";
    command.args(["-c", starve, "sh", env!("CARGO_BIN_EXE_fathom"), "test", &serve.target()]);
    command.args(["--phases", "idle,up", "--flows", "1", "--max-phase", "5s"]);
    let ran: Ran = command.stdin(Stdio::null()).current_dir(scratch()).output().unwrap().into();
    drop(hogs);
    assert_eq!(ran.code, Some(4), "{}", ran.describe());
}

/// A busy loop with a time limit.
struct Hog(Child);

impl Hog {
    fn start() -> Hog {
        Hog(Command::new("timeout").args(["60", "sh", "-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        // `timeout` forwards SIGTERM to the loop. After SIGKILL the loop would go on.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// Small send buffers make `fathom serve` slower than the line. A busy machine is named instead.
#[test]
fn a_server_slower_than_the_line_gives_no_verdict() {
    let _alone = alone();
    let far = "echo 4096 16384 16384 > /proc/sys/net/ipv4/tcp_wmem";
    let test = format!(
        "exec {} test $FATHOM_SERVER --json --no-save --flows 1 --phases idle,down",
        env!("CARGO_BIN_EXE_fathom")
    );
    let ran = run(&["lab", "-q", "--line", "cable", "--far", far, "--", "sh", "-c", &test]);
    let document = ran.document();
    let limit = (ran.code, document["verdict"]["reason"]["kind"].as_str());
    let (is_server, is_busy) =
        (limit == (Some(5), Some("sender_idle")), limit == (Some(4), Some("cpu_limited")));
    assert!(is_server || is_busy, "{}", ran.describe());
    let series = document["series"].as_array().unwrap().iter();
    let unsent = series.filter(|series| series["metric"] == "flow_unsent_bytes");
    let unsent: Vec<f64> =
        unsent.flat_map(|s| s["values"].as_array().unwrap()).filter_map(|v| v.as_f64()).collect();
    let empty = unsent.iter().filter(|bytes| **bytes == 0.0).count();
    assert!(2 * empty > unsent.len(), "{empty} of {} values are 0", unsent.len());
    let goodput = document["summary"]["phases"][1]["goodput_down_bits_per_second"].as_f64().unwrap();
    assert!(goodput < 85e6, "the line carries 100 Mbit/s: {goodput}");
}

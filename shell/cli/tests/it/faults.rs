//! Bad input and faults: each gets one clear line with the object, the value, the limit and what to try.
use crate::program::{Ran, Serve, alone, fathom, run, scratch};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;

fn assert_told(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.told());
    for word in words {
        assert!(ran.err.contains(word), "\"{word}\" missing: {}", ran.told());
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.told());
}

fn scenario(name: &str, text: &str) -> String {
    let path = scratch().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Arguments, exit code, words that the message must have.
#[test]
fn bad_arguments() {
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["test", "127.0.0.1", "--flows", "0"], 2, &["--flows", "0", "1..=64"]),
        (&["test", "127.0.0.1", "--sample-every", "50"], 2, &["50", "no unit", "50ms"]),
        (&["test", "127.0.0.1", "--sample-every", "1ms"], 2, &["1ms", "5ms"]),
        (&["test", "127.0.0.1", "--phases", "sideways"], 2, &["sideways", "idle"]),
        (&["test", "127.0.0.1", "-o", "x.doc"], 2, &["x.doc", ".html"]),
        (&["test", "127.0.0.1", "-o", "/no/such/place/x.html"], 2, &["/no/such/place", "mkdir"]),
        (&["test", "127.0.0.1", "-4", "-6"], 2, &["--ipv4", "--ipv6"]),
        (&["lab", "--line", "dls", "--", "true"], 2, &["dls", "dsl", "try"]),
        (&["lab", "--line", "/no/such.toml", "--", "true"], 2, &["/no/such.toml"]),
        (&["lab", "--queue", "fifo limit 64", "--", "true"], 2, &["64", "64kb"]),
        (&["demo", "--queue", "fastest"], 2, &["fastest", "fq_codel"]),
        (&["report", "/no/such.json"], 2, &["/no/such.json"]),
        (&["report", "/dev/null"], 2, &["/dev/null"]),
        (&["compare", "one.json"], 2, &["FILE"]),
        (&["serve", "--port", "70000"], 2, &["70000"]),
        (&["serve", "--listen", "203.0.113.1", "--port", "0"], 3, &["203.0.113.1"]),
        (&["sim"], 2, &["sim"]),
    ];
    for (args, code, words) in cases {
        assert_told(&run(args), *code, words);
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
            "no unit",
        ),
        ("key.toml", format!("{good}{down}upp = {{ rate = \"3Mbit\" }}\n"), "upp"),
        (
            "queue.toml",
            format!("{good}{down}up = {{ rate = \"3Mbit\", delay = \"1ms\", queue = \"magic\" }}\n"),
            "magic",
        ),
        ("empty.toml", String::new(), "empty.toml"),
        ("bytes.toml", "\u{0}\u{1}".to_owned(), "bytes.toml"),
    ];
    for (name, text, word) in cases {
        let path = scenario(name, &text);
        assert_told(&run(&["lab", "--line", &path, "--", "true"]), 2, &[name, word]);
    }
}

#[test]
fn server_absent() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ran = run(&["test", &format!("127.0.0.1:{free}")]);
    assert_told(&ran, 3, &["127.0.0.1", "refused", "fathom serve"]);
    assert_told(&run(&["test", "no-such-host.invalid"]), 3, &["no-such-host.invalid"]);
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
    assert_told(&run(&["test", &format!("127.0.0.1:{port}")]), 3, &["Fathom protocol"]);
    other.join().unwrap();
}

#[test]
fn server_wants_a_token() {
    let server = Serve::start(&["--token", "right"]);
    assert_told(&run(&["test", &server.target()]), 3, &["token", "--token"]);
    assert_told(&run(&["test", &server.target(), "--token", "wrong"]), 3, &["token"]);
}

/// What was gathered before the server died is kept and reported as partial.
#[test]
fn server_dies_in_mid_test() {
    let mut server = Serve::start(&[]);
    let mut test = fathom(&["test", &server.target(), "--no-save", "--json", "--phases", "idle,up,drain"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The progress on stderr tells when the load has begun: no sleep is needed.
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
    let told = rest.join().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(3), "{seen}{told}");
    assert!(told.contains("partial"), "{told}");
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(run["partial"].is_string());
    assert!(run["series"].as_array().unwrap().iter().any(|s| !s["values"].as_array().unwrap().is_empty()));
}

#[test]
fn output_to_a_closed_pipe_is_not_an_error() {
    let mut help = fathom(&["lab", "--list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(help.stdout.take());
    let ran: Ran = help.wait_with_output().unwrap().into();
    assert_told(&ran, 0, &[]);
    assert_eq!(ran.err, "");
}

/// The result is printed all the same, and kept where temporary files are.
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
    assert_told(&ran, 3, &["x.json", "No space left", &spare.display().to_string()]);
    assert!(!ran.out.is_empty(), "the result is printed all the same: {}", ran.told());
    let kept: Vec<_> = std::fs::read_dir(&spare).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(std::fs::read_to_string(&kept[0]).unwrap().starts_with('{'), "{kept:?}");
    std::fs::remove_dir_all(&spare).unwrap();
}

/// Without CPU for itself, the program says so instead of calling a line healthy that it could not load.
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
    assert_eq!(ran.code, Some(4), "{}", ran.told());
    assert!(ran.out.contains("Invalid measurement"), "{}", ran.told());
}

/// A busy loop that ends by itself.
struct Hog(Child);

impl Hog {
    fn start() -> Hog {
        Hog(Command::new("timeout").args(["60", "sh", "-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        // SIGTERM, which `timeout` hands on; SIGKILL would leave the loop behind.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

//! A real S3 server gets every object, through wrong keys and a crash. (It creates missing buckets;
//! others answer as the tests of `request.rs` say.)
use crate::objects::{Objects, objects};
use crate::past::{HOUR, Past, START, fixed, until};
use fathom_test_support::unused_port;
use fathom_watch_archive::{Archive, Archiver, Store};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/// The server `s3s-fs`, which stores objects as files.
struct Server(Child);

impl Server {
    fn start(root: &Path, port: u16) -> Server {
        let program = std::env::current_exe().unwrap().with_file_name("../../tools/bin/s3s-fs");
        let mut command = Command::new(&program);
        command.args(["--host", "127.0.0.1", "--access-key", KEY, "--secret-key", SECRET]);
        command.arg("--port").arg(port.to_string()).arg(root);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|e| panic!("{}: {e}; `make s3` installs it", program.display()));
        let server = Server(child);
        until("the server", || TcpStream::connect(("127.0.0.1", port)).ok());
        server
    }
    /// Simulates a crash.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_credentials(path: &Path, secret: &str) {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).unwrap();
    write!(file, "[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {secret}\n").unwrap();
    fs::rename(&new, path).unwrap();
}

fn archive(past: &Past, port: u16, credentials_file: PathBuf) -> Archive {
    let to = Store::S3 {
        endpoint: format!("http://127.0.0.1:{port}"),
        bucket: "watches".into(),
        prefix: "a b/\u{e9}".into(),
        region: "us-east-1".into(),
        credentials_file,
        ca_file: None,
    };
    Archive { site: "h\u{f6}f/1 +".into(), ..past.archive("far", to) }
}

/// The objects in the bucket below the prefix.
fn stored(bucket: &Path) -> Objects {
    let prefix = "a b/\u{e9}/";
    objects(bucket)
        .into_iter()
        .filter_map(|(key, bytes)| Some((key.strip_prefix(prefix)?.to_owned(), bytes)))
        .collect()
}

#[test]
fn an_s3_server_gets_every_object_through_wrong_keys_and_a_crash() {
    let mut past = Past::new(10);
    past.record(START, START + 20 * HOUR);
    past.result("large \u{e9}?&%41.json", &vec![b'7'; 3 << 20]);
    let (now, end) = (START + 20 * HOUR, START + 19 * HOUR);
    let root = past.new_folder("s3");
    let port = unused_port();
    let credentials = past.folder.path().join("credentials");
    let server = Server::start(&root, port);
    let running =
        Archiver::start_with_clock(archive(&past, port, credentials.clone()), &past.dir(), fixed(now));
    let mut notes: Vec<String> = Vec::new();
    let mut wait_for_note = |text: &str| {
        until(text, || {
            notes.extend(running.notes().into_iter().map(|note| note.text));
            notes
                .iter()
                .position(|note| note.contains(text))
                .map(|at| notes.drain(..=at).next_back().unwrap())
        })
    };
    let note = wait_for_note("Will retry");
    assert!(note.contains(&format!("{}: No such file", credentials.display())), "{note}");
    write_credentials(&credentials, SECRET);
    wait_for_note("reachable again");
    // A wrong key, and a crash.
    until("some objects", || (stored(&root.join("watches")).len() > 6).then_some(()));
    write_credentials(&credentials, "another");
    let refusal = wait_for_note("Will retry");
    assert!(refusal.contains("HTTP 403: SignatureDoesNotMatch"), "{refusal}");
    assert!(!refusal.contains("Signature=") && !refusal.contains(SECRET), "{refusal}");
    server.kill();
    write_credentials(&credentials, SECRET);
    let _restarted = Server::start(&root, port);
    wait_for_note("reachable again");
    past.wait_until_sent("far", end);
    running.stop();
    let folder = past.new_folder("disk");
    let same = Archive { to: Store::Folder(folder.clone()), ..archive(&past, port, credentials) };
    let other =
        Archiver::start_with_clock(Archive { name: "folder".into(), ..same }, &past.dir(), fixed(now));
    past.wait_until_sent("folder", end);
    other.stop();
    let (all, expected) = (stored(&root.join("watches")), objects(&folder));
    assert_eq!(all.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(all == expected, "the same bytes as in the folder");
}

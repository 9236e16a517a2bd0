//! Programs of this computer that use the line during a test or a capture.
use crate::program::{on_slow_line, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The far end of the upload. A FIFO says that it listens.
const SINK: &str = "
import socket, sys
listener = socket.create_server(('', 9999))
open(sys.argv[1], 'w').close()
connection, _ = listener.accept()
while connection.recv(65536): pass
";

/// The upload. A FIFO says that it has filled the queue of 64 kB and the buffer of its socket.
const BACKUP: &str = "
import socket, sys
open('/proc/self/comm', 'w').write('backup')
open(sys.argv[1]).close()
connection = socket.create_connection((sys.argv[2], 9999))
connection.sendall(bytes(300_000))
open(sys.argv[3], 'w').close()
while True: connection.sendall(bytes(8192))
";

/// Runs `fathom` with `arguments` on a line of 16/1 Mbit/s with a queue of half a second, while a
/// program named `backup` uploads to the far end.
fn next_to_a_backup(name: &str, arguments: &str) -> Value {
    let dir = scratch().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let path = |file: &str| dir.join(file).display().to_string();
    let [sink, backup, result] = ["sink.py", "backup.py", "result.json"].map(path);
    let [listens, uploads] = ["listens", "uploads"].map(path);
    std::fs::write(&sink, SINK).unwrap();
    std::fs::write(&backup, BACKUP).unwrap();
    let fifos = Command::new("mkfifo").args([&listens, &uploads]).status().unwrap();
    assert!(fifos.success(), "mkfifo {listens} {uploads}");
    let script = format!(
        "python3 {backup} {listens} $FATHOM_SERVER {uploads} & timeout 30 cat {uploads}; \
         {} {arguments} --no-progress -o {result}; kill $!",
        env!("CARGO_BIN_EXE_fathom")
    );
    let far = format!("python3 {sink} {listens}");
    let ran = run(&["lab", "--line", "dsl", "--far", &far, "--", "sh", "-c", &script]);
    assert!(Path::new(&result).exists(), "{}", ran.describe());
    let report = run(&["report", &result, "--json"]);
    serde_json::from_str(&report.out).unwrap_or_else(|why| panic!("{why}: {}", report.describe()))
}

#[test]
fn a_test_names_the_program_that_fills_the_line() {
    let _slow = on_slow_line();
    let found = next_to_a_backup("backup-test", "test $FATHOM_SERVER -4 --phases idle,up");
    // How much the load adds to the queue of the backup differs from run to run.
    assert_ne!(found["verdict"]["health"], "healthy", "{}", found["verdict"]);
    let findings = found["findings"].as_array().unwrap();
    let local = findings.iter().find(|finding| finding["kind"] == "local_traffic").expect("it is named");
    let parameters = &local["parameters"];
    assert_eq!((&local["direction"], &parameters["phase"]), (&"up".into(), &"idle".into()));
    assert_eq!(parameters["process"]["name"], "backup", "{local}");
    // 1 Mbit/s less the headers.
    let rate = parameters["bits_per_second"].as_f64().unwrap();
    assert!((0.8e6..1.2e6).contains(&rate), "{rate}");
}

#[test]
fn a_capture_names_the_program_of_a_flow() {
    let _slow = on_slow_line();
    let found = next_to_a_backup("backup-trace", "trace -i any --duration 6s");
    assert_eq!(found["capture"]["flows"][0]["program"]["name"], "backup", "{}", found["capture"]["flows"]);
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(headline.contains("backup"), "{headline}");
}

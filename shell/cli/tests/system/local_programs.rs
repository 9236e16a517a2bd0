//! Programs of this computer that use the line during a test or a capture.
use crate::program::{on_slow_line, run, scratch};
use serde_json::Value;
use std::path::Path;

/// Runs `script` on a line of 16/1 Mbit/s with a queue of half a second, while a program named
/// `backup` uploads to the far end.
fn next_to_a_backup(name: &str, script: &str) -> Value {
    let dir = scratch().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let write = |file: &str, text: &str| {
        let path = dir.join(file);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let sink = write(
        "sink.py",
        "import socket\nlistener = socket.create_server(('', 9999))\nprint(flush=True)\n\
         connection, _ = listener.accept()\nwhile connection.recv(65536): pass\n",
    );
    let backup = write(
        "backup.py",
        "import socket, sys, time\nopen('/proc/self/comm', 'w').write('backup')\n\
         for attempt in range(50):\n    try: s = socket.create_connection((sys.argv[1], 9999)); break\n    \
         except OSError: time.sleep(0.1)\nwhile True: s.sendall(bytes(8192))\n",
    );
    let result = dir.join("result.json").display().to_string();
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let script = format!(
        "python3 {backup} $FATHOM_SERVER & sleep 2; {fathom} {} --no-progress -o {result}; kill $!",
        script
    );
    let ran = run(&["lab", "--line", "dsl", "--far", &format!("python3 {sink}"), "--", "sh", "-c", &script]);
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

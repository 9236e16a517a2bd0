//! The program for Windows, run by wine over an emulated line. `make windows` builds it.
use crate::program::{Ran, alone, run, scratch};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/x86_64-pc-windows-gnu/demo")
}

/// Runs it with its own registry and wine server: the server opens all sockets, in its network
/// namespace.
struct Wine {
    home: PathBuf,
}

impl Wine {
    fn new(name: &str) -> Wine {
        let program = folder().join("fathom.exe");
        assert!(program.exists(), "no {}: run make windows", program.display());
        let home = scratch().join(name);
        std::fs::create_dir_all(&home).unwrap();
        Wine { home }
    }
    /// A script in which `fathom` is that for Windows.
    fn script(&self, text: &str) -> String {
        let (home, program) = (self.home.display(), folder().join("fathom.exe"));
        let program = program.canonicalize().unwrap();
        format!(
            "export WINEDEBUG=-all WINEPREFIX={home}/wine; cd {home}\n\
             fathom() {{ timeout -s KILL 120 wine {program} \"$@\" </dev/null; }}\n{text}",
            program = program.display()
        )
    }
    fn run(&self, text: &str) -> Ran {
        let ran = Command::new("sh").args(["-c", &self.script(text)]).output();
        ran.expect("sh").into()
    }
    /// The script at the end of an emulated line.
    fn over_line(&self, line: &str, text: &str) -> Ran {
        run(&["lab", "--line", line, "--", "sh", "-c", &self.script(text)])
    }
    fn document(&self, name: &str) -> Json {
        let text = std::fs::read(self.home.join(name)).unwrap();
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        // The server waits for more programs for some seconds.
        drop(self.run("wineserver -k"));
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

/// The line `cable`: four routers, 20 ms, and 250 ms of queue on the uplink.
///
/// `path` ends while requests wait for replies. To cancel them, the driver of wine 8 takes two
/// locks in the wrong order, and from then on all calls that need a driver may wait forever. So the
/// next program gets another server.
#[test]
fn a_line_is_measured() {
    let _alone = alone();
    let wine = Wine::new("wine-line");
    let ran = wine.over_line(
        "cable",
        "fathom ping 198.19.0.2 -c 5 -i 0.2 -o ping.json || exit 10
         fathom path 198.19.0.2 -c 4 --json >path.json || exit 11
         wineserver -k
         fathom test 198.19.0.2 --quick --json >test.json
         [ $? = 1 ] || exit 12
         fathom serve --port 4000 --listen 127.0.0.1 >serve.txt 2>&1 &
         for n in $(seq 100); do
             fathom ping -c 1 -W 1 udp://127.0.0.1:4000 >self.txt 2>&1 && break
         done
         grep -q 'up=' self.txt || exit 13
         exit 0",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.describe());

    let hops = wine.document("path.json");
    let addresses: Vec<&str> =
        hops["path"]["hops"].as_array().unwrap().iter().filter_map(|hop| hop["address"].as_str()).collect();
    assert_eq!(addresses, ["198.18.1.1", "198.18.2.1", "198.18.3.1", "198.18.4.1"]);
    assert_eq!(hops["path"]["server_hop"], 5);

    let test = wine.document("test.json");
    assert_eq!(test["verdict"]["health"], "bloated");
    let lag = test["summary"]["lag_up_s"].as_f64().expect("lag of the upload");
    assert!((0.2..0.3).contains(&lag), "lag {lag} s for 0.25 s");
}

/// The text of a result without the name of the system.
fn without_host(text: &str) -> String {
    let Some((before, rest)) = text.split_once("\"kernel\":\"") else { return text.to_owned() };
    before.to_owned() + rest.split_once('"').map_or("", |(_, after)| after)
}

/// What reads and computes gives the same as on Linux, to the last byte.
#[test]
fn files_read_the_same() {
    let wine = Wine::new("wine-files");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let capture = root.join("testdata/trace/kernel/one.pcap.gz").display().to_string();
    let commands: [&[&str]; 3] = [
        &["trace", &capture, "--json"],
        &["size", "256p", "10mbit", "--json"],
        &["sim", "seifried-2011", "--quiet"],
    ];
    for command in commands {
        let (here, there) = (run(command), wine.run(&format!("fathom {}", command.join(" "))));
        assert_eq!(there.code, here.code, "{}", there.describe());
        // Not assert_eq: the documents are long.
        assert!(without_host(&there.out) == without_host(&here.out), "{command:?}: {}", there.err);
    }
    for command in ["lab", "fix", "watch", "audit", "ecn", "dut", "doctor"] {
        let refused = wine.run(&format!("fathom {command}"));
        assert_eq!((refused.code, refused.out.as_str()), (Some(3), ""), "{}", refused.describe());
        assert!(refused.err.contains("Linux"), "{}", refused.describe());
    }
    let missing = wine.run("fathom report no-such.json");
    assert_eq!(missing.code, Some(2), "{}", missing.describe());
}

//! Tests of `fathom watch`.
use crate::program::{Words, fathom, run, scratch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A running watch and the lines of its stderr.
pub(crate) struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    pub(crate) fn start(args: &[&str]) -> Watch {
        Watch::of(&mut fathom(args))
    }
    pub(crate) fn of(command: &mut Command) -> Watch {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)))
        });
        Watch { child, lines }
    }
    /// The next line that contains `words`.
    pub(crate) fn wait_for_line(&self, words: &str) -> String {
        loop {
            // A full disk is noticed when the log must grow.
            let line = self.lines.recv_timeout(Duration::from_secs(120));
            let line = line.unwrap_or_else(|_| panic!("it did not say {words:?}"));
            if line.contains(words) {
                return line;
            }
        }
    }
    /// The lines since the last one that was waited for.
    pub(crate) fn said(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
    pub(crate) fn end(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

pub(crate) fn file(name: &str, text: &str) -> String {
    let path = scratch().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Reads the live updates of the page until each of these series has this many probes.
pub(crate) fn wait_until_sent(page: &str, wanted: &[(&str, u64)]) {
    let address = page.split("http://").nth(1).unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /api/v1/live HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut sent: BTreeMap<String, u64> = BTreeMap::new();
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let event: serde_json::Value = serde_json::from_str(data).unwrap();
        for target in event["targets"].as_array().unwrap() {
            sent.insert(target["name"].as_str().unwrap().to_owned(), target["sent"].as_u64().unwrap());
        }
        if wanted.iter().all(|(name, min)| sent.get(*name).is_some_and(|n| n >= min)) {
            return;
        }
    }
    panic!("the page sent no more: {sent:?}");
}

const GOOD: &str = "[[target]]\nname = 'here'\nhost = '127.0.0.1'\ninterval = '100ms'\n";

#[test]
fn check_finds_every_mistake_before_anything_starts() {
    file("good.toml", GOOD);
    file("typo.toml", &GOOD.replace("interval", "intervall"));
    file("much.toml", &format!("[watch]\nmax_packets_per_second = 5\n{GOOD}"));
    let mut words = Words::of("watch-check", &scratch());
    words.run(&["watch", "check", "good.toml"], 0);
    words.run(&["watch", "check", "typo.toml"], 2);
    words.run(&["watch", "typo.toml"], 2);
    words.run(&["watch", "check", "much.toml"], 2);
    words.run(&["watch", "check", "/no/such/file.toml"], 2);
}

#[test]
fn a_watch_runs_reloads_its_file_and_shows_its_history() {
    let (path, store) = (file("runs.toml", GOOD), scratch().join("runs-store"));
    let store = store.to_str().unwrap();
    let watch = Watch::start(&["watch", &path, "--store", store, "--listen", "127.0.0.1:0"]);
    watch.wait_for_line("1 target, 10.0 packets/s");
    let page = watch.wait_for_line("page: http://127.0.0.1:");
    file("runs.toml", &format!("{GOOD}[[target]]\nname = 'there'\nhost = '127.0.0.2'\n"));
    watch.signal("-HUP");
    watch.wait_for_line("1 target unchanged, 1 started, 0 stopped");
    file("runs.toml", "[[target]]\nname = 'here'\n");
    watch.signal("-HUP");
    watch.wait_for_line("runs.toml:1: host is missing");
    watch.wait_for_line("the previous configuration stays in use");
    wait_until_sent(&page, &[("here", 20), ("there", 1)]);
    assert_eq!(watch.end(), Some(0));
    let status = run(&["watch", "status", "--store", store]);
    assert_eq!(status.code, Some(0), "{}", status.describe());
    assert!(status.out.starts_with("GOOD  All 2 targets answer"), "{}", status.describe());
    let json = run(&["watch", "status", "--store", store, "--json"]).document();
    assert_eq!(json["status"]["pushes"], serde_json::json!([]));
    assert_eq!(
        json["status"]["targets"].as_array().unwrap().iter().filter(|row| row["target"] == "there").count(),
        1
    );
    let here =
        json["status"]["targets"].as_array().unwrap().iter().find(|row| row["target"] == "here").unwrap();
    assert!(here["answered"].as_u64().unwrap() >= 10 && here["lost"] == 0, "{here}");
    Words::of("watch-status", &scratch()).run(&["watch", "status", "--store", "/no/such/store"], 3);
}

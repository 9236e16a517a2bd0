//! A watch on a full disk, and checks, repairs and copies of its history.
use crate::alerts::hook;
use crate::program::{Words, fathom, run, scratch};
use crate::watch::{Watch, file, wait_until_sent};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The body of a page of the watch.
fn get(page: &str, path: &str) -> String {
    let address = page.split("http://").nth(1).unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// Fills a disk, also what is released meanwhile, until it is dropped.
struct Filler {
    file: PathBuf,
    /// Closing it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Filler {
    fn start(folder: &Path) -> Filler {
        let (file, (stop, stopped)) = (folder.join("filler"), channel());
        let mut writer = fs::File::create(&file).unwrap();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
                while writer.write_all(&[1; 4096]).is_ok() {}
            }
        });
        Filler { file, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        self.stop = None;
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
        let _ = fs::remove_file(&self.file);
    }
}

#[test]
fn a_full_disk_is_reported_everywhere_and_so_is_its_end() {
    fathom_test_support::require_namespaces();
    let (url, requests) = hook();
    let disk = scratch().join("full-disk");
    fs::create_dir_all(&disk).unwrap();
    let config = file(
        "full-disk.toml",
        &format!(
            "[watch]\nstore = '{0}/store'\nlisten = '127.0.0.1:0'\n[[receiver]]\nname = 'hook'\nwebhook = '{url}'\n\
             [[target]]\nname = 'here'\nhost = '127.0.0.1'\ninterval = '100ms'\n{1}",
            disk.display(),
            // Many, so that each write needs space.
            (2..60)
                .map(|n| format!("[[target]]\nname = '{n}'\nhost = '127.0.0.{n}'\ninterval = '100ms'\n"))
                .collect::<String>()
        ),
    );
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs -o size=4m none \"$1\" && exec \"$0\" watch \"$2\"";
    command.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_fathom")]).arg(&disk).arg(&config);
    let watch = Watch::of(&mut command);
    let page = watch.wait_for_line("page: http://127.0.0.1:");
    wait_until_sent(&page, &[("here", 10)]);
    assert!(get(&page, "/metrics").contains("\nfathom_watch_trouble{kind=\"history\"} 0\n"));
    let inside = PathBuf::from(format!("/proc/{}/root{}", watch.id(), disk.display()));
    let filler = Filler::start(&inside);
    watch.wait_for_line("cannot write ");
    let raised = requests.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!((raised["status"].as_str(), raised["probe"].as_str()), (Some("raised"), Some("history")));
    assert!(raised["evidence"].as_str().unwrap().contains("free disk space"), "{raised}");
    assert!(get(&page, "/metrics").contains("\nfathom_watch_trouble{kind=\"history\"} 1\n"));
    let now: serde_json::Value = serde_json::from_str(&get(&page, "/api/v1/targets")).unwrap();
    assert_eq!(now["troubles"][0]["kind"], "history", "{now}");
    drop(filler);
    watch.wait_for_line("the history is written again; it could not be since ");
    let cleared = requests.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(cleared["status"].as_str(), Some("cleared"), "{cleared}");
    assert!(get(&page, "/metrics").contains("\nfathom_watch_trouble{kind=\"history\"} 0\n"));
    assert_eq!(watch.end(), Some(0));
}

#[test]
fn a_history_is_checked_copied_and_repaired() {
    let config = file("upkeep.toml", "[[target]]\nname = 'here'\nhost = '127.0.0.1'\ninterval = '100ms'\n");
    let store = scratch().join("upkeep");
    let watch = Watch::of(fathom(&["watch", &config, "--listen", "127.0.0.1:0", "--store"]).arg(&store));
    let page = watch.wait_for_line("page: http://127.0.0.1:");
    wait_until_sent(&page, &[("here", 10)]);
    // While it runs.
    let with_store = |action: &str| run(&["watch", action, "--store", store.to_str().unwrap()]);
    assert_eq!(with_store("verify").code, Some(0));
    let busy = with_store("repair");
    assert!(busy.code == Some(3) && busy.err.contains("is in use by process"), "{}", busy.describe());
    assert_eq!(watch.end(), Some(0));
    // One file has everything.
    assert!(fs::metadata(store.join("history.db-wal")).map_or(0, |log| log.len()) == 0);
    let mut words = Words::of("watch-upkeep", &scratch());
    words.run(&["watch", "backup", "--store", "upkeep", "-o", "copy.db"], 0);
    words.run(&["watch", "backup", "--store", "upkeep", "-o", "copy.db"], 2);
    words.run(&["watch", "verify", "--store", "nowhere"], 3);
    let mut bytes = fs::read(store.join("history.db")).unwrap();
    bytes[200..4_000].fill(7);
    fs::write(store.join("history.db"), bytes).unwrap();
    let damaged = with_store("verify");
    assert_eq!(damaged.code, Some(3), "{}", damaged.describe());
    assert!(damaged.err.contains("`fathom watch repair` saves what can be read"), "{}", damaged.describe());
    let repaired = with_store("repair");
    assert!(repaired.err.contains("started a new one"), "{}", repaired.describe());
    fs::copy(scratch().join("copy.db"), store.join("history.db")).unwrap();
    assert_eq!(with_store("verify").code, Some(0));
}

//! Engines: Prometheus, VictoriaMetrics, and a simulated one that records requests and gives
//! prepared answers.
use crate::client::{parse, send};
use crate::setup::until;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

pub(crate) struct Real {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Real {
    pub(crate) fn prometheus(port: u16, dir: &Path) -> Real {
        std::fs::create_dir_all(dir).unwrap();
        let config = dir.join("prometheus.yml");
        std::fs::write(&config, "global: {}\n").unwrap();
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", dir.join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"]);
        Real::start(command, port, (dir, "/-/ready"))
    }
    pub(crate) fn victoria_metrics(port: u16, dir: &Path) -> Real {
        std::fs::create_dir_all(dir).unwrap();
        let mut command = Command::new("victoria-metrics");
        command
            .arg(format!("-storageDataPath={}", dir.join("data").display()))
            .arg(format!("-httpListenAddr=127.0.0.1:{port}"))
            .arg("-search.latencyOffset=0s");
        Real::start(command, port, (dir, "/health"))
    }
    fn start(mut command: Command, port: u16, (dir, ready): (&Path, &str)) -> Real {
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn();
        let child =
            child.unwrap_or_else(|e| panic!("{command:?}: {e}; `make setup` installs what tests need"));
        let started = Real { child, address: SocketAddr::from(([127, 0, 0, 1], port)) };
        until("the engine", || started.get(ready).filter(|answer| answer.0 == 200));
        started
    }
    /// Makes what VictoriaMetrics received visible at once.
    pub(crate) fn flush(&self) {
        assert_eq!(self.get("/internal/force_flush").unwrap().0, 200);
    }
    fn get(&self, path: &str) -> Option<(u16, String)> {
        TcpStream::connect(self.address).ok()?;
        let answer = send(self.address, ("GET", path), &[], b"");
        Some((answer.status, answer.body))
    }
    /// The result of a query at a time.
    pub(crate) fn query(&self, promql: &str, at_ms: u64) -> Vec<serde_json::Value> {
        let escaped: String = promql.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let time = at_ms as f64 / 1e3;
        let (_, text) = self.get(&format!("/api/v1/query?query={escaped}&time={time}")).unwrap();
        let start = text.find('{').unwrap_or_else(|| panic!("{promql}: {text}"));
        let end = text.rfind('}').unwrap();
        let json: serde_json::Value = serde_json::from_str(&text[start..=end]).unwrap();
        assert_eq!(json["status"], "success", "{promql}: {text}");
        json["data"]["result"].as_array().unwrap().clone()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request that a simulated engine received.
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Answers, the first one first; the last one is repeated.
type Answers = Arc<Mutex<VecDeque<&'static str>>>;

pub(crate) struct Simulated {
    pub(crate) url: String,
    pub(crate) received: Arc<Mutex<Vec<Received>>>,
    answers: Answers,
}

pub(crate) const ACCEPTS: &str =
    "HTTP/1.1 204 No Content\r\nX-Prometheus-Remote-Write-Samples-Written: 3\r\nConnection: close\r\n\r\n";

impl Simulated {
    pub(crate) fn start() -> Simulated {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/api/v1/push", listener.local_addr().unwrap());
        let (received, answers) = (Arc::default(), Answers::new(Mutex::new([ACCEPTS].into())));
        let engine = Simulated { url, received: Arc::clone(&received), answers: Arc::clone(&answers) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &received, &answers);
            }
        });
        engine
    }
    pub(crate) fn answer(&self, all: &[&'static str]) {
        *self.answers.lock().unwrap() = all.iter().copied().collect();
    }
    pub(crate) fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

fn serve(mut stream: TcpStream, received: &Mutex<Vec<Received>>, answers: &Answers) {
    let (mut all, mut piece) = (Vec::new(), [0; 4_096]);
    loop {
        let Ok(count @ 1..) = stream.read(&mut piece) else { return };
        all.extend_from_slice(&piece[..count]);
        let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
        if all.len() < end + 4 + length {
            continue;
        }
        received.lock().unwrap().push(Received { head, body: all[end + 4..].to_vec() });
        let mut waiting = answers.lock().unwrap();
        let answer = if waiting.len() > 1 { waiting.pop_front() } else { waiting.front().copied() };
        assert!(parse(answer.unwrap().as_bytes()).is_some());
        let _ = stream.write_all(answer.unwrap().as_bytes());
        return;
    }
}

//! Real receivers: Prometheus and VictoriaMetrics, each in its own directory, on loopback.
use crate::past::until;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) struct Receiver {
    child: Child,
    pub(crate) port: u16,
    kind: Kind,
    dir: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Prometheus,
    /// Accepts points that are up to a day older than its newest.
    LatePrometheus,
    VictoriaMetrics,
}

impl Kind {
    fn command(self, port: u16, dir: &Path) -> Command {
        let address = format!("127.0.0.1:{port}");
        match self {
            Kind::Prometheus | Kind::LatePrometheus => {
                let config = dir.join("prometheus.yml");
                let text = match self {
                    Kind::LatePrometheus => "storage: { tsdb: { out_of_order_time_window: 1d } }\n",
                    _ => "global: {}\n",
                };
                std::fs::write(&config, text).unwrap();
                let mut command = Command::new("prometheus");
                command
                    .arg(format!("--config.file={}", config.display()))
                    .arg(format!("--storage.tsdb.path={}", dir.join("data").display()))
                    .arg(format!("--web.listen-address={address}"))
                    .args(["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"]);
                command
            }
            Kind::VictoriaMetrics => {
                let mut command = Command::new("victoria-metrics");
                command
                    .arg(format!("-storageDataPath={}", dir.join("data").display()))
                    .arg(format!("-httpListenAddr={address}"))
                    .arg("-search.latencyOffset=0s");
                command
            }
        }
    }
}

impl Receiver {
    pub(crate) fn start(kind: Kind, port: u16, dir: &Path) -> Receiver {
        std::fs::create_dir_all(dir).unwrap();
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let child = kind.command(port, dir).stdout(Stdio::null()).stderr(log).spawn();
        let child = child.unwrap_or_else(|e| panic!("{kind:?}: {e}; `make setup` installs what tests need"));
        let receiver = Receiver { child, port, kind, dir: dir.to_owned() };
        let ready = if kind == Kind::VictoriaMetrics { "/health" } else { "/-/ready" };
        until("the receiver", || receiver.get(ready));
        receiver
    }
    /// Simulates a power failure.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
    /// Stops it cleanly, as for an upgrade.
    pub(crate) fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
        self.child.wait().unwrap();
    }
    fn get(&self, path: &str) -> Option<String> {
        let mut answer = ureq::get(format!("http://127.0.0.1:{}{path}", self.port)).call().ok()?;
        answer.body_mut().read_to_string().ok()
    }
    /// The result of a query at a time: labels and value of each series.
    pub(crate) fn query(&self, promql: &str, at_ms: u64) -> Vec<(Value, f64)> {
        let escaped: String = promql
            .bytes()
            .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02x}") })
            .collect();
        // Makes written data visible immediately.
        if self.kind == Kind::VictoriaMetrics {
            self.get("/internal/force_flush").unwrap();
        }
        let time = at_ms as f64 / 1e3;
        let answer =
            ureq::get(format!("http://127.0.0.1:{}/api/v1/query?query={escaped}&time={time}", self.port))
                .config()
                .http_status_as_error(false)
                .build()
                .call();
        let text = answer.unwrap().body_mut().read_to_string().unwrap();
        let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{promql}: {e}: {text}"));
        assert_eq!(json["status"], "success", "{promql}: {text}");
        let number = |one: &Value| one["value"][1].as_str().map_or(f64::NAN, |value| value.parse().unwrap());
        json["data"]["result"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["metric"].clone(), number(one)))
            .collect()
    }
    /// The single value of a query.
    pub(crate) fn value(&self, promql: &str, at_ms: u64) -> f64 {
        let all = self.query(promql, at_ms);
        assert_eq!(all.len(), 1, "{promql}: {all:?}; its log is in {}", self.dir.display());
        all[0].1
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

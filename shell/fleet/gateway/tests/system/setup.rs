//! A gateway in a directory, and what agents send to it.
use crate::client::{Answer, send};
use fathom_fleet_agent::{AgentError, Enrollment, Identity, Trust, enroll};
use fathom_fleet_gateway::{Admin, Engine, Event, Gateway, GatewayConfig, Labels, SiteName, TokenRequest};
use fathom_watch_metrics::{Family, Line, Point, Request, Value, Write1, Write2};
use fathom_watch_samples::Sketch;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) struct Setup {
    pub(crate) dir: TempDir,
    pub(crate) gateway: Gateway,
    pub(crate) admin: Admin,
}

/// A site name.
pub(crate) fn name(text: &str) -> SiteName {
    SiteName::parse(text).unwrap()
}

pub(crate) fn now_ms() -> u64 {
    fathom_os::clock::wall_now().0 / 1_000_000
}

/// Settings without TLS and without a time in which old keys are forgiven.
pub(crate) fn config(state: PathBuf) -> GatewayConfig {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    GatewayConfig {
        listen,
        certificate: None,
        grace: Duration::ZERO,
        threads: 2,
        ..GatewayConfig::new(state)
    }
}

impl Setup {
    pub(crate) fn new(change: impl FnOnce(&mut GatewayConfig)) -> Setup {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path().join("state"));
        config.objects = Some(dir.path().join("objects"));
        change(&mut config);
        let gateway = Gateway::start(&config).unwrap();
        let admin = Admin::open(&config.state).unwrap();
        Setup { dir, gateway, admin }
    }
    pub(crate) fn with_engine(engine: &str) -> Setup {
        Setup::new(|config| config.engine = Some(Engine::new(engine)))
    }
    pub(crate) fn token(&self) -> String {
        self.admin.issue_token(&TokenRequest::default()).unwrap()
    }
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.gateway.address())
    }
    pub(crate) fn enroll_with(
        &self,
        token: &str,
        site: &str,
        labels: &Labels,
    ) -> Result<Identity, AgentError> {
        let enrollment = Enrollment {
            url: self.url(),
            token: token.to_owned(),
            site: name(site),
            labels: labels.clone(),
            trust: Trust::System,
        };
        enroll(&enrollment, &self.identity(site), now_ms())
    }
    /// Enrolls a site with the label `plan` and returns its key.
    pub(crate) fn enroll(&self, site: &str) -> String {
        let labels = Labels::parse([("plan", "50/10")]).unwrap();
        self.enroll_with(&self.token(), site, &labels).unwrap().key
    }
    pub(crate) fn identity(&self, site: &str) -> PathBuf {
        self.dir.path().join(format!("{site}.json"))
    }
    pub(crate) fn send(&self, what: (&str, &str), headers: &[(&str, &str)], body: &[u8]) -> Answer {
        send(self.gateway.address(), what, headers, body)
    }
    /// Sends a request of remote-write with a key.
    pub(crate) fn write(&self, key: &str, body: &Body) -> Answer {
        let bearer = format!("Bearer {key}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Encoding", "snappy"),
            ("Content-Type", body.content_type),
        ];
        self.send(("POST", "/api/v1/write"), &headers, &body.packed)
    }
    pub(crate) fn put(&self, key: &str, object: &str, body: &[u8]) -> Answer {
        let bearer = format!("Bearer {key}");
        self.send(("PUT", &format!("/api/v1/objects/{object}")), &[("Authorization", &bearer)], body)
    }
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.send(("GET", "/metrics"), &[], b"").body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{text}"));
        line.trim().parse().unwrap()
    }
    /// Waits for an event.
    pub(crate) fn event(&self, is: impl Fn(&Event) -> bool) -> Event {
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            if let Some(event) = self.gateway.next_event(Duration::from_millis(100)).filter(&is) {
                return event;
            }
        }
        panic!("no such event within 30 s");
    }
}

/// Waits until something is there.
pub(crate) fn until<T>(what: &str, get: impl FnMut() -> Option<T>) -> T {
    fathom_test_support::until(what, Duration::from_secs(60), get)
}

/// A packed request.
pub(crate) struct Body {
    pub(crate) content_type: &'static str,
    pub(crate) packed: Vec<u8>,
}

/// A series of an agent: its labels and the value of its points.
pub(crate) struct Sent<'a> {
    pub(crate) labels: Vec<(&'a str, &'a str)>,
    pub(crate) at_ms: Vec<u64>,
    pub(crate) value: f64,
}

/// A series of a site with the label `plan`, for a target.
pub(crate) fn series<'a>(site: &'a str, target: &'a str, at_ms: &[u64], value: f64) -> Sent<'a> {
    let labels =
        vec![("site", site), ("plan", "50/10"), ("target", target), ("probe", "icmp"), ("job", "fathom")];
    Sent { labels, at_ms: at_ms.to_vec(), value }
}

/// A request as agents encode it: a counter and a histogram for each series.
pub(crate) fn body(second: bool, all: &[Sent<'_>]) -> Body {
    let mut request: Box<dyn Request> =
        if second { Box::new(Write2::new(false)) } else { Box::new(Write1::new(false)) };
    for sent in all {
        let points = |value: Value| {
            sent.at_ms.iter().map(|at_ms| Point { at_ms: *at_ms, value: value.clone() }).collect()
        };
        let mut sketch = Sketch::default();
        sketch.add_value(0.020);
        sketch.add_value(0.5);
        let labels = sent.labels.clone();
        let number = points(Value::Number(sent.value));
        request.add(&Line {
            family: &Family::PROBES,
            labels: labels.clone(),
            since_ms: 1_000,
            points: number,
        });
        let histograms = points(Value::Histogram(sketch));
        request.add(&Line { family: &Family::RTT, labels, since_ms: 1_000, points: histograms });
    }
    let plain = request.take();
    let content_type = if second {
        "application/x-protobuf;proto=io.prometheus.write.v2.Request"
    } else {
        "application/x-protobuf"
    };
    Body { content_type, packed: snap::raw::Encoder::new().compress_vec(&plain).unwrap() }
}

/// A request of one series of a site.
pub(crate) fn one(site: &str) -> Body {
    body(false, &[series(site, "router", &[now_ms()], 7.0)])
}

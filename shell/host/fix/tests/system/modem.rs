//! A modem with 10 and 40 Mbit/s, buffers of 205 and 200 ms, 38 bytes of overhead per packet, and a
//! path of 10 ms.
use crate::watchdog;
use fathom_client::TestConfig;
use fathom_fix::{FixConfig, FixError, Fixed, Progress, fix};
use fathom_lab::{Lab, LabOptions};
use fathom_os::clock::Clock;
use fathom_server::{Config, Server};
use fathom_shape::fix::{Budget, Event};
use fathom_shaper::{Framing, Place, ShaperKind};
use fathom_units::{PerDirection, Rate, Time};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// The interface on the client side of a lab.
pub(crate) const DEVICE: &str = "line0";
/// Rates of the modem.
pub(crate) const TRUE_RATES: PerDirection<f64> = PerDirection { up: 10e6, down: 40e6 };

/// Both directions of the standard modem.
const UP: &str = "rate = \"10mbit\", queue = \"fifo limit 256000b\", overhead = \"38b\"";
const DOWN: &str = "rate = \"40mbit\", queue = \"fifo limit 1000000b\", overhead = \"38b\"";

pub(crate) struct Modem {
    lab: Lab,
    clock: Clock,
    _server: Server,
    folder: PathBuf,
}

impl Modem {
    /// The standard modem.
    pub(crate) fn new(name: &str) -> Modem {
        Modem::over(name, PerDirection { up: UP, down: DOWN }, "")
    }
    /// A modem with other links, each with 5 ms of path; `trace` is the content of every trace that
    /// they name.
    pub(crate) fn over(name: &str, lines: PerDirection<&str>, trace: &str) -> Modem {
        let PerDirection { up, down } = lines;
        let line = format!(
            "name = \"modem\"\nabout = \"test\"\nsource = \"test\"\n[[hop]]\nname = \"modem\"\n\
             up = {{ delay = \"5ms\", {up} }}\ndown = {{ delay = \"5ms\", {down} }}\n"
        );
        let plan = fathom_scenario::parse_with_files(&line, "modem.toml", &|_| Ok(trace.to_owned())).unwrap();
        let clock = Clock::start();
        fathom_test_support::require_namespaces();
        let lab = Lab::start(&plan.line, &LabOptions::new(clock, 1)).unwrap_or_else(|e| panic!("{e}"));
        let server = lab.in_server(|| Server::start(Config::default())).unwrap().unwrap();
        let folder = std::env::temp_dir().join(format!("fathom-fix-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Modem { lab, clock, _server: server, folder }
    }
    /// Time since the link was created.
    pub(crate) fn age(&self) -> Time {
        self.clock.now()
    }
    pub(crate) fn server(&self) -> String {
        self.server_ip().to_string()
    }
    pub(crate) fn server_ip(&self) -> Ipv4Addr {
        self.lab.server_address().v4
    }
    /// Runs `work` on the client side.
    pub(crate) fn inside<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.lab.in_client(work).unwrap()
    }
    /// Runs `work` on the server side.
    pub(crate) fn beyond<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.lab.in_server(work).unwrap()
    }
    pub(crate) fn place(&self) -> Place {
        Place::new(&self.folder, DEVICE)
    }
    pub(crate) fn config(&self, kind: ShaperKind) -> FixConfig {
        FixConfig {
            test: TestConfig::new(&self.server()),
            place: self.place(),
            shaper: Some(kind),
            framing: Framing::default(),
            round_trip: None,
            budget: Budget::new(None),
            directions: PerDirection { up: true, down: true },
            rates: PerDirection::default(),
            force: false,
            dry_run: false,
        }
    }
    /// Runs a fix and returns its events too.
    pub(crate) fn fix(&self, config: &FixConfig) -> (Result<Fixed, FixError>, Vec<Event>) {
        let stop = AtomicBool::new(false);
        let mut events = Vec::new();
        let mut report = |progress: Progress<'_>| {
            if let Progress::Step(event) = progress {
                events.push(event);
            }
        };
        let watchdog = || watchdog::command(&self.folder);
        let result = self.lab.in_client(|| fix(config, &watchdog, &stop, &mut report)).unwrap();
        (result, events)
    }
    /// Output of `tc` and `ip` on the client side, without counters.
    pub(crate) fn shown(&self) -> String {
        let show = |program: &str, args: &[&str]| {
            let output = self.lab.in_client(|| Command::new(program).args(args).output().unwrap()).unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        show("tc", &["qdisc", "show"])
            + &show("tc", &["filter", "show", "dev", DEVICE, "ingress"])
            + &show("ip", &["-br", "link"])
    }
    pub(crate) fn undo(&self) -> fathom_shaper::Undone {
        self.lab.in_client(|| fathom_shaper::undo(&self.place())).unwrap().unwrap()
    }
}

impl Drop for Modem {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn mbit(n: u64) -> Rate {
    Rate::from_bits_per_second(n * 1_000_000)
}

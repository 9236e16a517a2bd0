//! Settings of a test, and an estimate of its traffic.
use crate::{Terms, TestError};
use fathom_os::clock::Clock;
use fathom_probe::protocol::FlowLoad;
use fathom_probe::{PhasePlan, ProbeKind, ProbeSpec, RRUL_CLASSES};
use fathom_run::PhaseKind;
use fathom_scenario::{WorkloadKind, WorkloadPlan};
use fathom_units::{Bytes, Duration, Ecn, Rate};

/// The port of `fathom serve`, TCP and UDP.
pub const DEFAULT_PORT: u16 = fathom_probe::protocol::DEFAULT_PORT;

/// Maximum number of flows; more would measure the host instead of the link.
const FLOWS_LIMIT: u32 = 128;

/// Time that applications need in a phase: seven pages, seven segments of video, three ratings of a
/// call.
const APPLICATIONS_FOR: Duration = Duration::from_secs(15);

/// Address family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// All settings of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct TestConfig {
    /// The clock of the run. An emulated line and the test over it share one.
    pub clock: Clock,
    /// `host`, `host:port`, or `[v6]:port`; the default port is [`DEFAULT_PORT`].
    pub server: String,
    /// URL of another server that carries the load.
    pub load: Option<String>,
    /// Restricts the address family; `None` takes the first address that answers.
    pub family: Option<Family>,
    /// Authentication token, if the server requires one.
    pub token: Option<String>,
    /// TCP flows in each loaded direction; 0 if others generate the load.
    pub flows: u32,
    /// Congestion control of the senders at both ends.
    pub congestion_control: String,
    /// Maximum segment size of the load in both directions, as announced by TCP: payload and TCP
    /// options. `None` leaves it to the path.
    pub segment_bytes: Option<u16>,
    /// DSCP of the probes that this host sends, six bits.
    pub probe_dscp: u8,
    /// DSCP of the load that this host sends.
    pub load_dscp: u8,
    /// ECN codepoint of UDP probes and of a UDP load, in both directions. Then the codepoints with
    /// which they arrive are recorded.
    pub ecn: Option<Ecn>,
    /// The flows of each direction have the classes of [`RRUL_CLASSES`], at both ends, and so have
    /// UDP probes. See [`TestConfig::rrul`].
    pub classes: bool,
    /// Load of each direction at a chosen rate, all flows together; `None`: TCP, as fast as
    /// possible.
    pub load_rate: Option<FlowLoad>,
    /// Applications that are measured, next to the load and without it.
    pub applications: Vec<WorkloadPlan>,
    /// An application that is the load; see [`TestConfig::loaded_by`].
    pub load_application: Option<WorkloadPlan>,
    /// The phases, in order.
    pub phases: Vec<PhasePlan>,
    /// Interval of each probe type. It is increased if the probes would use more than 5 % of the
    /// link.
    pub sample_every: Duration,
    /// Data cap: the test ends after this many payload bytes of load, both directions together.
    pub max_bytes: Option<Bytes>,
    /// Data of the bursts in each direction which check the size of its buffer after the phases.
    /// `None`, or a server without bursts: no check.
    pub burst_bytes: Option<Bytes>,
    /// Probe types to send.
    pub probes: Vec<ProbeKind>,
    /// Interval of TCP_INFO samples of the load flows.
    pub tcp_info_every: Duration,
    /// The test ends if nothing arrives from the server for this long.
    pub patience: Duration,
}

impl TestConfig {
    /// The default test against `server`.
    pub fn new(server: &str) -> Self {
        TestConfig {
            clock: Clock::start(),
            server: server.to_owned(),
            load: None,
            family: None,
            token: None,
            flows: 4,
            // A loss-based sender fills any buffer. With BBR, the same buffer was filled only to a
            // tenth of its depth.
            congestion_control: "cubic".to_owned(),
            segment_bytes: None,
            probe_dscp: 0,
            load_dscp: 0,
            ecn: None,
            classes: false,
            load_rate: None,
            applications: Vec::new(),
            load_application: None,
            phases: PhasePlan::default_sequence(),
            sample_every: Duration::from_millis(50),
            max_bytes: None,
            burst_bytes: None,
            probes: ProbeKind::ALL.into_iter().filter(|kind| kind.class().is_none()).collect(),
            tcp_info_every: Duration::from_millis(50),
            patience: Duration::from_secs(10),
        }
    }
}

impl TestConfig {
    /// These settings with applications. They run for 15 s without load, after the
    /// idle phase, whose latency they would change, and at least as long with each load.
    #[must_use]
    pub fn with_applications(mut self, applications: Vec<WorkloadPlan>) -> Self {
        if applications.is_empty() {
            return self;
        }
        self.applications = applications;
        let both = |phase: PhasePlan| {
            let min = phase.min.max(APPLICATIONS_FOR);
            let again = PhasePlan { min, max: min, ..phase };
            match phase.kind {
                PhaseKind::Idle => Vec::from([phase, again]),
                kind if kind.is_loaded() => Vec::from([PhasePlan { min: min.min(phase.max), ..phase }]),
                _ => Vec::from([phase]),
            }
        };
        self.phases = self.phases.into_iter().flat_map(both).collect();
        self
    }
    /// These settings with an application as the load: its flows if they are transfers without end,
    /// otherwise the application itself. Phases with another load are left out.
    #[must_use]
    pub fn loaded_by(mut self, application: WorkloadPlan) -> Self {
        let direction = application.direction;
        self.phases.retain(|phase| phase.kind.loads().is_empty() || phase.kind.loads() == [direction]);
        self.load_dscp = application.edge.dscp;
        if matches!(application.kind, WorkloadKind::Bulk { .. } | WorkloadKind::Swarm { .. }) {
            self.flows = application.flows;
            self.congestion_control = application.transport.congestion_control;
        } else {
            self.flows = 0;
            self.load_application = Some(application);
        }
        self
    }
    /// These settings for Realtime Response Under Load, the test `rrul` of flent: load in both
    /// directions, with a flow of each class, for `load`.
    #[must_use]
    pub fn rrul(self, load: Duration) -> Self {
        let [idle, both, drain] = [PhaseKind::Idle, PhaseKind::Both, PhaseKind::Drain].map(PhasePlan::of);
        let both = PhasePlan { min: both.min.min(load), max: load, ..both };
        let (flows, probes) = (RRUL_CLASSES.len() as u32, ProbeKind::ALL.to_vec());
        TestConfig { classes: true, flows, probes, phases: vec![idle, both, drain], ..self }
    }
    /// These settings, as far as a server's terms allow them.
    pub(crate) fn within(&self, terms: Terms) -> Self {
        let mut config = self.clone();
        if terms.one_flow {
            config.flows = config.flows.min(1);
            config.phases.retain(|phase| phase.kind.loads().len() < 2);
        }
        for phase in config.phases.iter_mut().filter(|phase| phase.kind.is_loaded()) {
            phase.max = terms.longest_load.map_or(phase.max, |longest| longest.min(phase.max));
            phase.min = phase.min.min(phase.max);
        }
        let mut left = terms.longest_test.unwrap_or(Duration::MAX);
        config.phases.retain_mut(|phase| {
            phase.max = phase.max.min(left);
            let has_time = phase.max >= phase.min;
            left = left.saturating_sub(if has_time { phase.max } else { Duration::ZERO });
            has_time
        });
        config.sample_every = config.sample_every.max(terms.shortest_interval.unwrap_or_default());
        config
    }
    /// Longest duration of all phases.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.phases.iter().fold(Duration::ZERO, |sum, phase| sum + phase.max)
    }
    /// Checks the settings for contradictions.
    pub(crate) fn check(&self) -> Result<(), TestError> {
        let fail = |problem: String| Err(TestError::Config(problem));
        let shortest = Duration::from_millis(1);
        if self.phases.is_empty() {
            return fail("no phases (give at least one)".to_owned());
        }
        if let Some(p) = self.phases.iter().find(|p| p.min > p.max) {
            return fail(format!(
                "phase {:?}: the minimum of {} exceeds the maximum of {}",
                p.kind, p.min, p.max
            ));
        }
        if self.probes.is_empty() {
            return fail("no probes (give at least one)".to_owned());
        }
        if self.flows > FLOWS_LIMIT {
            return fail(format!("{} flows exceed the limit of {FLOWS_LIMIT}", self.flows));
        }
        if self.load_rate.is_some() && self.flows == 0 {
            return fail("no flows (give at least one)".to_owned());
        }
        for (name, value) in [
            ("probe interval", self.sample_every),
            ("TCP_INFO interval", self.tcp_info_every),
            ("patience", self.patience),
        ] {
            if value < shortest {
                return fail(format!("{name} {value} is too short (minimum {shortest})"));
            }
        }
        Ok(())
    }
}

/// Maximum bytes that a test transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Bytes sent by the user.
    pub up: Bytes,
    /// Bytes received by the user.
    pub down: Bytes,
}

/// Upper estimate of the traffic of `config` on a link with these rates: all phases at their
/// maximum duration.
pub fn estimate_cost(config: &TestConfig, up: Rate, down: Rate) -> Cost {
    let seconds = |loaded: &[PhaseKind]| {
        let phases = config.phases.iter().filter(|p| loaded.contains(&p.kind));
        phases.fold(Duration::ZERO, |sum, p| sum + p.max)
    };
    let limit = config.max_bytes.unwrap_or(Bytes(u64::MAX));
    let load_up = up.bytes_in(seconds(&[PhaseKind::Up, PhaseKind::Both]));
    // Applications may use the whole line in the second idle phase.
    let is_used = |p: &&PhasePlan| p.kind == PhaseKind::Idle && !config.applications.is_empty();
    let used = config.phases.iter().filter(is_used).skip(1).fold(Duration::ZERO, |sum, p| sum + p.max);
    let load_down = down.bytes_in(seconds(&[PhaseKind::Down, PhaseKind::Both]) + used);
    let all = config.longest();
    let sent = |kind: &ProbeKind| all.as_nanos() / kind.interval(config.sample_every).as_nanos().max(1);
    let probes = |bytes: fn(&ProbeSpec) -> Bytes| {
        Bytes(config.probes.iter().map(|kind| sent(kind) * bytes(kind.spec()).get()).sum())
    };
    let bursts = |load: Bytes| if load == Bytes(0) { load } else { config.burst_bytes.unwrap_or_default() };
    Cost {
        up: (load_up + bursts(load_up)).min(limit) + probes(|spec| spec.up),
        down: (load_down + bursts(load_down)).min(limit) + probes(|spec| spec.down),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_of_a_server_limit_the_load_and_nothing_else() {
        let config = TestConfig::new("x");
        assert_eq!(config.within(Terms::default()), config);
        let ten = Duration::from_secs(10);
        let limited = config.within(Terms { one_flow: true, longest_load: Some(ten), ..Terms::default() });
        let phases: Vec<_> = limited.phases.iter().map(|phase| (phase.kind, phase.max)).collect();
        let [idle, drain] = [PhaseKind::Idle, PhaseKind::Drain].map(PhasePlan::of);
        let loaded = [(PhaseKind::Down, ten), (PhaseKind::Up, ten)];
        assert_eq!(phases, [&[(idle.kind, idle.max)], &loaded[..], &[(drain.kind, drain.max)]].concat());
        assert_eq!(limited.flows, 1);
        assert_eq!(
            TestConfig { flows: 0, ..config }.within(Terms { one_flow: true, ..Terms::default() }).flows,
            0
        );
    }

    #[test]
    fn a_test_ends_within_the_time_of_the_server_and_keeps_its_interval() {
        let config = TestConfig::new("x");
        let (longest_test, shortest_interval) =
            (Some(Duration::from_secs(40)), Some(Duration::from_millis(80)));
        let limited = config.within(Terms { longest_test, shortest_interval, ..Terms::default() });
        let seconds: Vec<u64> =
            limited.phases.iter().map(|phase| phase.max.as_nanos() / 1_000_000_000).collect();
        // Idle, then the download; the upload has 5 of at least 6 s left; draining takes 1 s.
        assert_eq!((seconds, limited.sample_every), (vec![5, 30, 5], Duration::from_millis(80)));
        assert_eq!(limited.phases[2].kind, PhaseKind::Drain);
    }

    #[test]
    fn cost_counts_each_loaded_direction_and_respects_the_limit() {
        let mut config = TestConfig { probes: Vec::new(), ..TestConfig::new("x") };
        let (up, down) = (Rate::from_bits_per_second(8_000_000), Rate::from_bits_per_second(80_000_000));
        // 30 s of one direction and 30 s of both.
        assert_eq!(
            estimate_cost(&config, up, down),
            Cost { up: Bytes(60_000_000), down: Bytes(600_000_000) }
        );
        config.max_bytes = Some(Bytes(100_000_000));
        assert_eq!(
            estimate_cost(&config, up, down),
            Cost { up: Bytes(60_000_000), down: Bytes(100_000_000) }
        );
    }
}

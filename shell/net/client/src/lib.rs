//! Runs probes and load on real sockets and produces the `Run` of a test.
//!
//! Threads: one for probes, one per load flow, and one that reads the control connection. The
//! caller's thread does the accounting, decides when phases end, and reports events.
#![deny(missing_docs)]

mod applications;
mod bursts;
mod config;
mod control;
mod echo;
mod error;
mod event;
mod flows;
mod look_up;
mod path;
mod peer;
mod ping;
mod probes;
mod record;
mod resolve;
mod test;

pub use bursts::{DEFAULT_BUDGET, LEAST_BUDGET, measure_buffers};
pub use config::{Cost, DEFAULT_PORT, Family, TestConfig, estimate_cost};
pub use control::{credentials, session_error};
pub use error::TestError;
pub use event::Event;
pub use fathom_probe::protocol::FlowLoad;
pub use fathom_probe::{HopStatus, IcmpError, PhasePlan, PingTally, ProbeKind, ReplyKind, SeriesReply};
pub use flows::{load_socket, payload_bytes, receive_datagrams, receive_load, send_datagrams, send_load};
pub use path::{PathConfig, probe_path};
pub use peer::{
    Encrypted, Encryption, Exchange, ExchangeStage, FlowPlan, LoadedBy, Meter, OpenFlow, Peer,
    PersistentRequests, Requests, StartExchange, StartRequests, Terms, Transfer, UdpEncoding, UdpProbes,
    UdpReply, WebProbe, udp_socket,
};
pub use ping::{
    Located, MonitorConfig, PingConfig, PingEvent, PingProbe, PingSession, PingTarget, monitor, ping,
    ping_session,
};
pub use probes::HttpExchange;
pub use record::host;
use resolve::is_translated;
pub use resolve::{Limits, resolve_server};

use applications::{ApplicationSettings, Played};
use control::Control;
use fathom_burst::BurstPlan;
use fathom_os::clock::wall_now;
use fathom_probe::protocol::{SessionId, Ticket};
use fathom_probe::session::Hello;
use fathom_probe::{RRUL_CLASSES, one_way_series};
use fathom_run::{Fact, Instrument, Interruption, Note, Path, Run, SCHEMA_VERSION, Series, variation_series};
use fathom_scenario::WorkloadPlan;
use fathom_units::{Direction, Duration, WallTime};
use flows::FathomPeer;
use probes::{ProbeResult, ProbeSettings};
use record::{Record, holds_something};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use test::{Message, Test};

/// Maximum wait for the server's final counts.
const BYE_WAIT: Duration = Duration::from_secs(2);

/// Runs the test against `fathom serve`. Setting `stop` ends it early.
///
/// # Errors
/// Only if nothing was measured. Later problems are reported in `partial` of the returned run.
pub fn run_test(
    config: &TestConfig,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Run, TestError> {
    run_test_loaded_by(config, None, stop, on_event)
}

/// As [`run_test`], with the load from another server if there is one.
///
/// # Errors
/// As [`run_test`].
pub fn run_test_loaded_by(
    config: &TestConfig,
    load: Option<Arc<dyn Peer>>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Run, TestError> {
    config.check()?;
    let config = &config.within(load.as_ref().map(|load| load.terms()).unwrap_or_default());
    let limits = Limits { stop, clock: config.clock, patience: config.patience };
    let addresses = resolve_server(&config.server, DEFAULT_PORT, config.family)?;
    let mut control = Control::open(config, &addresses, &limits)?;
    if load.is_none() && config.probes.contains(&ProbeKind::Hop) {
        control.probe_hops();
    }
    let mut record = Record::new(on_event);
    describe_session(config, &control, &mut record);
    let own = FathomPeer::new(control.address, &control.hello)
        .map_err(|e| TestError::Host(format!("memory for load: {e}")))?;
    let session = control.hello.session;
    let (own, bursts) = (Arc::new(own), FlowLoad::Burst(BurstPlan::default()));
    let burst_peer = Some(own.clone()).filter(|own| load.is_none() && own.takes(bursts));
    let mut peer: Arc<dyn Peer> = own;
    if let Some(load) = load {
        note_load(load.as_ref(), &mut record);
        peer = Arc::new(LoadedBy { probed: peer, load });
    }
    check_load(config, peer.as_ref())?;
    let serves_applications = control.hello.loads.iter().any(|known| known == FlowLoad::Objects.name());
    check_applications(config, serves_applications)?;
    let mut test = Test::new(config, stop, peer, Some(control), record);
    test.burst_peer = burst_peer;
    measure(test, session)
}

/// Runs the test against a server with another protocol. Setting `stop` ends it early.
///
/// # Errors
/// Only if nothing was measured. Later problems are reported in `partial` of the returned run.
pub fn run_test_with(
    config: &TestConfig,
    peer: Arc<dyn Peer>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Run, TestError> {
    config.check()?;
    check_load(config, peer.as_ref())?;
    check_applications(config, false)?;
    let mut record = Record::new(on_event);
    let terms = peer.terms();
    note_terms(config, terms, &mut record);
    let mut config = config.within(terms);
    if !carries_load(peer.as_ref()) {
        config.flows = 0;
    }
    let config = &config;
    record.event(Event::Connected(peer.address()));
    describe(config, peer.address(), &mut record);
    record.fact(Fact::Protocol, peer.protocol());
    if peer.probes().contains(&ProbeKind::Udp) {
        note_load(peer.as_ref(), &mut record);
    } else {
        let (protocol, takes_uploads) = (peer.protocol().to_owned(), peer.carries(Direction::Up));
        record.note(Note::OtherServer { protocol, takes_uploads });
    }
    // Identifies the ICMP probes of this test.
    let mut id = SessionId([0; 16]);
    getrandom::fill(&mut id.0).map_err(|e| TestError::Host(format!("random numbers: {e}")))?;
    measure(Test::new(config, stop, peer, None, record), Ticket { id, key: None })
}

/// Refuses a load that the server would not carry as requested, and marks that it would not report.
fn check_load(config: &TestConfig, peer: &dyn Peer) -> Result<(), TestError> {
    let (server, problem) = if config.load_rate.is_some_and(|load| !peer.takes(load)) {
        (config.load.as_ref().unwrap_or(&config.server), "it carries no such load")
    } else if config.ecn.is_some() && !peer.marks() {
        (&config.server, "it reports no ECN (a current `fathom serve` does)")
    } else if config.classes && (config.load.is_some() || !peer.marks()) {
        (&config.server, "it marks no classes of traffic (a current `fathom serve` does)")
    } else {
        return Ok(());
    };
    Err(TestError::Server { server: server.clone(), problem: problem.to_owned() })
}

/// Refuses applications that the server does not answer.
fn check_applications(config: &TestConfig, are_served: bool) -> Result<(), TestError> {
    if are_served || (config.applications.is_empty() && config.load_application.is_none()) {
        return Ok(());
    }
    let problem = "it serves no applications (a current `fathom serve` does)";
    Err(TestError::Server { server: config.server.clone(), problem: problem.to_owned() })
}

fn carries_load(peer: &dyn Peer) -> bool {
    [Direction::Down, Direction::Up].iter().any(|direction| peer.carries(*direction))
}

/// Notes which load is missing.
fn note_load(peer: &dyn Peer, record: &mut Record<'_>) {
    if !carries_load(peer) {
        record.note(Note::NoLoad { protocol: peer.protocol().to_owned() });
    } else if !peer.carries(Direction::Up) {
        record.note(Note::NoUploads);
    }
}

/// Notes the limits of a server for probes.
fn note_terms(config: &TestConfig, terms: Terms, record: &mut Record<'_>) {
    if let Some(interval) = terms.shortest_interval.filter(|shortest| *shortest > config.sample_every) {
        record.note(Note::ServerInterval { interval_s: interval.as_secs_f64() });
    }
    note_time_limit(config, terms.longest_test.unwrap_or(Duration::MAX), record);
}

fn note_time_limit(config: &TestConfig, limit: Duration, record: &mut Record<'_>) {
    if config.longest() > limit {
        let (limit_s, needed_s) = (limit.as_secs_f64(), config.longest().as_secs_f64());
        record.note(Note::ServerTimeLimit { limit_s, needed_s });
    }
}

fn measure(mut test: Test<'_>, session: Ticket) -> Result<Run, TestError> {
    let (config, address) = (test.config, test.peer.address());
    // An emulated line may have started the clock earlier: `started` is the wall time of its zero.
    let started = WallTime(wall_now().0.saturating_sub(config.clock.now().as_nanos()));
    let finish = Arc::new(AtomicBool::new(false));
    let outbox = test.outbox.clone();
    let reader = test.control.as_ref().map(|control| {
        control.listen(finish.clone(), move |input| drop(outbox.send(Message::Control(input))))
    });
    let prober = start_probes(&test, session);
    let players = start_applications(&test, session);
    let partial = test.run().err();
    let bursts = if partial.is_none() { test.check_buffers() } else { Vec::new() };
    let gathered = end(&mut test, prober);
    let played = end_applications(&test, players);
    finish.store(true, Ordering::Relaxed);
    drop(reader.map(JoinHandle::join));

    let mut run = assemble(&mut test, (gathered, played), partial);
    run.bursts = bursts;
    run.started = started.to_string();
    run.title = match &config.load {
        Some(load) => format!("{} ({address}), load: {load}", config.server),
        None => format!("{} ({address})", config.server),
    };
    match run.partial {
        Some(_) if test.stop.load(Ordering::Relaxed) && !holds_something(&run.series) => {
            Err(TestError::Stopped)
        }
        Some(reason) if !holds_something(&run.series) => Err(TestError::Lost(address, reason)),
        _ => Ok(run),
    }
}

fn describe(config: &TestConfig, address: SocketAddr, record: &mut Record<'_>) {
    record.fact(Fact::Server, &config.server);
    record.fact(Fact::Address, address);
    if is_translated(&config.server, address) {
        record.note(Note::ThroughNat64);
    }
    if let Some(load) = &config.load {
        record.fact(Fact::LoadServer, load);
    }
    if config.classes {
        record.fact(Fact::Dscp, RRUL_CLASSES.map(|(name, _)| name).join(", "));
    } else if config.probe_dscp > 0 || config.load_dscp > 0 {
        let (probes, load) = (config.probe_dscp, config.load_dscp);
        record.fact(Fact::Dscp, format!("{probes} (probes), {load} (load)"));
    }
    // Without its own flows, the test does not describe the load.
    if config.flows > 0 {
        record.fact(Fact::FlowsPerDirection, config.flows);
        match config.load_rate {
            Some(FlowLoad::Datagrams(rate)) => record.fact(Fact::Udp, rate),
            Some(FlowLoad::Paced(rate)) => record.fact(Fact::Pace, rate),
            Some(FlowLoad::Objects | FlowLoad::Burst(_)) | None => {}
        }
        if !matches!(config.load_rate, Some(FlowLoad::Datagrams(_))) {
            record.fact(Fact::CongestionControl, &config.congestion_control);
        }
    }
    record.fact(Fact::ProbeInterval, config.sample_every);
    let applications = config.applications.iter().map(|plan| plan.name.clone());
    let load = config.load_application.iter().map(|plan| format!("{} (load)", plan.name));
    let names: Vec<String> = applications.chain(load).collect();
    if !names.is_empty() {
        record.fact(Fact::Workloads, names.join(", "));
    }
}

fn describe_session(config: &TestConfig, control: &Control, record: &mut Record<'_>) {
    let Hello { seen_as, version, limits, congestion_controls, .. } = &control.hello;
    record.event(Event::Connected(control.address));
    describe(config, control.address, record);
    record.fact(Fact::SeenAs, seen_as);
    record.fact(Fact::ServerVersion, version);
    note_time_limit(config, Duration::from_secs(limits.seconds), record);
    let wanted = &config.congestion_control;
    if config.load.is_none() && wanted != "-" && !congestion_controls.contains(wanted) {
        record.note(Note::CongestionControlUnavailable { requested: wanted.clone() });
    }
}

fn start_probes(test: &Test<'_>, session: Ticket) -> JoinHandle<ProbeResult> {
    let answered = test.peer.probes();
    let is_sent = |kind: &&ProbeKind| answered.contains(kind) || !kind.is_of_server();
    let kinds = test.config.probes.iter().filter(is_sent);
    let settings = ProbeSettings {
        peer: test.peer.clone(),
        session,
        kinds: kinds.copied().collect(),
        interval: test.config.sample_every,
        dscp: test.config.probe_dscp,
        load_dscp: (!test.config.classes).then_some(test.config.load_dscp),
        ecn: test.config.ecn,
        classes: test.config.classes,
        clock: test.clock,
    };
    let outbox = test.outbox.clone();
    probes::start(settings, test.probes.clone(), move |event| drop(outbox.send(Message::Probe(event))))
}

/// Number of the first connection of an application, beyond those of all flows of a test.
const FIRST_APPLICATION_NUMBERS: [u32; 2] = [1 << 30, 1 << 31];

/// Starts the applications that are measured, and the one that is the load.
fn start_applications(test: &Test<'_>, session: Ticket) -> [Option<JoinHandle<Played>>; 2] {
    let start = |plans: Vec<WorkloadPlan>, is_load, first_number| {
        let (address, clock) = (test.peer.address(), test.clock);
        let shared = if is_load { &test.load_application } else { &test.applications };
        let settings = ApplicationSettings { address, session, plans, clock, is_load, first_number };
        (!settings.plans.is_empty()).then(|| applications::start(settings, shared.clone()))
    };
    let [first, second] = FIRST_APPLICATION_NUMBERS;
    let load = test.config.load_application.iter().cloned().collect();
    [start(test.config.applications.clone(), false, first), start(load, true, second)]
}

fn end_applications(test: &Test<'_>, threads: [Option<JoinHandle<Played>>; 2]) -> Vec<Played> {
    for shared in [&test.applications, &test.load_application] {
        shared.finish.store(true, Ordering::Relaxed);
    }
    threads.into_iter().flatten().filter_map(|thread| thread.join().ok()).collect()
}

/// Waits for late replies, then for the server's final counts. Failures here do not affect what was
/// measured.
fn end(test: &mut Test<'_>, prober: JoinHandle<ProbeResult>) -> Option<ProbeResult> {
    if test.stop.load(Ordering::Relaxed) {
        test.probes.abort();
    }
    test.probes.finish();
    let mut alive = true;
    while !prober.is_finished() {
        alive &= test.pump(Duration::from_millis(10)).is_ok();
        if test.stop.load(Ordering::Relaxed) {
            test.probes.abort();
        }
    }
    match &mut test.control {
        Some(control) if alive => control.say_bye(),
        _ => alive = false,
    }
    let until = test.clock.now() + BYE_WAIT;
    while alive && test.udp_received.is_none() && test.clock.now() < until {
        if test.pump(Duration::from_millis(10)).is_err() {
            break;
        }
    }
    prober.join().ok()
}

fn assemble(
    test: &mut Test<'_>,
    (mut gathered, played): (Option<ProbeResult>, Vec<Played>),
    mut partial: Option<Interruption>,
) -> Run {
    test.settle_accounts();
    if test.most_others > 0 {
        test.record.note(Note::ServerShared { sessions: test.most_others });
    }
    let mut load_probes = Series::new(test.load_probe_key());
    test.load_probes.sort_by_key(|probe| probe.at);
    test.load_probes.iter().for_each(|probe| load_probes.push(*probe));
    test.record.add([load_probes]);
    gathered.iter_mut().for_each(|gathered| test.add_arrivals(&mut gathered.udp));
    test.add_ecn(gathered.as_ref().map(|gathered| &gathered.udp));
    let fit = test.final_fit();
    for mut one in played {
        std::mem::take(&mut one.notes).into_iter().for_each(|note| test.record.note(note));
        let series = one.into_series(fit.as_ref(), &test.record.phases);
        test.record.add(series);
    }
    let (mut instrument, mut path) = (Instrument::default(), None);
    if let Some(mut gathered) = gathered {
        if let Some(fit) = fit {
            let one_way = one_way_series(&fit, &gathered.udp, test.udp_received);
            for (_, series) in one_way {
                test.record.add(variation_series(&series, &test.record.phases));
                test.record.add([series]);
            }
        }
        let return_path = test.return_path.hops();
        path = gathered.path.take().map(|there| Path { return_path, ..there });
        instrument = assemble_instrument(gathered, &mut test.record);
    } else {
        partial.get_or_insert(Interruption::ProbingFailed);
    }
    instrument.clock_offset_s = fit.map(|f| [f.offset_ns as f64 / 1e9, f.uncertainty.as_secs_f64()]);
    instrument.clock_drift_ratio = fit.map(|f| f.drift_ratio);
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "test".to_owned(),
        started: String::new(),
        title: String::new(),
        host: host(),
        facts: std::mem::take(&mut test.record.facts),
        phases: std::mem::take(&mut test.record.phases),
        series: test.record.take_series(),
        instrument,
        partial,
        capture: None,
        path,
        history: None,
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: std::mem::take(&mut test.record.notes),
    }
}

/// Adds the series of the probes, and returns the quality of their measurement.
fn assemble_instrument(gathered: ProbeResult, record: &mut Record<'_>) -> Instrument {
    record.add(gathered.series);
    record.fact(Fact::Priority, gathered.priority);
    for step in &gathered.clock_steps_s {
        record.note(Note::ClockStepped { step_s: *step });
    }
    Instrument {
        clock_steps_s: gathered.clock_steps_s,
        kernel_timestamp_ratio: gathered.kernel_timestamp_ratio,
        ..gathered.watch.into_instrument()
    }
}

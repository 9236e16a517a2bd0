//! Measures the buffers of a line with bursts of datagrams, while probes of another flow show
//! whether they wait behind them.
use crate::control::Control;
use crate::echo::{EchoHost, is_url};
use crate::flows::{FathomPeer, run_burst};
use crate::peer::Peer;
use crate::probes::{self, ProbeEvent, ProbeResult, ProbeSettings};
use crate::record::Record;
use crate::resolve::{Limits, resolve_server};
use crate::test::Test;
use crate::{
    DEFAULT_PORT, Event, TestConfig, TestError, assemble_instrument, describe, describe_session, host,
};
pub use fathom_burst::LEAST_BUDGET;
use fathom_burst::{BurstPlan, BurstPlanner};
use fathom_os::clock::wall_now;
use fathom_probe::ProbeKind;
use fathom_probe::protocol::FlowLoad;
use fathom_run::{Burst, Interruption, Note, Run, SCHEMA_VERSION};
use fathom_units::{Bytes, Direction, Duration, PerDirection, WallTime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

/// Interval of reports of the server, which are not used: the longest.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Data of the bursts in each direction if no limit is given: 0.8 s of 200 Mbit/s, and the bursts
/// that fill a buffer of 4 MB three times.
pub const DEFAULT_BUDGET: Bytes = Bytes(40_000_000);

/// Measures the buffers in these directions with at most `config.max_bytes` in each. Setting `stop`
/// ends it early. `on_burst` gets each burst.
///
/// The server runs `fathom serve`. A URL names a host that only answers echo requests, which shows
/// the upload.
///
/// # Errors
/// Only if nothing was measured. Later problems are reported in `partial` of the returned run.
pub fn measure_buffers(
    config: &TestConfig,
    directions: &[Direction],
    stop: &AtomicBool,
    on_burst: &mut dyn FnMut(&Burst),
) -> Result<Run, TestError> {
    let budget = config.max_bytes.unwrap_or(DEFAULT_BUDGET);
    if budget < LEAST_BUDGET {
        return Err(TestError::Config(format!("data cap of {budget} (expected at least {LEAST_BUDGET})")));
    }
    let limits = Limits { stop, clock: config.clock, patience: config.patience };
    if is_url(&config.server) {
        return measure_by_echo(config, (directions, budget), &limits, on_burst);
    }
    let addresses = resolve_server(&config.server, DEFAULT_PORT, config.family)?;
    let mut control = Control::open(config, &addresses, &limits)?;
    control.report_every(REPORT_EVERY);
    let mut ignore = |_| ();
    let mut record = Record::new(&mut ignore);
    describe_session(config, &control, &mut record);
    let peer = FathomPeer::new(control.address, &control.hello)
        .map_err(|e| TestError::Host(format!("memory for load: {e}")))?;
    let peer = Arc::new(peer);
    if !peer.takes(FlowLoad::Burst(BurstPlan::default())) {
        let problem = "it sends no bursts (a current `fathom serve` does)".to_owned();
        return Err(TestError::Server { server: config.server.clone(), problem });
    }
    let started = start_of(config);
    let shared = Arc::new(probes::Shared::default());
    let (report, notes) = channel();
    let settings = ProbeSettings {
        peer: peer.clone(),
        session: control.hello.session,
        kinds: vec![ProbeKind::Udp],
        interval: config.sample_every,
        dscp: config.probe_dscp,
        load_dscp: None,
        ecn: None,
        classes: false,
        clock: config.clock,
    };
    // Nobody needs events after the end.
    let prober = probes::start(settings, shared.clone(), move |event| drop(report.send(event)));
    shared.begin(PerDirection::default());
    let mut all = Vec::new();
    let mut partial = None;
    for (direction, first_number) in directions.iter().zip(FIRST_NUMBERS) {
        let planner = BurstPlanner::new(budget);
        let class = config.load_dscp << 2;
        let line = Line { peer: &peer, direction: *direction, first_number, class, probes: &shared };
        let sent = send_all(&line, planner, &limits, &mut |burst| {
            on_burst(&burst);
            all.push(burst);
        });
        partial = partial.or(sent.err());
    }
    shared.finish();
    let gathered = prober.join().ok();
    control.say_bye();
    for event in notes.try_iter() {
        if let ProbeEvent::Note(note) = event {
            record.note(note);
        }
    }
    if all.is_empty() {
        let reason = partial.unwrap_or(Interruption::Stopped);
        let is_stopped = stop.load(Ordering::Relaxed);
        return Err(if is_stopped { TestError::Stopped } else { TestError::Lost(control.address, reason) });
    }
    let mut run = assemble(config, record, gathered, all);
    run.title = format!("{} ({})", config.server, control.address);
    run.started = started.to_string();
    run.partial = partial;
    Ok(run)
}

/// When the clock of a run started.
fn start_of(config: &TestConfig) -> WallTime {
    WallTime(wall_now().0.saturating_sub(config.clock.now().as_nanos()))
}

/// Measures the buffer of the upload to a host that answers echo requests.
fn measure_by_echo(
    config: &TestConfig,
    (directions, budget): (&[Direction], Bytes),
    limits: &Limits<'_>,
    on_burst: &mut dyn FnMut(&Burst),
) -> Result<Run, TestError> {
    if !directions.contains(&Direction::Up) {
        let problem = "the download needs `fathom serve`";
        return Err(TestError::Config(format!("{}: {problem}", config.server)));
    }
    let host = EchoHost::find(config, limits)?;
    let mut ignore = |_| ();
    let mut record = Record::new(&mut ignore);
    describe(config, host.address, &mut record);
    let started = start_of(config);
    let (mut planner, mut all, mut partial) = (BurstPlanner::echo(budget), Vec::new(), None);
    while let Some(plan) = planner.next_burst() {
        let affordable = (planner.left() + plan.bytes()).get() / u64::from(plan.payload_bytes);
        match echoed(&host, plan, affordable, limits) {
            Ok(burst) => {
                planner.add(&burst);
                on_burst(&burst);
                all.push(burst);
            }
            Err(reason) => {
                partial = Some(reason);
                break;
            }
        }
    }
    match partial {
        Some(Interruption::Stopped) if all.is_empty() => return Err(TestError::Stopped),
        Some(reason) if all.is_empty() => return Err(TestError::Lost(host.address, reason)),
        _ => {}
    }
    let mut run = assemble(config, record, None, all);
    run.title = format!("{} ({})", config.server, host.address.ip());
    run.started = started.to_string();
    run.partial = partial;
    Ok(run)
}

/// A burst of echo requests with replies, or why there is none.
fn echoed(host: &EchoHost, plan: BurstPlan, most: u64, limits: &Limits<'_>) -> Result<Burst, Interruption> {
    let sent = host.burst(plan, most, limits);
    if limits.stop.load(Ordering::Relaxed) {
        return Err(Interruption::Stopped);
    }
    let direction = Direction::Up;
    let burst = sent.map_err(|error| Interruption::NoFlowLeft { direction, message: error.to_string() })?;
    // Those after the burst are answered, unless the host is gone. The budget may allow none.
    let all = &burst.received_ns;
    let last = all.get((plan.before + plan.count) as usize..).filter(|after| !after.is_empty());
    if last.unwrap_or(all).iter().any(Option::is_some) {
        return Ok(burst);
    }
    Err(Interruption::ServerSilent { server: host.name.clone(), waited_s: limits.patience.as_secs_f64() })
}

/// Bursts after the phases of a test, in the directions that it loaded. They may move `most` bytes
/// together. What fails is only missing.
pub(crate) fn check_buffers(test: &mut Test<'_>, peer: &FathomPeer, most: Bytes) -> Vec<Burst> {
    let Some(budget) = test.config.burst_bytes else { return Vec::new() };
    test.record.event(Event::BurstsStarted);
    let is_loaded = |direction: &Direction| test.record.phases.iter().any(|p| p.kind.loads() == [*direction]);
    let (mut all, mut left) = (Vec::new(), most);
    let limits = Limits { stop: test.stop, clock: test.clock, patience: test.config.patience };
    for (direction, first_number) in Direction::BOTH.into_iter().filter(is_loaded).zip(FIRST_NUMBERS) {
        let budget = budget.min(left);
        let class = test.config.load_dscp << 2;
        let line = Line { peer, direction, first_number, class, probes: &test.probes };
        let sent = send_all(&line, BurstPlanner::check(budget), &limits, &mut |burst| all.push(burst));
        left = left.saturating_sub(budget);
        if sent.is_err() {
            break;
        }
    }
    all
}

/// Numbers of the first bursts in two directions, beyond those of the flows of a test.
const FIRST_NUMBERS: [u32; 2] = [1 << 28, 1 << 29];

/// One direction of the line to a server.
struct Line<'a> {
    peer: &'a FathomPeer,
    direction: Direction,
    first_number: u32,
    /// Traffic class of bursts.
    class: u8,
    probes: &'a probes::Shared,
}

/// Sends the bursts of one direction.
fn send_all(
    line: &Line<'_>,
    mut planner: BurstPlanner,
    limits: &Limits<'_>,
    add: &mut dyn FnMut(Burst),
) -> Result<(), Interruption> {
    let direction = line.direction;
    // The server may still hold the flow of an earlier burst, so no two have the same number.
    let mut numbers = line.first_number..;
    while let Some((plan, number)) = planner.next_burst().zip(numbers.next()) {
        let burst = run_burst(line.peer, (plan, direction), (number, line.class), limits)
            .map_err(|message| Interruption::NoFlowLeft { direction, message })?;
        planner.add(&burst);
        if let Some(rate) = planner.rate() {
            line.probes.set_capacity(direction, rate);
        }
        add(burst);
        if limits.stop.load(Ordering::Relaxed) {
            return Err(Interruption::Stopped);
        }
    }
    Ok(())
}

/// A size of which nothing arrived in one direction, while smaller datagrams did.
pub(crate) fn lost_size(bursts: &[Burst]) -> Option<Note> {
    let longest = |direction, has_passed| {
        let all = bursts.iter().filter(|burst| burst.direction == direction);
        let found = all.filter(|burst| burst.received_ns.iter().any(Option::is_some) == has_passed);
        found.map(|burst| u64::from(burst.payload_bytes + burst.header_bytes)).max()
    };
    Direction::BOTH.into_iter().find_map(|direction| {
        let (ip_bytes, passed_ip_bytes) = (longest(direction, false)?, longest(direction, true)?);
        (ip_bytes > passed_ip_bytes).then_some(Note::LongPacketsLost { ip_bytes, passed_ip_bytes })
    })
}

fn assemble(
    config: &TestConfig,
    mut record: Record<'_>,
    gathered: Option<ProbeResult>,
    bursts: Vec<Burst>,
) -> Run {
    let instrument = gathered.map(|gathered| assemble_instrument(gathered, &mut record)).unwrap_or_default();
    lost_size(&bursts).into_iter().for_each(|note| record.note(note));
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "buffer".to_owned(),
        started: String::new(),
        title: config.server.clone(),
        host: host(),
        facts: std::mem::take(&mut record.facts),
        phases: Vec::new(),
        series: record.take_series(),
        instrument,
        partial: None,
        capture: None,
        path: None,
        history: None,
        bursts,
        switch: None,
        host_traffic: Vec::new(),
        notes: std::mem::take(&mut record.notes),
    }
}

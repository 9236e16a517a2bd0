//! Runs probes and load on real sockets and produces the `Run` of a test.
//!
//! Threads: one for probes, one per load flow, and one that reads the control connection. The
//! caller's thread does the accounting, decides when phases end, and reports events.
#![deny(missing_docs)]

mod config;
mod control;
mod error;
mod event;
mod flows;
mod ledger;
mod probes;
mod record;
mod reflect;
mod resolve;
mod test;

pub use config::{Cost, DEFAULT_PORT, Family, TestConfig, estimate_cost};
pub use error::TestError;
pub use event::Event;
pub use fathom_probe::{PhasePlan, ProbeKind};
pub use record::host;
pub use reflect::{ReflectConfig, ReflectedDelay, Reflection, Reflectors};

use control::Control;
use fathom_os::clock::wall_now;
use fathom_probe::one_way_series;
use fathom_run::{Fact, Interruption, Note, Run, SCHEMA_VERSION};
use fathom_units::{Duration, WallTime};
use probes::{ProbeResult, ProbeSettings};
use record::{Record, holds_something};
use resolve::{Limits, resolve};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use test::{Message, Test};

/// Maximum wait for the server's final counts.
const BYE_WAIT: Duration = Duration::from_secs(2);

/// Runs the test. Setting `stop` ends it early.
///
/// # Errors
/// Only if nothing was measured. Later problems are reported in `partial` of the returned run.
pub fn run_test(
    config: &TestConfig,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Run, TestError> {
    config.check()?;
    let clock = config.clock;
    // An emulated line may have started the clock earlier: `started` is the wall time of its zero.
    let started = WallTime(wall_now().0.saturating_sub(clock.now().as_nanos()));
    let limits = Limits { stop, clock, patience: config.patience };
    let addresses = resolve(&config.server, config.family)?;
    let control = Control::open(config, &addresses, &limits)?;
    let mut record = Record::new(on_event);
    describe(config, &control, &mut record);
    let mut test = Test::new(config, stop, clock, control, record)?;

    let finish = Arc::new(AtomicBool::new(false));
    let outbox = test.outbox.clone();
    let reader = test.control.listen(finish.clone(), move |input| drop(outbox.send(Message::Control(input))));
    let prober = start_probes(config, &test);
    let partial = test.run().err();
    let gathered = end(&mut test, prober);
    finish.store(true, Ordering::Relaxed);
    drop(reader.join());

    let mut run = assemble(&mut test, gathered, partial);
    run.started = started.to_string();
    run.title = format!("{} ({})", config.server, test.control.address);
    match run.partial {
        Some(_) if stop.load(Ordering::Relaxed) && !holds_something(&run.series) => Err(TestError::Stopped),
        Some(reason) if !holds_something(&run.series) => Err(TestError::Lost(test.control.address, reason)),
        _ => Ok(run),
    }
}

fn describe(config: &TestConfig, control: &Control, record: &mut Record<'_>) {
    record.event(Event::Connected {
        address: control.address,
        seen_as: control.hello.seen_as,
        server_version: control.hello.version.clone(),
    });
    record.fact(Fact::Server, &config.server);
    record.fact(Fact::Address, control.address);
    record.fact(Fact::SeenAs, control.hello.seen_as);
    record.fact(Fact::ServerVersion, &control.hello.version);
    // Without its own flows, the test does not describe the load.
    if config.flows > 0 {
        record.fact(Fact::FlowsPerDirection, config.flows);
        record.fact(Fact::CongestionControl, &config.congestion_control);
    }
    record.fact(Fact::ProbeInterval, config.sample_every);
    let longest = config.phases.iter().fold(Duration::ZERO, |sum, p| sum + p.max);
    let allowed = control.hello.limits;
    if longest > Duration::from_secs(allowed.seconds) {
        record
            .note(Note::ServerTimeLimit { limit_s: allowed.seconds as f64, needed_s: longest.as_secs_f64() });
    }
    let wanted = &config.congestion_control;
    if wanted != "-" && !control.hello.congestion_controls.contains(wanted) {
        record.note(Note::CongestionControlUnavailable { requested: wanted.clone() });
    }
}

fn start_probes(config: &TestConfig, test: &Test<'_>) -> std::thread::JoinHandle<ProbeResult> {
    let settings = ProbeSettings {
        address: test.control.address,
        session: test.control.hello.session,
        kinds: config.probes.clone(),
        interval: config.sample_every,
        clock: test.clock,
    };
    let outbox = test.outbox.clone();
    probes::start(settings, test.probes.clone(), move |event| drop(outbox.send(Message::Probe(event))))
}

/// Waits for late replies, then for the server's final counts. Failures here do not affect what was
/// measured.
fn end(test: &mut Test<'_>, prober: std::thread::JoinHandle<ProbeResult>) -> Option<ProbeResult> {
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
    if alive {
        test.control.say_bye();
    }
    let until = test.clock.now() + BYE_WAIT;
    while alive && test.udp_received.is_none() && test.clock.now() < until {
        if test.pump(Duration::from_millis(10)).is_err() {
            break;
        }
    }
    prober.join().ok()
}

fn assemble(test: &mut Test<'_>, gathered: Option<ProbeResult>, mut partial: Option<Interruption>) -> Run {
    test.settle_accounts();
    if test.most_others > 0 {
        test.record.note(Note::ServerShared { sessions: test.most_others });
    }
    let fit = test.final_fit();
    let mut instrument = fathom_run::Instrument::default();
    if let Some(gathered) = gathered {
        if let Some(fit) = fit {
            let one_way = one_way_series(&fit, &gathered.udp, test.udp_received);
            test.record.add(one_way.into_iter().map(|(_, series)| series));
        }
        test.record.add(gathered.series);
        test.record.fact(Fact::Priority, gathered.priority);
        instrument = gathered.watch.into_instrument();
        instrument.clock_steps_s = gathered.clock_steps_s;
        instrument.kernel_timestamp_ratio = gathered.kernel_timestamp_ratio;
    } else {
        partial.get_or_insert(Interruption::ProbingFailed);
    }
    instrument.clock_offset_s = fit.map(|f| [f.offset_ns as f64 / 1e9, f.uncertainty.as_secs_f64()]);
    instrument.clock_drift_ratio = fit.map(|f| f.drift_ratio);
    for step in &instrument.clock_steps_s {
        test.record.note(Note::ClockStepped { step_s: *step });
    }
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
        history: None,
        notes: std::mem::take(&mut test.record.notes),
    }
}

//! Tests of a switch on interfaces of this host: each has its own network namespace, so that frames
//! from one to another pass through the switch.
//!
//! ```text
//!  namespace of a sending port                               namespace of a receiving port
//!  a thread sends: load, pings  ---->  switch under test  ---->  a thread receives
//!  a thread receives replies    <----                     <----  and replies to pings
//! ```
//! An interface itself stays where it is: a macvlan interface on top of it (mode passthru) belongs
//! to the namespace, and vanishes with it, even if this process is killed.

mod engine;
mod error;
mod pause;
mod port;

use engine::Engine;
pub use error::DutError;
pub use fathom_dut::{InPort, Setup, Step};
use fathom_dut::{Outcome, Pattern, Planner, StreamPlan, Traffic, Trouble};
use fathom_os::clock::{Clock, wall_now};
use fathom_run::{Host, Instrument, Interruption, Run, SCHEMA_VERSION, Switch, SwitchPort};
use fathom_units::{Duration, WallTime};
pub use port::{Port, open};
use std::sync::atomic::{AtomicBool, Ordering};

/// Time in which the first frame must pass: a switch learns addresses, and a port may just have
/// come up.
const PASSAGE: Duration = Duration::from_secs(5);
/// Time between two frames that look for a way.
const PASSAGE_EVERY: Duration = Duration::from_millis(100);

/// Tests a switch between these ports, of which the first ones send. Setting `stop` ends it early.
/// `on_step` gets each step.
///
/// # Errors
/// If nothing was measured. After a later failure, the run is partial.
pub fn measure(
    ports: &[Port],
    setup: &Setup,
    clock: Clock,
    stop: &AtomicBool,
    on_step: &mut dyn FnMut(Step),
) -> Result<Run, DutError> {
    let started = WallTime(wall_now().0.saturating_sub(clock.now().as_nanos()));
    let before: Vec<_> = ports.iter().map(|port| pause::counts(&port.statistics())).collect();
    let engine = Engine::start(ports, clock)?;
    check_passage(&engine, ports, setup, stop)?;
    let mut planner = Planner::new(setup.clone());
    let mut partial = None;
    while let Some((step, traffic)) =
        planner.next_traffic().map_err(|trouble| cannot_overload(trouble, ports, setup))?
    {
        on_step(step);
        let record = engine.run(&traffic, stop)?;
        if stop.load(Ordering::Relaxed) {
            partial = Some(Interruption::Stopped);
            break;
        }
        planner.add(&record);
    }
    let outcome = planner.outcome();
    if outcome.bursts.is_empty() {
        return Err(DutError::Stopped);
    }
    let tested = ports.iter().zip(before).map(|(port, before)| SwitchPort {
        name: port.name.clone(),
        pause: pause::counts(&port.statistics())
            .zip(before)
            .map(|(after, before)| pause::since(before, after)),
    });
    let mut run = assemble(outcome, setup, tested.collect());
    run.started = started.to_string();
    run.partial = partial;
    Ok(run)
}

/// Checks that frames pass from each port that sends to each that receives.
fn check_passage(engine: &Engine, ports: &[Port], setup: &Setup, stop: &AtomicBool) -> Result<(), DutError> {
    let (ins, outs) = (0..setup.ins.len(), setup.ins.len()..ports.len());
    for (from, to) in ins.flat_map(|from| outs.clone().map(move |to| (from, to))) {
        let pattern = Pattern::Pings { interval: PASSAGE_EVERY };
        let streams = vec![StreamPlan { from, to, payload_bytes: 56, pattern }];
        let traffic = Traffic { streams, lasts: PASSAGE_EVERY };
        let since = engine.now();
        loop {
            let record = engine.run(&traffic, stop)?;
            if stop.load(Ordering::Relaxed) {
                return Err(DutError::Stopped);
            }
            if record.streams[0].returned_ns.iter().any(Option::is_some) {
                break;
            }
            if engine.now().saturating_since(since) > PASSAGE {
                let [from, to] = [from, to].map(|number| ports[number].name.clone());
                return Err(DutError::NotConnected { from, to, waited: PASSAGE });
            }
        }
    }
    Ok(())
}

fn cannot_overload(trouble: Trouble, ports: &[Port], setup: &Setup) -> DutError {
    let Trouble::NoQueue { sent_bits_per_second } = trouble;
    let (ins, outs) = ports.split_at(setup.ins.len());
    DutError::CannotOverload {
        port: outs[0].name.clone(),
        senders: names(ins),
        sent_bits_per_second: rounded(sent_bits_per_second as u64),
    }
}

/// A number with three digits that are not zero.
fn rounded(number: u64) -> u64 {
    let step = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    number / step * step
}

fn names(ports: &[Port]) -> String {
    ports.iter().map(|port| port.name.as_str()).collect::<Vec<&str>>().join(" and ")
}

fn assemble(outcome: Outcome, setup: &Setup, ports: Vec<SwitchPort>) -> Run {
    let Outcome { bursts, tests, series, phases } = outcome;
    let (load_ratio, spacing) = (setup.load_ratio, setup.spacing);
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "dut".to_owned(),
        started: String::new(),
        title: String::new(),
        host: Host::default(),
        facts: std::collections::BTreeMap::new(),
        phases,
        series,
        instrument: Instrument::default(),
        partial: None,
        capture: None,
        path: None,
        history: None,
        bursts,
        switch: Some(Box::new(Switch { ports, load_ratio, spacing, tests })),
        host_traffic: Vec::new(),
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rates_have_three_digits() {
        let cases = [(0, 0), (7, 7), (1_234, 1_230), (1_844_725_217, 1_840_000_000)];
        assert!(cases.iter().all(|(number, expected)| rounded(*number) == *expected));
    }
}

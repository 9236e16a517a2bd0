//! `fathom test`: measures latency under load.
#[cfg(not(feature = "client"))]
mod own_server;
#[cfg(feature = "client")]
mod server;

use crate::args::{PhaseName, TestArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::live::follow;
use crate::terminal::{self, Console, warn};
use crate::{result, signal};
use fathom_app::hops::{self, HopNames};
use fathom_app::output::{check_names, exit_class, write};
use fathom_app::test::lines::{line, result_line};
use fathom_app::{CancelToken, MeasureEvent, test};
use fathom_client::{FlowLoad, PhasePlan, TestConfig};
use fathom_diagnose::diagnose;
use fathom_run::{PhaseKind, Run};
use fathom_units::{Bytes, Duration};
#[cfg(not(feature = "client"))]
use own_server as server;
use server::Choice;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Runs the test and delivers its result.
pub(crate) fn run(args: &TestArgs, console: Console) -> Outcome {
    check_names(&args.output.output)?;
    let servers = server::choose(args)?;
    let cancel = signal::cancel_token()?;
    let mut run = first_reached(&servers, &cancel, |server| {
        let config = config(args, server)?;
        test::check(&config)?;
        if config.load.is_some() || !carries_no_load(server) {
            console.progress(&cost(&config));
        }
        let ran = match args.json_lines {
            true => test::run(&config, &cancel, &mut print_lines(&cancel)),
            false => test::run(&config, &cancel, &mut follow(console)),
        };
        Ok(ran?)
    })?;
    describe(&mut run, &mut HopNames::default(), "test");
    result::warn_if_partial("test", &run);
    let is_saved = !args.no_save && args.output.output.is_empty();
    let saved = is_saved.then(|| PathBuf::from(fathom_store::default_name("test", &run.started)));
    let exit = if args.json_lines {
        let diagnosis = diagnose(&run);
        terminal::print(&(result_line(&run, &diagnosis) + "\n"))?;
        result::write_all(&args.output.output, &[(&run, &diagnosis)], console)?;
        exit_class(&run, &diagnosis)
    } else {
        result::deliver_saved(&run, &args.output, saved.as_deref(), console)?
    };
    if let Some(path) = saved {
        save(&run, &path, console);
    }
    Ok(exit)
}

/// Adds names to the hops of a run. A table that cannot be read is a warning.
pub(crate) fn describe(run: &mut Run, names: &mut HopNames, command: &str) {
    let Some(path) = &mut run.path else { return };
    if let Err(error) = hops::describe(path, names, test::Settings::of_user().as_ref()) {
        warn(&format!("fathom {command}: {error}"));
    }
}

/// Prints each event as a line, and cancels the test if nobody reads them any more.
fn print_lines(cancel: &CancelToken) -> impl FnMut(MeasureEvent<'_>) + Send {
    move |event| {
        if let Some(line) = line(&event)
            && writeln!(io::stdout(), "{line}").is_err()
        {
            cancel.cancel();
        }
    }
}

/// Tests against the first server that can be reached. A failure of another is a warning.
fn first_reached(
    choices: &[Choice],
    cancel: &CancelToken,
    mut test: impl FnMut(&str) -> Result<Run, Failure>,
) -> Result<Run, Failure> {
    let Some((last, others)) = choices.split_last() else {
        return Err(Failure::input("no server given\n  try: fathom test SERVER"));
    };
    let mut try_one = |Choice { server, origin }: &Choice| {
        if let Some(origin) = origin {
            warn(&format!("fathom test: no server given: testing against {server} ({origin})"));
        }
        test(server).map_err(|failure| with_proxy(server, failure))
    };
    for choice in others {
        match try_one(choice) {
            Err(failure) if failure.exit == Exit::Environment && !cancel.is_cancelled() => {
                warn(&format!("fathom test: {failure}"))
            }
            other => return other,
        }
    }
    try_one(last)
}

/// Variables that set a proxy for other programs.
const PROXIES: [&str; 5] = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"];

/// Whether a proxy could lead to a server.
fn is_web(server: &str) -> bool {
    let is_other = ["crusader:", "iperf3:"].iter().any(|scheme| server.starts_with(scheme));
    server.contains("://") && !is_other && !carries_no_load(server)
}

/// Whether the protocol of a server has probes only.
fn carries_no_load(server: &str) -> bool {
    server.starts_with("irtt:") || server.starts_with("stamp:")
}

/// Names the proxy that was not used, if a web server could not be reached.
fn with_proxy(server: &str, failure: Failure) -> Failure {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match PROXIES.iter().find(|name| is_set(name)) {
        Some(name) if failure.exit == Exit::Environment && is_web(server) => {
            Failure { message: format!("{failure}\n  {name} is not used"), ..failure }
        }
        _ => failure,
    }
}

/// Saves the result in the current directory. The user did not ask for this file: if it cannot be
/// written, that is a warning.
fn save(run: &Run, path: &Path, console: Console) {
    match write(path, &[(run, &diagnose(run))]) {
        Ok(()) => {
            // One line of 80 columns.
            console.note(&format!("Saved as {}. Show it: fathom report FILE", path.display()))
        }
        Err(error) => {
            warn(&format!("warning: the result is not saved: {error}\n  try: -o FILE, or --no-save"))
        }
    }
}

fn config(args: &TestArgs, server: &str) -> Result<TestConfig, Failure> {
    let config = TestConfig {
        family: args.connection.family(),
        token: args.connection.token.read()?,
        flows: args.flows,
        congestion_control: args.congestion_control.clone(),
        phases: phases(args),
        sample_every: args.sample_every,
        probe_dscp: args.dscp,
        load_dscp: args.load_dscp,
        ecn: args.ecn.map(Into::into),
        load_rate: args.udp.map(FlowLoad::Datagrams).or(args.pace.map(FlowLoad::Paced)),
        max_bytes: args.max_bytes,
        burst_bytes: (has_bursts(args) && !server.contains("://")).then_some(BURST_BYTES),
        ..TestConfig::new(server)
    };
    let config = if args.rrul { config.rrul(args.max_phase) } else { config };
    with_others(args, config)
}

/// Adds the load of another server, and applications.
#[cfg(feature = "client")]
fn with_others(args: &TestArgs, config: TestConfig) -> Result<TestConfig, Failure> {
    use fathom_app::test::applications;
    use fathom_scenario::Role;
    let loads = applications::load(args.load_app.as_slice(), Role::Load)?;
    let config = TestConfig { load: args.load.clone(), ..config };
    let config = loads.into_iter().next().map_or(config.clone(), |load| config.loaded_by(load));
    Ok(config.with_applications(applications::load(&args.app, Role::Victim)?))
}

#[cfg(not(feature = "client"))]
#[expect(clippy::unnecessary_wraps, reason = "as with other servers and applications")]
fn with_others(_: &TestArgs, config: TestConfig) -> Result<TestConfig, Failure> {
    Ok(config)
}

#[cfg(feature = "client")]
fn has_other_load(args: &TestArgs) -> bool {
    args.load.is_some() || args.load_app.is_some()
}

#[cfg(not(feature = "client"))]
const fn has_other_load(_: &TestArgs) -> bool {
    false
}

/// The data that the test can transfer. The rate of the line is not known before the test, so this
/// is the amount for each Mbit/s.
fn cost(config: &TestConfig) -> String {
    let (each, limit) = (test::cost_per_mbit(config), config.max_bytes);
    let limit =
        limit.map_or_else(|| "--max-bytes sets a limit".to_owned(), |limit| format!("{limit} in total"));
    let text = |amount: Bytes| fathom_text::bytes(amount.get() as f64);
    let bursts = config.burst_bytes.map(|bytes| format!(", and {} each way in bursts", text(bytes)));
    format!(
        "fathom test: transfers at most {} up and {} down per Mbit/s of the line{} ({limit}; Ctrl-C stops)",
        text(each.up),
        text(each.down),
        bursts.unwrap_or_default()
    )
}

/// Longest load of a phase with `--quick`, as in most speed tests. It fills the buffers of the
/// lines `dsl` and `cable` of `fathom lab --list`, but not those of `wifi` and `satellite`, for
/// which the verdict is a lower bound.
const QUICK_PHASE: Duration = Duration::from_secs(10);

/// Data of the bursts in each direction: they fill a buffer of 1 MB with three sizes of packets.
const BURST_BYTES: Bytes = Bytes(10_000_000);

/// Whether bursts follow the phases. A load that is not as fast as possible does not fill a buffer.
fn has_bursts(args: &TestArgs) -> bool {
    let is_plain = !args.quick && !args.rrul && args.pace.is_none() && args.udp.is_none();
    is_plain && !has_other_load(args) && args.phases.contains(&PhaseName::Bursts)
}

fn phases(args: &TestArgs) -> Vec<PhasePlan> {
    let (names, max) = match args.quick {
        true => (&[PhaseName::Idle, PhaseName::Down, PhaseName::Up, PhaseName::Drain][..], QUICK_PHASE),
        false => (&args.phases[..], args.max_phase),
    };
    names.iter().filter_map(|name| phase(*name, max)).collect()
}

fn phase(name: PhaseName, max: Duration) -> Option<PhasePlan> {
    let plan = PhasePlan::of(match name {
        PhaseName::Idle => PhaseKind::Idle,
        PhaseName::Down => PhaseKind::Down,
        PhaseName::Up => PhaseKind::Up,
        PhaseName::Both => PhaseKind::Both,
        PhaseName::Drain => PhaseKind::Drain,
        PhaseName::Bursts => return None,
    });
    Some(match name {
        PhaseName::Down | PhaseName::Up | PhaseName::Both => {
            PhasePlan { min: plan.min.min(max), max, ..plan }
        }
        _ => plan,
    })
}

//! `fathom lab`: any program behind an emulated line.
use crate::args::{CaptureArgs, ChangeArgs, LabArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::live::follow;
use crate::terminal::{self, Console, warn};
use crate::{result, signal};
use fathom_app::emulated::Load;
use fathom_app::lab::{Addresses, CaptureOptions, Captures, LabEvent, LabRequest, QueueReport};
use fathom_app::output::check_names;
use fathom_app::scenario::{load, rates};
use fathom_app::{lab, sim};
use fathom_diagnose::diagnose;
use fathom_run::Fact;
use fathom_scenario::{BUILTIN_NAMES, LinePlan, builtin_plan};
use fathom_text::{bytes, counted};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Runs the program, then shows what the queues did.
pub(crate) fn run(args: &LabArgs, console: Console) -> Outcome {
    if args.list {
        return list();
    }
    check_names(&args.output.output)?;
    if let Some(name) = &args.scenario {
        return measure(args, name, console);
    }
    let change = ChangeArgs { queue: args.queue.clone(), ..ChangeArgs::default() };
    let plan = load(&args.line, &change.changes())?;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let signals = signal::forwarded()?;
    let request = LabRequest {
        name: plan.name.clone(),
        congestion_control: args.congestion_control.clone(),
        seed: args.seed,
        capture: capture(&args.capture),
        program: if args.program.is_empty() { shell(None) } else { args.program.clone() },
        far_program: args.far.as_ref().map(|command| shell(Some(command))),
        facts: facts(args, &plan.line),
        line: plan.line,
    };
    let done = lab::run(&request, &signals, &mut |event| match event {
        LabEvent::Ready { client, server } => console.note(&welcome(&request, client, server)),
        LabEvent::Queues(queues) => console.note(&outcome(queues)),
    })?;
    if let Some((captures, options)) = done.captures.zip(request.capture.as_ref()) {
        report_captures(captures, options, console);
    }
    result::write_all(&args.output.output, &[(&done.run, &diagnose(&done.run))], console)?;
    exit_with(done.exit_code)
}

fn report_captures(captures: Captures, options: &CaptureOptions, console: Console) {
    let Captures { files, missing_packets } = captures;
    if missing_packets > 0 {
        warn(&format!(
            "warning: the captures lack {}: the disk was slower than the line",
            counted(missing_packets, "packet", "packets")
        ));
    }
    let written = counted(files as u64, "capture", "captures");
    console.note(&format!("wrote {written} and truth.json to {}", options.directory.display()));
}

fn capture(args: &CaptureArgs) -> Option<CaptureOptions> {
    let directory = args.capture.clone()?;
    Some(CaptureOptions { directory, snaplen: args.snaplen, super_packets: args.super_packets })
}

/// Runs the load of a scenario over its line.
fn measure(args: &LabArgs, name: &str, console: Console) -> Outcome {
    let change = ChangeArgs { queue: args.queue.clone(), ..ChangeArgs::default() };
    let plan = load(name, &change.changes())?;
    Load::of(&plan, args.seed)?;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let cancel = signal::cancel_token()?;
    let run = sim::measure_in_lab(&plan, args.seed, &cancel, &mut follow(console))?;
    result::warn_if_partial("lab", &run);
    result::deliver(&run, &args.output, console)
}

fn list() -> Outcome {
    let mut text = String::new();
    for plan in BUILTIN_NAMES.iter().filter_map(|name| builtin_plan(name)) {
        let plan = plan.map_err(Failure::input)?;
        text += &format!("{:<16} {:<28} {}\n", plan.name, rates(&plan.line), plan.about.trim());
    }
    terminal::print(&text)?;
    Ok(Exit::Healthy)
}

/// The words that run `command` in a shell, or the shell of the user.
fn shell(command: Option<&str>) -> Vec<OsString> {
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    match command {
        Some(command) => vec!["/bin/sh".into(), "-c".into(), command.into()],
        None => vec![shell],
    }
}

fn welcome(request: &LabRequest, near: Addresses, far: Addresses) -> String {
    let v6 = far.v6.map_or_else(String::new, |v6| format!(", {v6}"));
    format!(
        "fathom lab: {} ({}); this end is {}, the remote end is {}{v6} ($FATHOM_SERVER) and runs `fathom serve`",
        request.name,
        rates(&request.line),
        near.v4,
        far.v4
    )
}

/// The counters of each queue, one line each.
fn outcome(queues: &[QueueReport]) -> String {
    let mut text = String::from("fathom lab: queues");
    for queue in queues.iter().filter(|q| q.arrived_packets > 0) {
        text += &format!(
            "\n  {:<20} {:<5} {:>8} packets, {:>6} dropped, {:>6} marked, at most {} queued",
            queue.hop,
            queue.direction,
            queue.arrived_packets,
            queue.dropped_packets,
            queue.marked_packets,
            bytes(queue.max_backlog.get() as f64)
        );
    }
    text
}

/// The settings of the run.
fn facts(args: &LabArgs, line: &LinePlan) -> BTreeMap<Fact, String> {
    let program = args.program.join(OsStr::new(" ")).to_string_lossy().into_owned();
    [
        (Fact::Line, format!("{} ({})", args.line, rates(line))),
        (Fact::CongestionControl, args.congestion_control.clone()),
        (Fact::Seed, args.seed.to_string()),
        (Fact::Program, if program.is_empty() { "a shell".to_owned() } else { program }),
    ]
    .into()
}

/// Ends with the exit code of the program.
fn exit_with(code: i32) -> Outcome {
    if code == 0 { Ok(Exit::Healthy) } else { std::process::exit(code) }
}

//! `fathom lab`: any program behind an emulated line.
use crate::args::{CaptureArgs, ChangeArgs, LabArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::over_line::{Load, test_over_line};
use crate::{captured, line, result, signal, terminal, truth};
use fathom_diagnose::diagnose;
use fathom_lab::{CaptureOptions, Child, Lab, LabOptions, QueueReport, Side};
use fathom_os::clock::{Clock, wall_now};
use fathom_run::Run;
use fathom_scenario::{BUILTIN_NAMES, LinePlan, builtin_plan};
use fathom_server::{Config, Server};
use fathom_text::bytes;
use std::collections::BTreeMap;
use std::process::Command;

/// Runs the program, and tells what the queues did meanwhile.
pub(crate) fn run(args: &LabArgs, when: When) -> Outcome {
    if args.list {
        return list();
    }
    result::check_names(&args.output.output)?;
    if let Some(name) = &args.scenario {
        return measure(args, name, when);
    }
    let plan = line::load(&args.line)?;
    let plan_line =
        args.queue.as_ref().map_or_else(|| plan.line.clone(), |q| line::with_queue(&plan.line, q));
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    // The program inside gets Ctrl-C from the terminal; it decides what that means.
    let _stop = signal::stop_flag()?;
    let clock = Clock::start();
    let started = wall_now().to_string();
    let options = LabOptions {
        congestion_control: args.congestion_control.clone(),
        capture: capture(&args.capture),
        ..LabOptions::new(clock, args.seed)
    };
    let lab = Lab::start(&plan_line, &options).map_err(Failure::environment)?;
    let server = lab.in_server(|| Server::start(Config::default())).map_err(Failure::environment)?;
    let _server = server.map_err(Failure::environment)?;
    let far =
        args.far.as_ref().map(|command| spawn(&lab, Side::Server, &shell(Some(command)))).transpose()?;
    terminal::note(&welcome(&plan.name, &plan_line, &lab));
    let status = spawn(&lab, Side::Client, &args.program)?.wait().map_err(Failure::environment)?;
    drop(far);
    let report = lab.finish().map_err(Failure::environment)?;
    terminal::note(&outcome(&report.queues));
    let facts = facts(args, &plan_line);
    if let Some(directory) = &args.capture.capture {
        captured::save(directory, &facts, &plan_line, &report)?;
    }
    let run = truth::of_lab(&plan.name, started, facts, report);
    save(args, &run)?;
    exit_with(status.code().unwrap_or(1))
}

fn capture(args: &CaptureArgs) -> Option<CaptureOptions> {
    let directory = args.capture.clone()?;
    Some(CaptureOptions { directory, snaplen: args.snaplen, super_packets: args.super_packets })
}

/// The scenario's own load over its own line.
fn measure(args: &LabArgs, name: &str, when: When) -> Outcome {
    let change = ChangeArgs { queue: args.queue.clone(), ..ChangeArgs::default() };
    let plan = line::load_with(name, &change)?;
    let load = Load::of(&plan, args.seed)?;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let stop = signal::stop_flag()?;
    let title = format!("{} ({})", plan.name, line::rates(&plan.line));
    let mut run = test_over_line(&plan.line, &load, &title, &stop, when)?;
    "lab".clone_into(&mut run.command);
    result::deliver(&run, &args.output, when)
}

fn list() -> Outcome {
    let mut text = String::new();
    for plan in BUILTIN_NAMES.iter().filter_map(|name| builtin_plan(name)) {
        let plan = plan.map_err(Failure::input)?;
        text += &format!("{:<16} {:<28} {}\n", plan.name, line::rates(&plan.line), plan.about.trim());
    }
    terminal::print(&text)?;
    Ok(Exit::Healthy)
}

/// `command` for the user's shell, or the shell itself.
fn shell(command: Option<&str>) -> Vec<String> {
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    match command {
        Some(command) => vec!["/bin/sh".to_owned(), "-c".to_owned(), command.to_owned()],
        None => vec![shell],
    }
}

fn spawn(lab: &Lab, side: Side, program: &[String]) -> Result<Child, Failure> {
    let interactive = shell(None);
    let program = if program.is_empty() { &interactive } else { program };
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).env("FATHOM_SERVER", lab.server_address().v4.to_string());
    command.env("FATHOM_CLIENT", lab.client_address().v4.to_string());
    lab.spawn_command(side, command).map_err(|e| Failure::environment(format_args!("{}: {e}", program[0])))
}

fn welcome(name: &str, plan: &LinePlan, lab: &Lab) -> String {
    let (far, near) = (lab.server_address(), lab.client_address());
    let v6 = far.v6.map_or_else(String::new, |v6| format!(", {v6}"));
    format!(
        "fathom lab: {name} ({}); you are {}, the far end is {}{v6} ($FATHOM_SERVER), where `fathom serve` runs",
        line::rates(plan),
        near.v4,
        far.v4
    )
}

/// What the queues did, a line each.
fn outcome(queues: &[QueueReport]) -> String {
    let mut text = String::from("fathom lab: what the queues did");
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

/// What the run was made with.
fn facts(args: &LabArgs, line: &LinePlan) -> BTreeMap<String, String> {
    let program = args.program.join(" ");
    [
        ("line", format!("{} ({})", args.line, line::rates(line))),
        ("congestion control", args.congestion_control.clone()),
        ("seed", args.seed.to_string()),
        ("program", if program.is_empty() { "a shell".to_owned() } else { program }),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn save(args: &LabArgs, run: &Run) -> Result<(), Failure> {
    let diagnosis = diagnose(run);
    for path in &args.output.output {
        result::write(path, &[(run, &diagnosis)])?;
        terminal::note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The program's own exit code is the lab's.
fn exit_with(code: i32) -> Outcome {
    if code == 0 { Ok(Exit::Healthy) } else { std::process::exit(code) }
}

//! `fathom fix`: shapes an interface.
mod apply;
mod auto;
mod export;
mod search;
mod show;
mod sqm;
mod status;
mod undo;

use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{Console, warn};
use fathom_app::AppError;
use fathom_app::fix::{BootCommands, FixFailure, FixProgress, check_interface, choose_interface, watch_over};
use fathom_client::{Family, TestConfig};
use fathom_shaper::{Framing, Plan, ShapeRequest, WatchdogEnd};
use std::process::Command;

/// Shapes an interface, shows what is shaped, or rolls back.
pub(crate) fn run(args: &FixArgs, console: Console) -> Outcome {
    let device = args.device.as_deref();
    if let Some(platform) = args.export {
        return export::run(args, platform, device.ok_or(AppError::from(FixFailure::NothingToShape))?);
    }
    check_interface(device)?;
    match device {
        _ if args.watchdog => watchdog(args),
        device if args.status => status::run(args, device, console),
        _ if args.replace_sqm => sqm::replace(args, console),
        _ if args.restore_sqm => sqm::restore(args),
        device if args.undo => undo::run(args, device),
        device if args.auto.auto => auto::run(args, &choose_interface(device)?, console),
        device if args.server.is_some() => search::run(args, &choose_interface(device)?, console),
        Some(device) => apply::run(args, device, console),
        None => Err(AppError::from(FixFailure::NothingToShape).into()),
    }
}

fn watchdog(args: &FixArgs) -> Outcome {
    let device = args.device.as_deref().unwrap_or_default();
    match watch_over(&args.state, device)? {
        WatchdogEnd::Dismissed => {}
        WatchdogEnd::Orphaned(_) => warn(&format!(
            "fathom fix: the process ended before the fix was complete; the watchdog has restored {device}"
        )),
        WatchdogEnd::Overdue(_) => warn(&format!(
            "fathom fix: the fix took longer than its limit; the watchdog has restored {device}"
        )),
    }
    Ok(Exit::Healthy)
}

/// The command of the watchdog: this running program, even if its file has been replaced meanwhile.
fn watchdog_command(args: &FixArgs, device: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["fix", "--watchdog", device, "--state"]).arg(&args.state);
    command
}

/// The commands of this program that apply a plan and roll it back when the system starts.
fn boot_commands(args: &FixArgs, program: &str, plan: &Plan) -> BootCommands {
    // The system starts it in another directory.
    let folder = std::path::absolute(&args.state).unwrap_or_else(|_| args.state.clone());
    let state = ["--state".to_owned(), folder.display().to_string()];
    let command = |words: [&str; 4]| words.map(str::to_owned).to_vec();
    let mut apply = command([program, "fix", &plan.device, "--commit"]);
    for (flag, side) in [("--up", &plan.up), ("--down", &plan.down)] {
        apply.extend(side.iter().flat_map(|side| [flag.to_owned(), side.shaper.rate.to_string()]));
    }
    apply.extend(["--shaper".to_owned(), plan.kind.name().to_owned()]);
    if let Some(overhead) = plan.sides().find_map(|side| side.shaper.framing.overhead) {
        apply.extend(["--overhead".to_owned(), overhead.to_string()]);
    }
    if let Some(rtt) = plan.sides().find_map(|side| side.shaper.round_trip) {
        apply.extend(["--rtt".to_owned(), rtt.to_string()]);
    }
    apply.extend(["--mpu".to_owned(), args.mpu.to_string()]);
    apply.extend(args.atm.then(|| "--atm".to_owned()));
    apply.extend(state.clone());
    let mut undo = command([program, "fix", "--undo", &plan.device]);
    undo.push("--keep-boot".to_owned());
    undo.extend(state);
    BootCommands { apply, undo }
}

/// The path of this program, for the unit that starts with the system.
fn program() -> Result<String, Failure> {
    let file = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("cannot find the path of this program: {error}")))?;
    Ok(file.display().to_string())
}

const fn framing(args: &FixArgs) -> Framing {
    Framing { overhead: args.overhead, mpu: args.mpu, atm: args.atm }
}

fn shape(args: &FixArgs, device: &str) -> ShapeRequest {
    ShapeRequest {
        device: device.to_owned(),
        up: args.up,
        down: args.down,
        shaper: args.shaper,
        framing: framing(args),
        round_trip: args.rtt,
    }
}

/// The test against `server`.
fn test_config(args: &FixArgs, server: &str) -> Result<TestConfig, Failure> {
    let family = match (args.ipv4, args.ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    };
    Ok(TestConfig { family, token: args.token.read()?, ..TestConfig::new(server) })
}

/// Prints the progress that all kinds of fix report.
fn note(device: &str, progress: &FixProgress<'_>, console: Console) {
    match progress {
        FixProgress::Note(words) => console.progress(&format!("{device}: {words}")),
        FixProgress::Conflicts(found) if !found.is_empty() => warn(show::warnings(found).trim()),
        _ => {}
    }
}

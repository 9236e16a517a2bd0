//! `fathom fix DEV --up RATE --down RATE`: shapes to given rates.
use super::{boot_commands, note, program, shape, show, watchdog_command};
use crate::args::FixArgs;
use crate::failure::{Exit, Outcome};
use crate::signal;
use crate::terminal::{self, Console};
use fathom_app::fix::{Applied, ApplyRequest, BootRequest, Duty, FixProgress, apply};
use fathom_report::FixOutcome;
use fathom_shaper::Plan;
use std::time::Duration;

/// Shapes to the given rates.
pub(super) fn run(args: &FixArgs, device: &str, console: Console) -> Outcome {
    let program = program()?;
    let commands = |plan: &Plan| boot_commands(args, &program, plan);
    let duty = if args.dry_run {
        Duty::Plan
    } else if args.commit {
        Duty::Stay(args.boot.then_some(BootRequest { root: &args.root, commands: &commands }))
    } else {
        Duty::For(Duration::from_nanos(args.keep_for.as_nanos()))
    };
    let watchdog = || watchdog_command(args, device);
    let request = ApplyRequest { shape: shape(args, device), state: &args.state, duty, watchdog: &watchdog };
    let mut printed = Ok(());
    let mut progress = |event: FixProgress<'_>| {
        let text = match event {
            FixProgress::Plan(_) if console.is_quiet() => return,
            FixProgress::Plan(plan) => {
                if args.rtt.is_some() && !plan.kind.has_round_trip() {
                    console
                        .note(&format!("--rtt has no effect with {}, only with cake or fq_codel", plan.kind));
                }
                show::plan(plan)
            }
            FixProgress::Conflicts(found) if !console.is_quiet() => show::warnings(found),
            FixProgress::Holding if !args.json => {
                return console.note(&format!("shaping for {}; Ctrl-C rolls back at once", args.keep_for));
            }
            _ => return note(device, &event, console),
        };
        if !args.json && printed.is_ok() {
            printed = terminal::print(&text);
        }
    };
    let applied = apply(request, &signal::cancel_token()?, &mut progress)?;
    printed?;
    if args.json {
        return show::print_json(&applied.result);
    }
    if console.is_quiet() {
        terminal::print(&format!("{}\n", applied.result.headline))?;
        return Ok(Exit::Healthy);
    }
    terminal::print(&summary(args, device, &applied))?;
    Ok(Exit::Healthy)
}

fn summary(args: &FixArgs, device: &str, applied: &Applied) -> String {
    let Applied { result, looks, boot } = applied;
    match (result.data.outcome, looks) {
        (Some(FixOutcome::RolledBack), Some(looks)) => show::held(looks, applied.conflicts()),
        (Some(FixOutcome::Committed), _) => {
            let undo = show::undo_line(device, &args.state);
            format!("\n{}\n{}{undo}", result.headline, show::boot_line(boot.as_deref()))
        }
        _ => format!("\n{}\n", result.headline),
    }
}

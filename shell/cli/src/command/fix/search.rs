//! `fathom fix --server`: searches for the rates, and keeps the shaper only if it passes all
//! checks.
use super::{boot_commands, framing, note, program, show, test_config, watchdog_command};
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::signal;
use crate::terminal::{self, Console};
use fathom_app::fix::{BootRequest, FixProgress, SearchRequest, Searched, search};
use fathom_fix::FixConfig;
use fathom_prose::{finding, fix_step};
use fathom_report::{fix_baseline, fix_screen};
use fathom_run::Conclusion;
use fathom_shape::fix::{Budget, Outcome as FixOutcome};
use fathom_shaper::{Place, Plan};
use fathom_units::{Direction, PerDirection};

/// Runs the fix from the first measurement to the verified shaper.
pub(super) fn run(args: &FixArgs, device: &str, console: Console) -> Outcome {
    let program = program()?;
    let commands = |plan: &Plan| boot_commands(args, &program, plan);
    let watchdog = || watchdog_command(args, device);
    let request = SearchRequest {
        fix: config(args, device)?,
        results: args.results.as_deref(),
        boot: args.boot.then_some(BootRequest { root: &args.root, commands: &commands }),
        watchdog: &watchdog,
    };
    let cancel = signal::cancel_token()?;
    let server = &request.fix.test.server;
    console.progress(&format!(
        "fathom fix: {device}, against {server}: about two minutes of load on the line; Ctrl-C rolls back"
    ));
    let searched = search(&request, &cancel, &mut |event| report(device, &event, console))?;
    if args.json {
        show::print_json(&searched.result)?;
    } else {
        terminal::print(&summary(args, device, &searched, console))?;
    }
    let is_verified = searched.fixed.outcome != FixOutcome::NotVerified;
    Ok(if is_verified { Exit::Healthy } else { Exit::Bloated })
}

fn config(args: &FixArgs, device: &str) -> Result<FixConfig, Failure> {
    let is_given = args.up.is_some() || args.down.is_some();
    let rates = PerDirection { up: args.up, down: args.down };
    let is_wanted = |direction: Direction| match args.only {
        Some(only) => only == direction,
        // A given rate selects its direction.
        None => !is_given || rates[direction].is_some(),
    };
    Ok(FixConfig {
        test: test_config(args, args.server.as_deref().unwrap_or_default())?,
        place: Place::new(&args.state, device),
        shaper: args.shaper,
        framing: framing(args),
        round_trip: args.rtt,
        budget: Budget::new(args.budget),
        directions: PerDirection::from_fn(is_wanted),
        rates,
        force: args.force,
        dry_run: args.dry_run,
    })
}

/// Prints progress as lines. Most events of a test have none.
fn report(device: &str, progress: &FixProgress<'_>, console: Console) {
    let text = match progress {
        FixProgress::Baseline(diagnosis) => fix_baseline(diagnosis),
        FixProgress::Plan(plan) => format!("\n{}", show::plan(plan)),
        FixProgress::Checks(found) => {
            found.iter().map(|one| format!("  {}", finding(one, None))).collect::<Vec<_>>().join("\n")
        }
        FixProgress::Step(step) => match fix_step(step) {
            Some(words) => words,
            None => return,
        },
        _ => return note(device, progress, console),
    };
    console.progress(&text);
}

fn summary(args: &FixArgs, device: &str, searched: &Searched, console: Console) -> String {
    let Searched { result, fixed, before, after, boot } = searched;
    let form = console.stdout_form();
    let screen = fix_screen(&result.headline, fixed.outcome, before, after.as_ref(), form);
    if console.is_quiet() {
        return screen;
    }
    match fixed.outcome {
        FixOutcome::NotNeeded => screen,
        FixOutcome::NotVerified => {
            let is_failed = |conclusion: &Conclusion| match conclusion {
                Conclusion::ShaperCheck(check) => !check.passed,
                _ => false,
            };
            let failed = result.diagnosis.findings.iter().filter(|found| is_failed(&found.conclusion));
            let list: String = failed.map(|found| format!("  {}\n", finding(found, None))).collect();
            format!("\n{screen}{list}")
        }
        FixOutcome::Planned => {
            let is_searched = fixed.report.knees != PerDirection::default();
            let next = "Without it, within the hour, the trials of this search are reused.\n";
            format!("\n{screen}{}", if is_searched { next } else { "" })
        }
        FixOutcome::Verified => {
            let (undo, boot) = (show::undo_line(device, &args.state), show::boot_line(boot.as_deref()));
            format!("\n{screen}\n{undo}{boot}")
        }
    }
}

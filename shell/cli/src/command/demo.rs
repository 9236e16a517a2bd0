//! `fathom demo`: the same upload twice, over a bloated line and over one with a managed queue.
use crate::args::DemoArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::live::follow;
use crate::terminal::Console;
use crate::{result, signal};
use fathom_app::demo::{self, DemoRequest};
use fathom_app::output::{exit_class, make_directory};
use fathom_app::results::DiagnosedRun;
use fathom_app::scenario::{Changes, load};
use fathom_qdisc::Spec;

/// Measures both lines, shows both results, writes the report.
pub(crate) fn run(args: &DemoArgs, console: Console) -> Outcome {
    let plan = load(&args.line, &Changes::default())?;
    if !args.no_save {
        make_directory(&args.output_dir)?;
    }
    #[cfg(feature = "lab")]
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let cancel = signal::cancel_token()?;
    let queue: Spec =
        args.queue.parse().map_err(|e| Failure::input(format_args!("--queue \"{}\": {e}", args.queue)))?;
    let request = DemoRequest {
        plan,
        queue,
        queue_name: args.queue.clone(),
        flows: args.flows,
        congestion_control: args.congestion_control.clone(),
    };
    let runs = demo::run(&request, &cancel, &mut follow(console))?;
    show(args, &runs, console)?;
    if !args.no_save {
        let page = demo::save(&args.output_dir, &runs)?;
        console.note(&format!("wrote {} (open it in a browser)", page.display()));
    }
    Ok(runs
        .iter()
        .map(|(r, d)| exit_class(r, d))
        .find(|exit| exit.severity() >= Exit::Input.severity())
        .unwrap_or(Exit::Healthy))
}

fn show(args: &DemoArgs, runs: &[DiagnosedRun], console: Console) -> Result<(), Failure> {
    if args.json {
        return runs.iter().try_for_each(|(run, diagnosis)| result::print_json(run, diagnosis));
    }
    let named: Vec<_> = ["before", "after"].into_iter().zip(runs).map(|(n, (run, d))| (n, run, d)).collect();
    result::print_compared(&named, console)
}

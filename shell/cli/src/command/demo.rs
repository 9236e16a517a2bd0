//! `fathom demo`: the same upload twice, over a bloated line and over one whose queue is managed.
use crate::args::{DemoArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::live::follow;
use crate::{result, signal, terminal};
use fathom_app::demo::{self, DemoRequest};
use fathom_app::output::{exit_class, make_directory};
use fathom_app::results::DiagnosedRun;
use fathom_app::scenario::{Changes, load};
use fathom_qdisc::Spec;

/// Measures both, shows both, writes the report.
pub(crate) fn run(args: &DemoArgs, when: When) -> Outcome {
    let plan = load(&args.line, &Changes::default())?;
    if !args.no_save {
        make_directory(&args.output_dir)?;
    }
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
    let runs = demo::run(&request, &cancel, &mut follow(when))?;
    show(args, &runs, when)?;
    if !args.no_save {
        let page = demo::save(&args.output_dir, &runs)?;
        terminal::note(&format!("wrote {} (open it in a browser)", page.display()));
    }
    Ok(runs.iter().map(|(r, d)| exit_class(r, d)).find(|exit| *exit >= Exit::Input).unwrap_or(Exit::Healthy))
}

fn show(args: &DemoArgs, runs: &[DiagnosedRun], when: When) -> Result<(), Failure> {
    if args.json {
        return runs.iter().try_for_each(|(run, diagnosis)| result::print_json(run, diagnosis));
    }
    let (style, columns) = terminal::stdout_form(when);
    let named: Vec<_> = ["before", "after"].into_iter().zip(runs).map(|(n, (run, d))| (n, run, d)).collect();
    terminal::print(&fathom_report::compare(&named, columns, style))
}

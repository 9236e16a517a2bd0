//! `fathom demo`: the same upload twice, over a bloated line and over one whose queue manages itself.
use crate::args::{DemoArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::live::follow;
use crate::{result, signal, terminal};
use fathom_app::demo::{self, DemoRequest};
use fathom_app::output::{exit_class, write};
use fathom_app::scenario::{Changes, load};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_qdisc::Spec;
use fathom_run::Run;
use std::path::Path;

/// Measures both, shows both, writes the report.
pub(crate) fn run(args: &DemoArgs, when: When) -> Outcome {
    let plan = load(&args.line, &Changes::default())?;
    if !args.no_save {
        make_folder(&args.output_dir)?;
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
    let diagnosed = |run: Run| {
        let diagnosis = diagnose(&run);
        (run, diagnosis)
    };
    let runs: Vec<(Run, Diagnosis)> =
        demo::run(&request, &cancel, &mut follow(when))?.into_iter().map(diagnosed).collect();
    show(args, &runs, when)?;
    if !args.no_save {
        save(&args.output_dir, &runs)?;
    }
    Ok(runs.iter().map(|(r, d)| exit_class(r, d)).find(|exit| *exit >= Exit::Input).unwrap_or(Exit::Healthy))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| {
        Failure::environment(format_args!("{}: {e}\n  try: --output-dir DIR, or --no-save", folder.display()))
    })
}

fn show(args: &DemoArgs, runs: &[(Run, Diagnosis)], when: When) -> Result<(), Failure> {
    if args.json {
        return runs.iter().try_for_each(|(run, diagnosis)| result::print_json(run, diagnosis));
    }
    let (style, columns) = terminal::stdout_form(when);
    let named: Vec<_> = ["before", "after"].into_iter().zip(runs).map(|(n, (run, d))| (n, run, d)).collect();
    terminal::print(&fathom_report::compare(&named, columns, style))
}

fn save(folder: &Path, runs: &[(Run, Diagnosis)]) -> Result<(), Failure> {
    for (name, (run, diagnosis)) in ["before.json.gz", "after.json.gz"].iter().zip(runs) {
        write(&folder.join(name), &[(run, diagnosis)])?;
    }
    let page = folder.join("report.html");
    let borrowed: Vec<_> = runs.iter().map(|(run, d)| (run, d)).collect();
    write(&page, &borrowed)?;
    terminal::note(&format!("wrote {} (open it in a browser)", page.display()));
    Ok(())
}

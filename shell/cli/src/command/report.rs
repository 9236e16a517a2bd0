//! `fathom report` and `fathom compare`.
use crate::args::{CompareArgs, ReportArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::{result, terminal};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::Run;
use std::path::PathBuf;

fn load(files: &[PathBuf]) -> Result<Vec<(Run, Diagnosis)>, Failure> {
    let with_diagnosis = |run: Run| {
        let diagnosis = diagnose(&run);
        (run, diagnosis)
    };
    files.iter().map(|file| fathom_store::load(file).map(with_diagnosis).map_err(Failure::input)).collect()
}

/// Shows each file; several go into one page.
pub(crate) fn run(args: &ReportArgs, when: When) -> Outcome {
    result::check_names(&args.output.output)?;
    let runs = load(&args.files)?;
    let (style, columns) = terminal::stdout_form(when);
    for (run, diagnosis) in &runs {
        if args.output.json {
            result::print_json(run, diagnosis)?;
        } else {
            terminal::print(&fathom_report::summary(run, diagnosis, columns, style))?;
        }
    }
    write_all(&args.output.output, &runs)?;
    Ok(worst(&runs))
}

/// Shows the files side by side.
pub(crate) fn compare(args: &CompareArgs, when: When) -> Outcome {
    result::check_names(&args.output)?;
    let runs = load(&args.files)?;
    let names: Vec<String> = args.files.iter().map(|f| f.display().to_string()).collect();
    let named: Vec<_> = names.iter().zip(&runs).map(|(n, (run, d))| (n.as_str(), run, d)).collect();
    let (style, columns) = terminal::stdout_form(when);
    terminal::print(&fathom_report::compare(&named, columns, style))?;
    write_all(&args.output, &runs)?;
    Ok(Exit::Healthy)
}

fn write_all(paths: &[PathBuf], runs: &[(Run, Diagnosis)]) -> Result<(), Failure> {
    let borrowed: Vec<_> = runs.iter().map(|(run, diagnosis)| (run, diagnosis)).collect();
    for path in paths {
        result::write(path, &borrowed)?;
        terminal::note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The exit code of the worst of several results.
fn worst(runs: &[(Run, Diagnosis)]) -> Exit {
    runs.iter()
        .map(|(run, d)| result::exit_of(run, d))
        .max_by_key(|exit| *exit as u8)
        .unwrap_or(Exit::Healthy)
}

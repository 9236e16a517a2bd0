//! What is done with a finished run: files, summary, exit code.
use crate::args::{OutputArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::output::{exit_class, write};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::Run;
use std::path::PathBuf;

/// Prints the summary or the JSON document, writes the files, and gives the exit code.
///
/// A file that cannot be written costs the exit code, not the result.
pub(crate) fn deliver(run: &Run, output: &OutputArgs, when: When) -> Outcome {
    let diagnosis = diagnose(run);
    if output.json {
        print_json(run, &diagnosis)?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
        terminal::print(&fathom_report::summary(run, &diagnosis, columns, style))?;
    }
    write_all(&output.output, &[(run, &diagnosis)])?;
    Ok(exit_class(run, &diagnosis))
}

/// Writes each file. The first error is returned once the others are written.
pub(crate) fn write_all(paths: &[PathBuf], runs: &[(&Run, &Diagnosis)]) -> Result<(), Failure> {
    let mut failed = Ok(());
    for path in paths {
        match write(path, runs) {
            Ok(()) => terminal::note(&format!("wrote {}", path.display())),
            Err(error) => failed = failed.and(Err(error.into())),
        }
    }
    failed
}

/// Prints a run and what it shows as one line of JSON.
pub(crate) fn print_json(run: &Run, diagnosis: &Diagnosis) -> Result<(), Failure> {
    let text = serde_json::to_string(&fathom_report::document(run, diagnosis));
    terminal::print(&(text.map_err(Failure::environment)? + "\n"))
}

/// Two or three runs side by side, and their files.
pub(crate) fn deliver_compared(output: &OutputArgs, runs: &[(&str, Run)], when: When) -> Outcome {
    let diagnosed: Vec<_> = runs.iter().map(|(name, run)| (*name, run, diagnose(run))).collect();
    let named: Vec<_> = diagnosed.iter().map(|(name, run, diagnosis)| (*name, *run, diagnosis)).collect();
    if output.json {
        diagnosed.iter().try_for_each(|(_, run, diagnosis)| print_json(run, diagnosis))?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
        terminal::print(&fathom_report::compare(&named, columns, style))?;
    }
    let pairs: Vec<_> = diagnosed.iter().map(|(_, run, diagnosis)| (*run, diagnosis)).collect();
    write_all(&output.output, &pairs)?;
    Ok(Exit::Healthy)
}

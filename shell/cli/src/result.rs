//! What is done with a finished run: files, summary, exit code.
use crate::args::{OutputArgs, When};
use crate::failure::{Failure, Outcome};
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
    let document = fathom_report::document(run, diagnosis);
    let text = serde_json::to_string(&document).map_err(Failure::environment)?;
    terminal::print(&(text + "\n"))
}

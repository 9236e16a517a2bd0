//! Delivers a finished run: files, summary, exit code.
use crate::args::OutputArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{self, Console};
use fathom_app::output::{exit_class, write};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_run::Run;
use std::path::PathBuf;

/// Prints the summary or the JSON document, writes the files, and returns the exit code.
///
/// A file that cannot be written changes the exit code; the result is printed anyway.
pub(crate) fn deliver(run: &Run, output: &OutputArgs, console: Console) -> Outcome {
    let diagnosis = diagnose(run);
    if output.json {
        print_json(run, &diagnosis)?;
    } else {
        print_summary(run, &diagnosis, console)?;
    }
    write_all(&output.output, &[(run, &diagnosis)], console)?;
    Ok(exit_class(run, &diagnosis))
}

/// Prints one result; with `-q` only its headline.
pub(crate) fn print_summary(run: &Run, diagnosis: &Diagnosis, console: Console) -> Result<(), Failure> {
    let (style, columns) = console.stdout_form();
    terminal::print(&if console.is_quiet() {
        fathom_prose::verdict(run, diagnosis).headline + "\n"
    } else {
        fathom_report::summary(run, diagnosis, columns, style)
    })
}

/// Prints results side by side; with `-q` only the name and the headline of each.
pub(crate) fn print_compared(runs: &[(&str, &Run, &Diagnosis)], console: Console) -> Result<(), Failure> {
    let (style, columns) = console.stdout_form();
    let line = |(name, run, diagnosis): &(&str, &Run, &Diagnosis)| {
        format!("{name}: {}\n", fathom_prose::verdict(run, diagnosis).headline)
    };
    terminal::print(&if console.is_quiet() {
        runs.iter().map(line).collect()
    } else {
        fathom_report::compare(runs, columns, style)
    })
}

/// Writes each file. Returns the first error after the other files are written.
pub(crate) fn write_all(
    paths: &[PathBuf],
    runs: &[(&Run, &Diagnosis)],
    console: Console,
) -> Result<(), Failure> {
    let mut failed = Ok(());
    for path in paths {
        match write(path, runs) {
            Ok(()) => console.note(&format!("wrote {}", path.display())),
            Err(error) => failed = failed.and(Err(error.into())),
        }
    }
    failed
}

/// Prints a run and its diagnosis as one line of JSON.
pub(crate) fn print_json(run: &Run, diagnosis: &Diagnosis) -> Result<(), Failure> {
    let text = serde_json::to_string(&fathom_report::document(run, diagnosis));
    terminal::print(&(text.map_err(Failure::environment)? + "\n"))
}

/// Delivers two or three runs side by side, and their files.
pub(crate) fn deliver_compared(output: &OutputArgs, runs: &[(&str, Run)], console: Console) -> Outcome {
    let diagnosed: Vec<_> = runs.iter().map(|(name, run)| (*name, run, diagnose(run))).collect();
    let named: Vec<_> = diagnosed.iter().map(|(name, run, diagnosis)| (*name, *run, diagnosis)).collect();
    if output.json {
        diagnosed.iter().try_for_each(|(_, run, diagnosis)| print_json(run, diagnosis))?;
    } else {
        print_compared(&named, console)?;
    }
    let pairs: Vec<_> = diagnosed.iter().map(|(_, run, diagnosis)| (*run, diagnosis)).collect();
    write_all(&output.output, &pairs, console)?;
    Ok(Exit::Healthy)
}

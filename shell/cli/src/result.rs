//! Delivers a finished run: files, summary, exit code.
use crate::args::OutputArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{self, Console, warn};
use fathom_app::output::{exit_class, write};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_prose::Origin;
use fathom_run::Run;
use std::path::{Path, PathBuf};

/// Prints the summary or the JSON document, writes the files, and returns the exit code.
///
/// A file that cannot be written changes the exit code; the result is printed anyway.
pub(crate) fn deliver(run: &Run, output: &OutputArgs, console: Console) -> Outcome {
    deliver_saved(run, output, None, console)
}

/// Delivers a run that the caller saves under the name `saved`.
pub(crate) fn deliver_saved(
    run: &Run,
    output: &OutputArgs,
    saved: Option<&Path>,
    console: Console,
) -> Outcome {
    let diagnosis = diagnose(run);
    if output.json {
        print_json(run, &diagnosis)?;
    } else {
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let command = repeatable(words);
        let written = output.output.iter().map(PathBuf::as_path).find(|path| is_result(path));
        let file = saved.or(written).map(|path| quoted(&path.to_string_lossy()));
        let origin = Origin { command: Some(&command), file: file.as_deref() };
        print_summary(run, &diagnosis, origin, console)?;
    }
    write_all(&output.output, &[(run, &diagnosis)], console)?;
    Ok(exit_class(run, &diagnosis))
}

/// Warns of a run that was interrupted: what was measured until then is shown and saved.
pub(crate) fn warn_if_partial(command: &str, run: &Run) {
    if let Some(reason) = &run.partial {
        let at = run.phases.last().map_or_else(String::new, |phase| {
            format!(" after {:.1} s, in the phase {:?}", phase.end_ns as f64 / 1e9, phase.kind.name())
        });
        let reason = fathom_prose::interruption(reason);
        warn(&format!("fathom {command}: partial result: {reason}{at}"));
    }
}

/// Prints one result; with `-q` only its headline.
pub(crate) fn print_summary(
    run: &Run,
    diagnosis: &Diagnosis,
    origin: Origin<'_>,
    console: Console,
) -> Result<(), Failure> {
    let (style, columns) = console.stdout_form();
    terminal::print(&fathom_report::summary(run, diagnosis, origin, columns, style))
}

/// Prints results side by side; with `-q` only what changed.
pub(crate) fn print_compared(runs: &[(&str, &Run, &Diagnosis)], console: Console) -> Result<(), Failure> {
    let (style, columns) = console.stdout_form();
    terminal::print(&fathom_report::compare(runs, columns, style))
}

/// Whether a name is that of a result file, which commands can read again.
fn is_result(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.ends_with(".json") || name.ends_with(".json.gz")
}

/// Flags with their value that say what is written, or how it is printed.
const DROPPED: [&str; 3] = ["--output=", "--export=", "--color="];

/// The command line without what it writes and how it prints, so that it can be repeated with other
/// flags.
fn repeatable(arguments: impl Iterator<Item = String>) -> String {
    let mut command = String::from("fathom");
    let mut skip_value = false;
    for argument in arguments {
        let is_value = core::mem::take(&mut skip_value);
        match argument.as_str() {
            "-o" | "--output" | "--export" | "--color" => skip_value = true,
            "-q" | "-v" | "--quiet" | "--verbose" | "--json" | "--no-progress" => {}
            text if is_value || DROPPED.iter().any(|flag| text.starts_with(flag)) => {}
            text => command += &format!(" {}", quoted(text)),
        }
    }
    command
}

/// An argument as a shell reads it.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
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

//! What is done with a finished run: files, summary, exit code.
use crate::args::{OutputArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_diagnose::{Diagnosis, Health, diagnose};
use fathom_run::Run;
use std::path::Path;

/// The forms of a file that an ending can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Run,
    Html,
    Svg,
    Csv,
    Flent,
}

fn form(path: &Path) -> Result<Form, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let forms = [
        (".flent.gz", Form::Flent),
        (".json", Form::Run),
        (".json.gz", Form::Run),
        (".html", Form::Html),
        (".svg", Form::Svg),
        (".csv", Form::Csv),
        (".csv.gz", Form::Csv),
    ];
    forms.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, form)| *form).ok_or_else(|| {
        let path = path.display();
        Failure::input(format_args!(
            "{path}: unknown ending (known: .json .json.gz .html .svg .csv .csv.gz .flent.gz)\n  try: {path}.html"
        ))
    })
}

/// Refuses a name that could not be written in the end, before anything is measured.
pub(crate) fn check_names<'a>(
    paths: impl IntoIterator<Item = &'a std::path::PathBuf>,
) -> Result<(), Failure> {
    for path in paths {
        form(path)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(Failure::input(format_args!(
                "{folder}: no such directory\n  try: mkdir -p {folder}"
            )));
        }
    }
    Ok(())
}

/// Writes `runs` in the form that the ending of `path` names. Only a page and a picture take more than one.
pub(crate) fn write(path: &Path, runs: &[(&Run, &Diagnosis)]) -> Result<(), Failure> {
    let one = || match runs {
        [one] => Ok(*one),
        _ => Err(Failure::input(format_args!(
            "{}: only .html and .svg take {} runs",
            path.display(),
            runs.len()
        ))),
    };
    let written = match form(path)? {
        Form::Html => fathom_store::write(path, &fathom_report::html(runs)),
        Form::Run => fathom_store::save(path, one()?.0),
        Form::Svg => fathom_store::write(path, &fathom_report::svg(runs)),
        Form::Csv => fathom_store::write(path, &fathom_report::csv(one()?.0)),
        Form::Flent => fathom_store::write(path, &fathom_report::flent(one()?.0)),
    };
    written.map_err(Failure::environment)
}

/// Writes the files, prints the summary or the JSON document, and tells the exit code.
///
/// A file that cannot be written is told at the end and costs the exit code, not the result.
pub(crate) fn deliver(run: &Run, output: &OutputArgs, when: When) -> Outcome {
    let diagnosis = diagnose(run);
    if output.json {
        print_json(run, &diagnosis)?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
        terminal::print(&fathom_report::summary(run, &diagnosis, columns, style))?;
    }
    let written: Vec<Outcome> =
        output.output.iter().map(|path| write(path, &[(run, &diagnosis)]).map(|()| Exit::Healthy)).collect();
    for path in output.output.iter().zip(&written).filter_map(|(path, w)| w.is_ok().then_some(path)) {
        terminal::note(&format!("wrote {}", path.display()));
    }
    written.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(exit_of(run, &diagnosis))
}

/// Prints a run and what it shows as one line of JSON.
pub(crate) fn print_json(run: &Run, diagnosis: &Diagnosis) -> Result<(), Failure> {
    let document = fathom_report::document(run, diagnosis);
    let text = serde_json::to_string(&document).map_err(Failure::environment)?;
    terminal::print(&(text + "\n"))
}

/// The exit code that a result stands for.
pub(crate) fn exit_of(run: &Run, diagnosis: &Diagnosis) -> Exit {
    match (diagnosis.health, &run.partial) {
        (Health::Invalid, _) => Exit::Invalid,
        (_, Some(_)) => Exit::Environment,
        (Health::Bloated, None) => Exit::Bloated,
        (Health::Healthy | Health::Inconclusive, None) => Exit::Healthy,
    }
}

//! Files of results: the ending of a name selects the format.
use crate::{AppError, ExitClass};
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::Run;
use std::path::Path;

/// The formats that the ending of a name can select.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Run,
    Html,
    Svg,
    Csv,
    Flent,
}

/// What an ending selects.
const FORMATS: [(&str, Format); 7] = [
    (".json", Format::Run),
    (".json.gz", Format::Run),
    (".html", Format::Html),
    (".svg", Format::Svg),
    (".csv", Format::Csv),
    (".csv.gz", Format::Csv),
    (".flent.gz", Format::Flent),
];

/// All endings that select a format, with blanks between them.
#[must_use]
pub fn extensions() -> String {
    FORMATS.map(|(ending, _)| ending).join(" ")
}

fn format(path: &Path) -> Result<Format, AppError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let found = FORMATS.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, format)| *format).ok_or_else(|| AppError::Format { path: path.to_owned() })
}

/// Refuses a name that could not be written in the end, before anything is measured.
///
/// # Errors
/// If the ending selects no format, or the directory does not exist.
pub fn check_names<'a>(paths: impl IntoIterator<Item = &'a std::path::PathBuf>) -> Result<(), AppError> {
    for path in paths {
        format(path)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(AppError::NoDirectory { path: folder.to_owned() });
        }
    }
    Ok(())
}

/// Makes a directory for files of a result, if there is none.
///
/// # Errors
/// If the system refuses.
pub fn make_directory(path: &Path) -> Result<(), AppError> {
    std::fs::create_dir_all(path)
        .map_err(|source| AppError::CannotMakeDirectory { path: path.to_owned(), source })
}

/// Writes `runs` in the format that the ending of `path` selects. Only a page and a picture take more than one.
///
/// # Errors
/// If the ending selects no format or one that holds one run, or if the system refuses to write.
pub fn write(path: &Path, runs: &[(&Run, &Diagnosis)]) -> Result<(), AppError> {
    let one = || match runs {
        [one] => Ok(*one),
        _ => Err(AppError::SeveralRuns { path: path.to_owned(), runs: runs.len() }),
    };
    let written = match format(path)? {
        Format::Html => fathom_store::write(path, &fathom_report::html(runs)),
        Format::Run => fathom_store::save(path, one()?.0),
        Format::Svg => fathom_store::write(path, &fathom_report::svg(runs)),
        Format::Csv => fathom_store::write(path, &fathom_report::csv(one()?.0)),
        Format::Flent => fathom_store::write(path, &fathom_report::flent(one()?.0)),
    };
    written.map_err(AppError::Save)
}

/// What a result means to a caller that looks at nothing else.
#[must_use]
pub const fn exit_class(run: &Run, diagnosis: &Diagnosis) -> ExitClass {
    match (diagnosis.health, &run.partial) {
        (Health::Invalid, _) => ExitClass::Invalid,
        (_, Some(_)) => ExitClass::Environment,
        (Health::Bloated, None) => ExitClass::Bloated,
        (Health::Healthy | Health::Inconclusive, None) => ExitClass::Healthy,
    }
}

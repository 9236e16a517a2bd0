//! Result files. The extension of the name selects the format.
use crate::{AppError, ExitClass};
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::Run;
use fathom_text::nearest;
use std::path::{Path, PathBuf};

/// Formats of a result file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Run,
    #[cfg(feature = "formats")]
    Html,
    #[cfg(feature = "formats")]
    Svg,
    #[cfg(feature = "formats")]
    Csv,
    #[cfg(feature = "formats")]
    Flent,
}

/// The format of each extension.
const FORMATS: &[(&str, Format)] = &[
    (".json", Format::Run),
    (".json.gz", Format::Run),
    #[cfg(feature = "formats")]
    (".html", Format::Html),
    #[cfg(feature = "formats")]
    (".svg", Format::Svg),
    #[cfg(feature = "formats")]
    (".csv", Format::Csv),
    #[cfg(feature = "formats")]
    (".csv.gz", Format::Csv),
    #[cfg(feature = "formats")]
    (".flent.gz", Format::Flent),
];

/// All known extensions, separated by spaces.
#[must_use]
pub fn extensions() -> String {
    FORMATS.iter().map(|(ending, _)| *ending).collect::<Vec<_>>().join(" ")
}

/// The name of `path` with the known extension nearest to its own, or with `.html` added.
#[must_use]
pub fn with_known_extension(path: &Path) -> PathBuf {
    let own = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let known: Vec<&str> = FORMATS.iter().map(|(extension, _)| &extension[1..]).collect();
    match nearest(&own, &known) {
        Some(near) => path.with_extension(near),
        None => format!("{}.html", path.display()).into(),
    }
}

fn format(path: &Path) -> Result<Format, AppError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let found = FORMATS.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, format)| *format).ok_or_else(|| AppError::Format { path: path.to_owned() })
}

/// Checks before a measurement that its result can be written to these names.
///
/// # Errors
/// If an extension is unknown, or a directory does not exist.
pub fn check_names<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), AppError> {
    for path in paths {
        format(path)?;
        check_folder(path)?;
    }
    Ok(())
}

/// Checks that the directory of a file exists.
pub(crate) fn check_folder(path: &Path) -> Result<(), AppError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() { Ok(()) } else { Err(AppError::NoDirectory { path: folder.to_owned() }) }
}

/// Creates a directory for result files unless it exists.
///
/// # Errors
/// If the directory cannot be created.
pub fn make_directory(path: &Path) -> Result<(), AppError> {
    std::fs::create_dir_all(path)
        .map_err(|source| AppError::CannotMakeDirectory { path: path.to_owned(), source })
}

/// Writes `runs` to `path`, whose extension selects the format. Only a page and a picture hold more
/// than one run.
///
/// # Errors
/// If the extension is unknown, the format holds only one run, or the file cannot be written.
pub fn write(path: &Path, runs: &[(&Run, &Diagnosis)]) -> Result<(), AppError> {
    let one = || match runs {
        [one] => Ok(*one),
        _ => Err(AppError::SeveralRuns { path: path.to_owned(), runs: runs.len() }),
    };
    let written = match format(path)? {
        #[cfg(feature = "formats")]
        Format::Html => fathom_store::write(path, &fathom_report::html(runs)),
        Format::Run => fathom_store::save(path, one()?.0),
        #[cfg(feature = "formats")]
        Format::Svg => fathom_store::write(path, &fathom_report::svg(runs)),
        #[cfg(feature = "formats")]
        Format::Csv => fathom_store::write(path, &fathom_report::csv(one()?.0)),
        #[cfg(feature = "formats")]
        Format::Flent => fathom_store::write(path, &fathom_report::flent(one()?.0)),
    };
    written.map_err(AppError::Save)
}

/// Draws rate against buffer size of these results. Returns the number of buffers; without any,
/// nothing is written.
///
/// # Errors
/// If the file cannot be written.
pub fn write_scatter(path: &Path, diagnoses: &[&Diagnosis]) -> Result<usize, AppError> {
    let points = fathom_report::buffer_points(diagnoses);
    if let Some(picture) = fathom_report::scatter(&points) {
        fathom_store::write(path, &picture).map_err(AppError::Save)?;
    }
    Ok(points.len())
}

/// Writes a page for the support of a provider. Without a bloated line, nothing is written: false.
///
/// # Errors
/// If the file cannot be written.
pub fn write_for_provider(path: &Path, run: &Run, diagnosis: &Diagnosis) -> Result<bool, AppError> {
    let Some(page) = fathom_report::provider_page(run, diagnosis) else { return Ok(false) };
    fathom_store::write(path, &page).map_err(AppError::Save)?;
    Ok(true)
}

/// The exit class of a result.
#[must_use]
pub const fn exit_class(run: &Run, diagnosis: &Diagnosis) -> ExitClass {
    match (diagnosis.health, &run.partial) {
        (Health::Invalid, _) => ExitClass::Invalid,
        (_, Some(_)) => ExitClass::Environment,
        (Health::Bloated, None) => ExitClass::Bloated,
        (Health::Healthy, None) => ExitClass::Healthy,
        (Health::Inconclusive, None) => ExitClass::NoResult,
    }
}

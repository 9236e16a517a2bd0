//! The results of tests as evidence.
use crate::ResultFile;
use fathom_diagnose::diagnose;
use fathom_os::error::without_code;
use fathom_run::Run;

/// Maximum size of a result file, in bytes. The result of an hour of tests has some MB.
const MAX_BYTES: u64 = 64 << 20;

/// The verdict of a result, or why it cannot be read.
#[must_use]
pub fn verdict(file: &ResultFile) -> String {
    match read(file) {
        Ok(run) => fathom_prose::verdict(&run, &diagnose(&run)).headline,
        Err(why) => why,
    }
}

/// The report page of a result.
///
/// # Errors
/// Why it cannot be read.
pub fn page(file: &ResultFile) -> Result<String, String> {
    let run = read(file)?;
    Ok(fathom_report::html(&[(&run, &diagnose(&run))]))
}

fn read(file: &ResultFile) -> Result<Run, String> {
    let about = std::fs::metadata(&file.path).map_err(|error| without_code(&error))?;
    if about.len() > MAX_BYTES {
        return Err(format!("larger than the limit of {MAX_BYTES} bytes"));
    }
    fathom_store::load(&file.path).map_err(|error| error.to_string())
}

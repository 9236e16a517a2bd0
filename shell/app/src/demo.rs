//! The demo: the same upload over a bloated line and over a line with a managed queue. With real
//! TCP where the kernel emulates lines, in a simulation elsewhere.
#[cfg(feature = "lab")]
#[path = "demo/emulated.rs"]
mod host;
#[cfg(not(feature = "lab"))]
#[path = "demo/simulated.rs"]
mod host;

use crate::output::write;
use crate::results::{DiagnosedRun, borrowed, diagnosed};
use crate::{AppError, CancelToken, MeasureEvent};
use fathom_qdisc::Spec;
use fathom_scenario::Plan;
use std::path::{Path, PathBuf};

/// The line of the demo: a cable line of 2011 with the buffer of its modem.
pub const LINE: &str = "seifried-2011";
/// The queue of the second run.
// RFC 8290 section 5.2.2 requires a target of at least one packet's transmission time;
// sqm-scripts uses more. At 3 Mbit/s one packet takes 4 ms: the default target of 5 ms costs one
// upload about 5 % of its goodput, 10 ms about 2 %, and other flows are not affected.
pub const QUEUE: &str = "fq_codel target 10ms";
/// Directory of the results and the report.
pub const FOLDER: &str = "fathom-demo";

/// A line, and the queue of the second run.
#[derive(Clone, Debug)]
pub struct DemoRequest {
    /// The line.
    pub plan: Plan,
    /// The queue of the second run.
    pub queue: Spec,
    /// The queue as the user wrote it, for the title.
    pub queue_name: String,
    /// Flows of the upload.
    pub flows: u32,
    /// Congestion control at both ends.
    pub congestion_control: String,
}

/// Measures the line and then, unless cancelled, the line with the other queue.
///
/// # Errors
/// If the line cannot be emulated, or nothing could be measured.
pub fn run(
    request: &DemoRequest,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Vec<DiagnosedRun>, AppError> {
    let mut runs = vec![host::before(request, cancel, progress)?];
    if !cancel.is_cancelled() {
        runs.push(host::after(request, cancel, progress)?);
    }
    Ok(runs.into_iter().map(diagnosed).collect())
}

/// Writes both runs and a page to `folder`. Returns the path of the page.
///
/// # Errors
/// If a file cannot be written.
pub fn save(folder: &Path, runs: &[DiagnosedRun]) -> Result<PathBuf, AppError> {
    for (name, (run, diagnosis)) in ["before.json.gz", "after.json.gz"].iter().zip(runs) {
        write(&folder.join(name), &[(run, diagnosis)])?;
    }
    let page = folder.join("report.html");
    write(&page, &borrowed(runs))?;
    Ok(page)
}

//! The demo: the same upload over a bloated line and over a line with a managed queue.
use crate::emulated::{EmulatedTest, Load, measure};
use crate::output::write;
use crate::results::{DiagnosedRun, borrowed, diagnosed};
use crate::scenario::{rates, with_queue};
use crate::{AppError, CancelToken, MeasureEvent};
use fathom_client::PhasePlan;
use fathom_qdisc::Spec;
use fathom_run::PhaseKind;
use fathom_scenario::{LinePlan, Plan};
use fathom_units::Duration;
use std::path::{Path, PathBuf};

/// Phases of the first run: kind, minimum and maximum in seconds. Both runs together may take 60 s.
/// CUBIC fills the buffer of the default line in about 12 s.
const BEFORE: [(PhaseKind, u64, u64); 3] =
    [(PhaseKind::Idle, 2, 3), (PhaseKind::Up, 16, 22), (PhaseKind::Drain, 1, 4)];
/// Phases of the second run. A managed queue shows nothing new after 12 s.
const AFTER: [(PhaseKind, u64, u64); 3] =
    [(PhaseKind::Idle, 2, 3), (PhaseKind::Up, 12, 14), (PhaseKind::Drain, 1, 2)];

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
/// As [`measure()`].
pub fn run(
    request: &DemoRequest,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Vec<DiagnosedRun>, AppError> {
    let line = &request.plan.line;
    let first = test(request, line.clone(), &bottleneck_queue(line), &BEFORE);
    let mut runs = vec![measure(&first, cancel, progress)?];
    if !cancel.is_cancelled() {
        let second = test(request, with_queue(line, &request.queue), &request.queue_name, &AFTER);
        runs.push(measure(&second, cancel, progress)?);
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

/// The queue in front of the slowest uplink, as text.
fn bottleneck_queue(line: &LinePlan) -> String {
    let slowest =
        line.hops.iter().filter(|h| h.up.nominal_rate().is_some()).min_by_key(|h| h.up.nominal_rate());
    slowest.map_or_else(|| "no limit".to_owned(), |hop| hop.up.queue.to_string())
}

fn test(
    request: &DemoRequest,
    line: LinePlan,
    queue: &str,
    phases: &[(PhaseKind, u64, u64)],
) -> EmulatedTest {
    let phase = |(kind, min, max): &(PhaseKind, u64, u64)| PhasePlan {
        kind: *kind,
        min: Duration::from_secs(*min),
        max: Duration::from_secs(*max),
    };
    let load = Load {
        flows: request.flows,
        congestion_control: request.congestion_control.clone(),
        phases: phases.iter().map(phase).collect(),
        seed: 1,
        workloads: None,
    };
    let title = format!("{} ({}), {queue}", request.plan.name, rates(&request.plan.line));
    EmulatedTest { line, load, title, command: "demo" }
}

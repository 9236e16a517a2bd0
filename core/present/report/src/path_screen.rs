//! The result of `fathom path` on a terminal.
use crate::screen::{Screen, hop_lines, section};
use crate::{Detail, Style};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::{clean, finish};
use fathom_prose::Reason;
use fathom_run::{FindingKind, PhaseKind, Run};

/// The hops of a run; of one with load also its verdict, and where the queue is. With
/// [`Detail::Quiet`] only the verdict.
pub fn path_screen(run: &Run, diagnosis: &Diagnosis, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let is_loaded = run.phases.iter().any(|phase| phase.kind != PhaseKind::Watch);
    let mut lines = match is_loaded {
        true => screen.verdict(&fathom_prose::verdict(run, diagnosis)),
        false => Vec::from([screen.heading(&clean(&run.title))]),
    };
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let mut reasons = fathom_prose::reasons(run, diagnosis);
    reasons.retain(|reason| is_loaded && is_of_place(reason));
    let rows = usize::MAX;
    lines.extend(section(screen, "Where the queue is", screen.reasons(&reasons, None, rows, "-v")));
    lines.extend(hop_lines(run, diagnosis, screen, usize::from(columns)));
    finish(&lines, style)
}

fn is_of_place(reason: &Reason) -> bool {
    let is_place = |kind| matches!(kind, FindingKind::QueueLocation | FindingKind::UnknownLocation);
    reason.findings.iter().any(|found| is_place(found.kind()))
}

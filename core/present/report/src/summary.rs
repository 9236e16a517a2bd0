//! The result on a terminal: numbers first, the verdict last, where the eye ends.
use crate::Style;
use crate::captured;
use crate::curve::source_name;
use crate::quantity::at_least;
use crate::rows::{PHASE_HEADINGS, PHASE_UNITS, phase_cells};
use crate::sections::{WIDEST_TEXT, charts, finding_lines, notes_and_verdict};
use crate::terminal::{Ink, Table, clean, wrap};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::{Grade, Run};

/// A narrower terminal gets no charts.
const CHART_COLUMNS: usize = 60;

/// The result for a terminal of `columns`: a table of the phases, the charts, the findings and, last, the verdict.
pub fn summary(run: &Run, diagnosis: &Diagnosis, columns: u16, style: Style) -> String {
    let columns = usize::from(columns).max(20);
    let text_columns = columns.min(WIDEST_TEXT);
    if let Some(capture) = &run.capture {
        return captured::summary(run, capture, diagnosis, columns, style).join("\n") + "\n";
    }
    let mut lines = vec![style.ink(Ink::Bold, &clean(&run.title)), String::new()];
    lines.extend(phase_table(diagnosis, style).lines(columns, style));
    lines.extend(wrap(&legend(diagnosis, style), text_columns, 0).iter().map(|l| style.ink(Ink::Dim, l)));
    if columns >= CHART_COLUMNS {
        lines.push(String::new());
        lines.extend(charts(run, diagnosis, text_columns, style));
    }
    lines.push(String::new());
    for finding in &diagnosis.findings {
        lines.extend(finding_lines(finding, run, text_columns, style));
    }
    lines.extend(notes_and_verdict(run, diagnosis, text_columns, style));
    lines.join("\n") + "\n"
}

fn phase_table(diagnosis: &Diagnosis, style: Style) -> Table {
    let mut table = Table::new();
    table.head(&PHASE_HEADINGS);
    table.head(&PHASE_UNITS);
    for phase in &diagnosis.phases {
        let mut cells: Vec<(String, Option<Ink>)> =
            phase_cells(phase, style).into_iter().map(|text| (text, None)).collect();
        if let Some((last, grade)) = cells.last_mut().zip(phase.grade) {
            last.1 = Some(grade_ink(grade));
        }
        table.row(cells);
    }
    table
}

pub(crate) const fn grade_ink(grade: Grade) -> Ink {
    match grade {
        Grade::APlus | Grade::A => Ink::Good,
        Grade::B | Grade::C => Ink::Fair,
        Grade::D | Grade::F => Ink::Bad,
    }
}

fn legend(diagnosis: &Diagnosis, style: Style) -> String {
    let any_bound = diagnosis.phases.iter().filter_map(|p| p.latency).any(|l| l.p99.at_least);
    let bound =
        if any_bound { format!("; {} lost probes count as endless", at_least(style)) } else { String::new() };
    let rpm = diagnosis
        .loaded()
        .find_map(|p| p.rpm.as_ref())
        .map_or_else(String::new, |r| format!("; RPM: {}", r.method));
    let source = source_name(diagnosis.latency_source);
    format!("latency: {source}{bound}; grade: DSLReports' bands of the mean increase{rpm}")
}

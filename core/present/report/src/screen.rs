//! A result on a terminal, for three readers: a headline for the household, three numbers for the
//! enthusiast, findings for the engineer; then what to do. Tables and charts follow on request.
use crate::bursts::{BURST_HEADINGS, BURST_UNITS, burst_rows};
use crate::captured;
use crate::curve::{phase_name, source_name};
use crate::path::{HOP_LEGEND, HopTable, RETURN_LEGEND, hop_table, return_table, wifi_line};
use crate::path_chart;
use crate::quantity::at_least;
use crate::rows::{
    APPLICATION_HEADINGS, APPLICATION_LEGEND, CLASS_HEADINGS, CLASS_UNITS, PHASE_HEADINGS, PHASE_UNITS,
    PROBE_HEADINGS, PROBE_LEGEND, PROBE_UNITS, SCORE_HEADINGS, application_cells, class_cells, load_lines,
    phase_cells, probe_cells, score_legend, score_rows,
};
use crate::sections::charts;
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_layout::{Ink, Table, cells, clean, finish, left, right, wrap};
use fathom_prose::{Action, Level, Number, Origin, Reason, Verdict, certainty_name};
use fathom_run::{Certainty, Fact, FindingKind, Grade, Run};
use fathom_text::milliseconds_bare;

/// Wider text is hard to read.
const WIDEST_TEXT: usize = 100;
/// A narrower terminal gets no charts, and no columns at the right margin.
const NARROW: usize = 60;
/// Lines of a result without details: a terminal of 24 rows also holds the name of the saved file
/// and the next prompt.
pub(crate) const ROWS: usize = 22;
/// Findings that are shown without details, at most.
const MOST_REASONS: usize = 4;
/// Indentation of what follows a level of three or four letters.
pub(crate) const BODY: usize = 6;
/// Columns of the label of a row of numbers.
const LABEL: usize = 16;
/// Column at which commands begin after a short text.
const COMMAND: usize = 30;

/// The size and form of a terminal.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    /// Columns of text.
    pub(crate) columns: usize,
    pub(crate) style: Style,
}

impl Screen {
    pub(crate) fn new(columns: u16, style: Style) -> Self {
        Screen { columns: usize::from(columns).clamp(20, WIDEST_TEXT), style }
    }
    pub(crate) const fn is_narrow(self) -> bool {
        self.columns < NARROW
    }
    fn dim(self, text: &str) -> String {
        self.style.ink(Ink::Dim, text)
    }
    pub(crate) fn heading(self, text: &str) -> String {
        self.style.ink(Ink::Bold, text)
    }

    /// The level and the headline, then the sentences after it.
    pub(crate) fn head(self, word: &str, ink: Ink, headline: &str, more: Option<&str>) -> Vec<String> {
        let level = format!("{word:<width$}  ", width = BODY - 2);
        let indent = if self.is_narrow() { 2 } else { level.len().max(BODY) };
        let text = format!("{}{}", " ".repeat(level.len()), clean(headline));
        let mut lines = wrap_from(&text, level.len(), self.columns, indent);
        if let Some(first) = lines.first_mut() {
            let rest = first.split_off(level.len().min(first.len()));
            *first = self.style.ink(ink, &self.style.ink(Ink::Bold, level.trim_end()))
                + &level[level.trim_end().len()..]
                + &self.style.ink(Ink::Bold, &rest);
            for line in lines.iter_mut().skip(1) {
                *line = self.style.ink(Ink::Bold, line);
            }
        }
        if let Some(more) = more {
            lines.extend(self.indented(&clean(more), if self.is_narrow() { 2 } else { BODY }));
        }
        lines
    }

    /// Text with `indent` spaces before each line.
    pub(crate) fn indented(self, text: &str, indent: usize) -> Vec<String> {
        let lines = wrap(text, self.columns.saturating_sub(indent), 0);
        lines.iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect()
    }

    /// The head of a verdict.
    pub(crate) fn verdict(self, verdict: &Verdict) -> Vec<String> {
        let more = verdict.consequence.as_deref().filter(|_| self.style.detail != Detail::Quiet);
        self.head(verdict.level.word(), level_ink(verdict.level), &verdict.headline, more)
    }

    /// A row for each kind of number, with the directions in columns.
    pub(crate) fn numbers(self, numbers: &[Number]) -> Vec<String> {
        let of_column = |at: usize| {
            let texts = numbers.iter().filter_map(|number| number.values.get(at));
            texts.filter(|value| !value.of.is_empty()).map(|value| cells(&plain(value))).max().unwrap_or(0)
        };
        let count = numbers.iter().map(|number| number.values.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count).map(of_column).collect();
        let width = BODY + LABEL + widths.iter().map(|width| width + 3).sum::<usize>();
        let in_columns = width <= self.columns + 3;
        numbers.iter().flat_map(|number| self.number(number, in_columns.then_some(&widths))).collect()
    }

    fn number(self, number: &Number, widths: Option<&Vec<usize>>) -> Vec<String> {
        let is_text = number.values.iter().all(|value| value.of.is_empty());
        match widths {
            Some(widths) if !is_text => {
                let mut line = " ".repeat(BODY) + &left(number.label, LABEL);
                for (value, width) in number.values.iter().zip(widths) {
                    line += &self.value(value);
                    line += &" ".repeat((width + 3).saturating_sub(cells(&plain(value))));
                }
                Vec::from([line.trim_end().to_string()])
            }
            _ => {
                let indent = if self.is_narrow() { 2 } else { BODY };
                let label = left(number.label, if self.is_narrow() { number.label.len() + 1 } else { LABEL });
                let texts: Vec<String> = number.values.iter().map(plain).collect();
                let hang = if self.is_narrow() { 2 } else { LABEL };
                let text = format!("{label}{}", clean(&texts.join(", ")));
                let room = self.columns.saturating_sub(indent);
                let lines = wrap_from(&text, label.len(), room, hang);
                lines.iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect()
            }
        }
    }

    fn value(self, value: &fathom_prose::Value) -> String {
        match value.grade {
            Some(grade) => {
                let letter = self.style.ink(grade_ink(grade), grade.letter());
                format!("{} {} ({letter})", value.text, value.of)
            }
            None => plain(value),
        }
    }

    /// An entry of the list of findings, with its certainty at the right margin.
    fn reason(self, number: usize, reason: &Reason) -> Vec<String> {
        let lead = format!("{number:>3}. ");
        let text = clean(&reason.text);
        let certainty = certainty_name(reason.certainty);
        if self.is_narrow() {
            let unsure = if reason.certainty == Certainty::Certain {
                String::new()
            } else {
                format!(" ({certainty})")
            };
            let lines = wrap(&format!("{text}{unsure}"), self.columns.saturating_sub(lead.len()), 0);
            return after(&lead, &lines);
        }
        let room = self.columns - lead.len() - "possible".len() - 2;
        let mut lines = after(&lead, &wrap(&text, room, 0));
        if let Some(last) = lines.last_mut() {
            let gap = self.columns - cells(last);
            *last += &self.dim(&right(certainty, gap));
        }
        lines
    }

    /// The frames of an entry, and what else would explain it.
    fn support(self, reason: &Reason) -> Vec<String> {
        let mut lines = Vec::new();
        for finding in &reason.findings {
            let frames: Vec<String> = finding.frames.iter().map(ToString::to_string).collect();
            if !frames.is_empty() {
                lines.extend(self.indented(&format!("frames {}", frames.join(", ")), 5));
            }
            let others = finding.alternatives.iter();
            let others = others.map(|other| format!("or: {}", clean(&fathom_prose::alternative(other))));
            lines.extend(others.flat_map(|text| self.indented(&text, 5)));
        }
        lines.iter().map(|line| self.dim(line)).collect()
    }

    /// The list of findings: with details all of them, otherwise as many as fit into `rows` lines,
    /// and at least one. What is excluded is left out if it leaves no room for the second finding.
    /// `hint` is what shows the others.
    pub(crate) fn reasons(
        self,
        reasons: &[Reason],
        excluded: Option<&str>,
        rows: usize,
        hint: &str,
    ) -> Vec<String> {
        let entries: Vec<Vec<String>> =
            (1..).zip(reasons).map(|(number, reason)| self.reason(number, reason)).collect();
        let excluded = excluded.filter(|_| !reasons.is_empty());
        if self.style.detail == Detail::Verbose {
            let supported = entries.into_iter().zip(reasons);
            let mut lines: Vec<String> =
                supported.flat_map(|(entry, of)| entry.into_iter().chain(self.support(of))).collect();
            lines.extend(self.remainder(excluded, 0, hint));
            return lines;
        }
        let list = |count: usize, ruled_out| {
            let shown = entries.iter().take(count).flatten().cloned();
            shown.chain(self.remainder(ruled_out, entries.len() - count, hint)).collect::<Vec<String>>()
        };
        let most = entries.len().min(MOST_REASONS);
        let two = entries.len().min(2);
        let full = (two..=most).rev().map(|count| (count, excluded));
        let small = [(two, None), (1, excluded)].into_iter().filter(|(count, _)| *count <= most);
        let fitting = full.chain(small).map(|(count, ruled_out)| list(count, ruled_out));
        fitting.into_iter().find(|lines| lines.len() <= rows).unwrap_or_else(|| list(most.min(1), None))
    }

    /// What is excluded, and how many findings are not shown.
    fn remainder(self, excluded: Option<&str>, hidden: usize, hint: &str) -> Vec<String> {
        let excluded = excluded.map(|excluded| format!("Excluded: {excluded}."));
        let more = (hidden > 0).then(|| format!("{hidden} more: {hint}"));
        let text: Vec<String> = excluded.into_iter().chain(more).collect();
        if text.is_empty() { Vec::new() } else { self.indented(&clean(&text.join(" ")), 2) }
    }

    /// A command that can be copied: where it does not fit, lines end with a backslash.
    fn command(self, command: &str) -> Vec<String> {
        let indent = if self.is_narrow() { 4 } else { BODY };
        let room = self.columns.saturating_sub(indent + 2);
        // A name that is longer than a line cannot be broken.
        let word = |word: &str| if cells(word) + 2 > room { "FILE".to_string() } else { word.to_string() };
        let words: Vec<String> = command.split(' ').map(word).collect();
        let mut lines = wrap(&words.join(" "), room, 2);
        let last = lines.len().saturating_sub(1);
        for line in lines.iter_mut().take(last) {
            *line += " \\";
        }
        lines.iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect()
    }

    /// What to do.
    pub(crate) fn actions(self, actions: &[Action]) -> Vec<String> {
        let mut lines = Vec::new();
        for action in actions {
            lines.extend(self.indented(&clean(&action.text), 2));
            let Some(command) = action.command.as_deref().map(clean) else { continue };
            let last: usize = lines.last().map_or(0, |line| cells(line));
            let at = COMMAND.max(last + 2);
            match lines.last_mut().filter(|_| at + cells(&command) <= self.columns) {
                Some(line) => *line = left(line, at) + &command,
                None => lines.extend(self.command(&command)),
            }
        }
        lines
    }
}

/// Lines of `text`, of which the first `start` columns may be spaces.
fn wrap_from(text: &str, start: usize, columns: usize, indent: usize) -> Vec<String> {
    let (lead, rest) = text.split_at(start);
    let mark = "\u{1}".repeat(start);
    let lines = wrap(&format!("{mark}{rest}"), columns, indent);
    let put_back = |(at, line): (usize, String)| if at == 0 { line.replacen(&mark, lead, 1) } else { line };
    lines.into_iter().enumerate().map(put_back).collect()
}

/// `lead` before the first line, and as many spaces before the others.
fn after(lead: &str, lines: &[String]) -> Vec<String> {
    let put = |(at, line): (usize, &String)| {
        if at == 0 { format!("{lead}{line}") } else { format!("{}{line}", " ".repeat(lead.len())) }
    };
    lines.iter().enumerate().map(put).collect()
}

fn plain(value: &fathom_prose::Value) -> String {
    let grade = value.grade.map_or_else(String::new, |grade| format!(" ({})", grade.letter()));
    if value.of.is_empty() { value.text.clone() } else { format!("{} {}{grade}", value.text, value.of) }
}

pub(crate) const fn level_ink(level: Level) -> Ink {
    match level {
        Level::Good => Ink::Good,
        Level::Fair | Level::NoResult => Ink::Fair,
        Level::Bad | Level::AtLeastBad => Ink::Bad,
    }
}

pub(crate) const fn grade_ink(grade: Grade) -> Ink {
    match grade {
        Grade::APlus | Grade::A => Ink::Good,
        Grade::B | Grade::C => Ink::Fair,
        Grade::D | Grade::F => Ink::Bad,
    }
}

/// A result for a terminal of `columns`: headline, numbers, findings and what to do; with details
/// everything else.
pub fn summary(run: &Run, diagnosis: &Diagnosis, origin: Origin<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let verdict = fathom_prose::verdict(run, diagnosis);
    let mut lines = screen.verdict(&verdict);
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let is_verbose = style.detail == Detail::Verbose;
    let is_imported = run.facts.contains_key(&Fact::Tool);
    let is_unknown = verdict.level == Level::NoResult && run.capture.is_none() && run.history.is_none();
    // What was measured of a line without a verdict means nothing, but a queue that requests or
    // their replies filled is there.
    let has_queue = diagnosis.reason.as_ref().is_some_and(|reason| {
        use fathom_run::Reason::{RepliesLimited, UnknownDirection};
        matches!(reason, UnknownDirection | RepliesLimited)
    });
    let is_hidden = is_unknown && !is_verbose && !has_queue;
    // Other tools often measure rates alone: these need no verdict.
    if !is_hidden || is_imported {
        let numbers = screen.numbers(&fathom_prose::numbers(run, diagnosis));
        lines.extend(block(numbers));
    }
    let mut reasons = fathom_prose::reasons(run, diagnosis);
    if is_hidden {
        reasons.retain(|reason| reason.findings.iter().any(|found| found.kind() == FindingKind::Instrument));
    }
    let actions = screen.actions(&fathom_prose::actions(run, diagnosis, origin));
    let notes = if is_unknown || is_verbose || is_imported { notes(run, screen) } else { Vec::new() };
    let notes = section(screen, "Notes", notes);
    let taken = lines.len() + notes.len() + if actions.is_empty() { 2 } else { actions.len() + 4 };
    let excluded = fathom_prose::excluded(&diagnosis.findings);
    let hint = if origin.file.is_some() { "fathom report FILE -v" } else { "-v" };
    let reasons = screen.reasons(&reasons, excluded.as_deref(), ROWS.saturating_sub(taken), hint);
    lines.extend(section(screen, "Why", reasons));
    lines.extend(notes);
    lines.extend(section(screen, "What to do", actions));
    if is_verbose {
        lines.extend(details(run, diagnosis, screen, usize::from(columns)));
    }
    finish(&lines, style)
}

/// Lines after an empty one; nothing without any.
pub(crate) fn block(lines: Vec<String>) -> Vec<String> {
    let gap = (!lines.is_empty()).then(String::new);
    gap.into_iter().chain(lines).collect()
}

/// Lines below a heading; nothing without any.
pub(crate) fn section(screen: Screen, heading: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    block([screen.heading(heading)].into_iter().chain(lines).collect())
}

fn notes(run: &Run, screen: Screen) -> Vec<String> {
    let all = run.notes.iter().map(|note| clean(&fathom_prose::note(note)));
    all.flat_map(|note| after("  - ", &wrap(&note, screen.columns.saturating_sub(4), 0))).collect()
}

/// Tables and charts.
fn details(run: &Run, diagnosis: &Diagnosis, screen: Screen, columns: usize) -> Vec<String> {
    let style = screen.style;
    let mut lines = block(Vec::from([screen.heading(&clean(&run.title))]));
    match &run.capture {
        Some(capture) => lines.extend(captured::tables(capture, columns, screen.columns, style)),
        None if run.is_of_bursts() => {
            let mut table = Table::new();
            table.head(&BURST_HEADINGS);
            table.head(&BURST_UNITS);
            burst_rows(run).into_iter().for_each(|row| table.row(row.map(|text| (text, None))));
            lines.extend(table.lines(columns, style));
        }
        None => {
            lines.extend(phase_table(diagnosis, style).lines(columns, style));
            lines.extend(
                wrap(&legend(diagnosis, style), screen.columns, 0).iter().map(|line| screen.dim(line)),
            );
            let of_load = load_lines(run);
            let of_load = of_load.iter().flat_map(|line| wrap(line, screen.columns, 0));
            lines.extend(of_load.map(|line| screen.dim(&line)));
            lines.extend(probe_lines(diagnosis, screen, columns));
            lines.extend(class_lines(diagnosis, screen, columns));
            lines.extend(application_lines(diagnosis, screen, columns));
            lines.extend(hop_lines(run, diagnosis, screen, columns));
            lines.extend(score_lines(diagnosis, screen, columns));
        }
    }
    if columns >= NARROW {
        lines.extend(block(charts(run, diagnosis, screen.columns, style)));
    }
    lines
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

fn class_lines(diagnosis: &Diagnosis, screen: Screen, columns: usize) -> Vec<String> {
    if diagnosis.classes.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new();
    table.head(&CLASS_HEADINGS);
    table.head(&CLASS_UNITS);
    for class in &diagnosis.classes {
        table.row(class_cells(class, screen.style).map(|text| (text, None)));
    }
    block(table.lines(columns, screen.style))
}

fn probe_lines(diagnosis: &Diagnosis, screen: Screen, columns: usize) -> Vec<String> {
    if diagnosis.probes.is_empty() {
        return Vec::new();
    }
    let style = screen.style;
    let mut table = Table::new();
    table.head(&PROBE_HEADINGS);
    table.head(&PROBE_UNITS);
    for probes in &diagnosis.probes {
        table.row(probe_cells(probes, style).map(|text| (text, None)));
    }
    let mut lines = block(table.lines(columns, style));
    lines.extend(wrap(PROBE_LEGEND, screen.columns, 0).iter().map(|line| screen.dim(line)));
    lines
}

fn application_lines(diagnosis: &Diagnosis, screen: Screen, columns: usize) -> Vec<String> {
    if diagnosis.applications.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new();
    table.head(&APPLICATION_HEADINGS);
    for row in &diagnosis.applications {
        table.row(application_cells(row, screen.style).map(|text| (clean(&text), None)));
    }
    let mut lines = block(table.lines(columns, screen.style));
    lines.extend(wrap(APPLICATION_LEGEND, screen.columns, 0).iter().map(|line| screen.dim(line)));
    lines
}

pub(crate) fn hop_lines(run: &Run, diagnosis: &Diagnosis, screen: Screen, columns: usize) -> Vec<String> {
    let Some(hops) = hop_table(run, diagnosis) else { return Vec::new() };
    let mut lines = hop_rows(hops, screen, columns);
    let legend = |text: &str| wrap(text, screen.columns, 0).into_iter().map(|line| screen.dim(&line));
    lines.extend(wifi_line(run).iter().flat_map(|text| legend(text)));
    lines.extend(legend(HOP_LEGEND));
    if let Some(back) = return_table(run) {
        lines.extend(hop_rows(back, screen, columns));
        lines.extend(legend(RETURN_LEGEND));
    }
    let chart = path_chart::lines(run, diagnosis, screen.columns, screen.style);
    if !chart.is_empty() && columns >= NARROW {
        lines.extend(block(chart));
    }
    lines
}

fn hop_rows(hops: HopTable, screen: Screen, columns: usize) -> Vec<String> {
    let mut table = Table::new();
    table.head(&hops.headings);
    table.head(&hops.units);
    for row in hops.rows {
        table.row(row.into_iter().map(|text| (text, None)));
    }
    block(table.lines(columns, screen.style))
}

fn score_lines(diagnosis: &Diagnosis, screen: Screen, columns: usize) -> Vec<String> {
    let rows = score_rows(diagnosis);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new();
    table.head(&SCORE_HEADINGS);
    rows.into_iter().for_each(|row| table.row(row.map(|text| (text, None))));
    let mut lines = block(table.lines(columns, screen.style));
    lines.extend(wrap(&score_legend(diagnosis), screen.columns, 0).iter().map(|line| screen.dim(line)));
    lines
}

/// How precisely the percentiles under load are known, in ms.
fn intervals(diagnosis: &Diagnosis) -> String {
    let ends = |(low, high): (f64, Option<f64>)| {
        let low = milliseconds_bare(low);
        high.map_or_else(|| format!("{low} or more"), |high| format!("{low} to {}", milliseconds_bare(high)))
    };
    let of = |phase: &PhaseSummary| {
        let [p50, p90] = phase.intervals_s?.map(ends);
        Some(format!("{} {p50}, {p90}", phase_name(phase.kind)))
    };
    let all: Vec<String> = diagnosis.loaded().filter_map(of).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!("; 95 % intervals of p50 and p90, ms: {}", all.join("; "))
    }
}

fn legend(diagnosis: &Diagnosis, style: Style) -> String {
    let any_bound = diagnosis.phases.iter().filter_map(|p| p.latency).any(|l| l.p99.at_least);
    let bound = if any_bound {
        format!("; {} is a lower bound: the last probes were not answered", at_least(style))
    } else {
        String::new()
    };
    let rpm = diagnosis
        .loaded()
        .find_map(|p| p.rpm.as_ref())
        .map_or_else(String::new, |r| format!("; RPM: {}", r.method));
    let source = source_name(diagnosis.latency_source);
    let intervals = intervals(diagnosis);
    format!(
        "lag when busy: latency under load (p90) less idle latency (median); latency: {source}{bound}; grade: DSLReports' bands of \
         the mean increase{rpm}{intervals}"
    )
}

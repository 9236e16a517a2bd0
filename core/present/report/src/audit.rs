//! An audit of a host for a terminal: the problems, ranked, each with its calculation, remedy and
//! undo; then what is no problem.
use crate::screen::{Screen, block};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::{Ink, Table, cells, clean, finish, left, right, wrap};
use fathom_prose::{
    audit_verdict, calculation, interface_name, queue, queue_delay, queue_name, queue_reason, rate_source,
    remedy,
};
use fathom_run::{AuditedInterface, Finding, FindingKind, HostAudit, ObservedSpan, QueueKind, QueuePoint};
use fathom_text::{bytes, counted, percent, rate, seconds, thousands};

/// An audit and what it shows.
#[derive(Clone, Copy)]
pub struct Audited<'a> {
    /// The host and its interfaces.
    pub host: &'a HostAudit,
    /// The findings, the worst first.
    pub diagnosis: &'a Diagnosis,
    /// Every queue point in detail, including those that are no problem.
    pub all: bool,
}

/// The audit as text: the verdict, the interfaces, the problems by rank, and what is no problem.
pub fn audit(audited: &Audited<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let columns = usize::from(columns).max(40);
    let mut lines = screen.verdict(&audit_verdict(audited.diagnosis));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    lines.extend(block(heading(audited.host, columns, style)));
    let findings = &audited.diagnosis.findings;
    let is_problem = |finding: &&Finding| audited.all || finding.kind() != FindingKind::HarmlessQueue;
    let (problems, harmless): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(is_problem);
    for (number, finding) in (1..).zip(problems) {
        lines.extend(block(problem(number, finding, audited.host.observed.is_some(), columns, style)));
    }
    if !harmless.is_empty() && style.detail == Detail::Normal {
        let places = if harmless.len() == 1 { "place is" } else { "places are" };
        let text = format!("{} other {places} no problem (-v lists them).", harmless.len());
        lines.extend(block(wrap(&text, columns, 0)));
    } else if !harmless.is_empty() {
        let mut list: Vec<String> =
            harmless.iter().flat_map(|found| no_problem(found, columns, style)).collect();
        list.insert(0, style.ink(Ink::Dim, "No problem (--all shows what to change there):"));
        lines.extend(block(list));
        lines.extend(wrap(&not_here(findings), columns, 2).iter().map(|line| style.ink(Ink::Dim, line)));
    }
    finish(&lines, style)
}

fn heading(host: &HostAudit, columns: usize, style: Style) -> Vec<String> {
    let name = host.host.as_deref().unwrap_or("this host");
    let kernel = host.kernel.as_ref().map_or_else(String::new, |kernel| format!(", Linux {kernel}"));
    let mut lines = Vec::from([style.ink(Ink::Bold, &clean(&format!("{name}{kernel}")))]);
    let mut table = Table::new();
    for interface in &host.interfaces {
        table.row(interface_cells(interface).map(|cell| (cell, None)));
    }
    lines.extend(table.lines(columns, style));
    let observed = wrap(&observation(host.observed.as_ref()), columns.saturating_sub(2), 2);
    lines.extend(observed.iter().map(|line| format!("  {line}")));
    lines
}

fn interface_cells(interface: &AuditedInterface) -> [String; 4] {
    let route = if interface.has_default_route { ", default route" } else { "" };
    let name = clean(&interface.name);
    let (speed, source) = interface.rate_bits_per_second.zip(interface.rate_source).map_or_else(
        || ("rate unknown".to_string(), format!("pass --rate {name}=RATE")),
        |(value, source)| (rate(value as f64), rate_source(source).to_string()),
    );
    [format!("  {name}"), format!("{}{route}", interface_name(interface.kind)), speed, source]
}

fn observation(observed: Option<&ObservedSpan>) -> String {
    match observed {
        None => "Not observed under load. To observe it while the link is busy: --observe 10s".to_string(),
        Some(observed) => {
            let samples = counted(observed.sample_count, "sample", "samples");
            format!("Observed for {}, {samples}.", seconds(observed.span_s))
        }
    }
}

/// Queue points of the list that this host does not have.
fn not_here(findings: &[Finding]) -> String {
    let is_here = |kind| findings.iter().filter_map(Finding::queue_point).any(|p| p.queue.kind() == kind);
    let missing = QueueKind::ALL.iter().filter(|kind| !is_here(**kind));
    let names: Vec<String> =
        missing.map(|kind| format!("{} [{}]", queue_name(*kind), kind.number())).collect();
    format!("Not on this host, or not readable: {}.", names.join(", "))
}

/// The queue point and its interface; then its figures, the reason, and what to do.
fn problem(number: usize, finding: &Finding, is_observed: bool, columns: usize, style: Style) -> Vec<String> {
    let Some(point) = finding.queue_point() else { return Vec::new() };
    let (mark, ink) = match finding.kind() {
        FindingKind::DarkBuffer => ("dark", Ink::Fair),
        FindingKind::HarmlessQueue => ("no problem", Ink::Good),
        FindingKind::UnreadableQueue => ("unknown", Ink::Fair),
        _ => ("BAD", Ink::Bad),
    };
    let title = format!("{number:>2}. {}", title(point, ": "));
    let room = columns.saturating_sub(cells(&title));
    let mut lines = if room >= cells(mark) + 2 {
        Vec::from([style.ink(Ink::Bold, &title) + &style.ink(ink, &right(mark, room))])
    } else {
        let titles = wrap(&title, columns, 4);
        let mark = style.ink(ink, &right(mark, columns));
        titles.iter().map(|line| style.ink(Ink::Bold, line)).chain([mark]).collect()
    };
    let body = columns.saturating_sub(4);
    let mut add =
        |text: &str| lines.extend(wrap(&clean(text), body, 0).iter().map(|line| format!("    {line}")));
    add(&queue(point));
    figures(point, is_observed).iter().for_each(|figure| add(figure));
    add(&queue_reason(finding.kind(), point));
    let remedies: Vec<_> = finding.remedies.iter().map(remedy).collect();
    let fixes = remedies.iter().map(|remedy| ("fix ", &remedy.apply));
    for (word, command) in fixes.chain(remedies.iter().filter_map(|r| Some(("undo", r.undo.as_ref()?)))) {
        // Not broken into lines: it is to be copied.
        lines.push(format!("    {} {}", style.ink(Ink::Dim, word), clean(command)));
    }
    lines
}

/// `eth0: queue discipline [6]`.
fn title(point: &QueuePoint, separator: &str) -> String {
    let interface =
        point.interface.as_ref().map_or_else(String::new, |name| format!("{}{separator}", clean(name)));
    let kind = point.queue.kind();
    format!("{interface}{} [{}]", queue_name(kind), kind.number())
}

fn figures(point: &QueuePoint, is_observed: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let super_packets = point.worst_of_super_packets.iter().map(|worst| ("with super-packets", worst));
    for (what, worst) in point.worst.iter().map(|worst| ("max", worst)).chain(super_packets) {
        lines.push(format!("{what} {} = {}", queue_delay(worst.delay_s), calculation(worst)));
    }
    let timer = point.timer_s.filter(|timer_s| *timer_s > 0.0);
    lines.extend(timer.map(|timer_s| format!("plus {} from its timer", queue_delay(timer_s))));
    lines.extend(match (point.observed_bytes, point.observed_delay_s) {
        (Some(most), Some(delay_s)) => {
            Some(format!("observed: {} = {}", queue_delay(delay_s), bytes(most as f64)))
        }
        (Some(most), None) => Some(format!("observed: {}", bytes(most as f64))),
        (None, _) if is_observed && point.worst.is_some() => Some("observed: not measurable".to_string()),
        _ => None,
    });
    let is_compared = point.worst.is_some() || point.queue.kind() == QueueKind::LinkBeyond;
    lines.extend(point.arrival_ratio.filter(|ratio| is_compared && *ratio != 1.0).map(arrivals));
    lines
}

fn arrivals(ratio: f64) -> String {
    if ratio > 1.0 {
        let times = if ratio < 9.95 { format!("{ratio:.1}") } else { thousands(ratio) };
        format!("arrival rate: up to {times} times the rate at which it drains")
    } else {
        format!(
            "arrival rate: {} of the rate at which it drains, so packets do not wait here",
            percent(ratio)
        )
    }
}

/// One line, so that ten interfaces do not hide the eleventh.
fn no_problem(finding: &Finding, columns: usize, style: Style) -> Vec<String> {
    let Some(point) = finding.queue_point() else { return Vec::new() };
    let delay = match (&point.worst, point.timer_s) {
        (None, None) => "-".to_string(),
        _ => queue_delay(point.delay_s()),
    };
    let observed = point.observed_delay_s;
    let observed =
        observed.map_or_else(String::new, |delay_s| format!(", observed {}", queue_delay(delay_s)));
    let reason = queue_reason(finding.kind(), point);
    let text = format!("{}: {}{observed} ({reason})", title(point, " "), queue(point));
    let room = columns.saturating_sub(14);
    let lead = |at: usize| if at == 0 { right(&delay, 11) } else { left("", 11) };
    let wrapped = wrap(&clean(&text), room, 2);
    wrapped
        .iter()
        .enumerate()
        .map(|(at, line)| format!("{}  {}", lead(at), style.ink(Ink::Dim, line)))
        .collect()
}

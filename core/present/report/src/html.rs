//! A self-contained page: no script, style, font or picture is loaded.
mod capture;

use crate::bursts::{BURST_HEADINGS, BURST_UNITS, burst_rows};
use crate::compare::key_quantities;
use crate::curve::{phase_name, source_name};
use crate::path::{HOP_LEGEND, HopTable, RETURN_LEGEND, hop_table, return_table, wifi_line};
use crate::path_svg::path_chart;
use crate::quantity::Quantity;
use crate::rows::{
    APPLICATION_HEADINGS, APPLICATION_LEGEND, CLASS_HEADINGS, CLASS_UNITS, PHASE_HEADINGS, PHASE_UNITS,
    PROBE_HEADINGS, PROBE_LEGEND, PROBE_UNITS, SCORE_HEADINGS, application_cells, class_cells, comparison,
    load_lines, phase_cells, probe_cells, score_legend, score_rows,
};
use crate::svg::{
    CHART_STYLE, Extent, PALETTE, distribution_chart, escape, lateness_chart, one_way_chart, over_time,
};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_prose::{Action, Level, Number, Origin, Reason, Value, certainty_name, kind_name};
use fathom_run::{Alternative, Fact, Finding, Grade, Metric, PhaseKind, Rpm, Run};
use fathom_stats::DelayHistogram;
use fathom_text::{bytes, milliseconds, percent, seconds, thousands};

/// A run and what was found in it.
type Pair<'a> = (&'a Run, &'a Diagnosis);

const UNICODE: Style = Style { color: false, unicode: true, detail: Detail::Normal };

/// A page without external resources; two runs or more make a comparison with shared axes.
pub fn html(runs: &[Pair<'_>]) -> String {
    let wide = if runs.len() > 1 { " class=\"wide\"" } else { "" };
    let body = [
        header(runs),
        verdicts(runs),
        changes(runs, "What changed", &key_quantities(runs)),
        charts(runs),
        changes(runs, "All numbers", &comparison(runs)),
        tables(runs),
        capture::flows(runs),
        people(runs),
        findings(runs),
    ];
    let body = format!("{}{}{}", body.concat(), instruments(runs), footer(runs));
    let title = runs.first().map_or("", |(run, _)| &run.title);
    page_of(title, wide, "", &body)
}

/// A page of one run, with more style.
pub(crate) fn page(title: &str, style: &str, body: &str) -> String {
    page_of(title, "", style, body)
}

fn page_of(title: &str, wide: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{} – Fathom</title>\
         <style>{PALETTE}{}{CHART_STYLE}{style}</style></head><body><main{wide}>{body}</main><script>{}</script></body></html>\n",
        escape(title),
        include_str!("html/page.css"),
        include_str!("html/theme.js"),
    )
}

/// One cell of the page's grid for each run.
fn for_each(runs: &[Pair<'_>], cell: impl Fn(&Pair<'_>) -> String) -> String {
    let class = if runs.len() > 1 { "runs many" } else { "runs" };
    format!("<div class=\"{class}\">{}</div>", runs.iter().map(cell).collect::<String>())
}

pub(crate) fn header(runs: &[Pair<'_>]) -> String {
    let started = runs.first().map_or("", |(run, _)| run.started.as_str());
    let command = runs.first().map_or("", |(run, _)| run.command.as_str());
    // Many files of other tools have no time of day.
    let separator = if started.is_empty() { "" } else { " · " };
    let (command, started) = (escape(command), escape(started));
    format!(
        "<header><b>Fathom</b><span>{command}{separator}{started}</span><button id=\"theme\" type=\"button\" hidden>Dark</button></header>"
    )
}

/// Headline and numbers of each run; for a single one also the findings that matter most, and what
/// to do.
fn verdicts(runs: &[Pair<'_>]) -> String {
    let heads = for_each(runs, |pair| format!("<div>{}{}</div>", hero(pair), figures(pair)));
    match runs {
        [(run, diagnosis)] => heads + &why(run, diagnosis) + &what_to_do(run, diagnosis),
        _ => heads,
    }
}

pub(crate) fn hero((run, diagnosis): &Pair<'_>) -> String {
    let verdict = fathom_prose::verdict(run, diagnosis);
    let more = verdict.consequence.map_or_else(String::new, |text| format!("<p>{}</p>", escape(&text)));
    format!(
        "<section class=\"card hero {}\"><p class=\"where\" dir=\"auto\">{}</p><p class=\"level\">{}</p><h1>{}</h1>{more}</section>",
        level_class(verdict.level),
        escape(&run.title),
        verdict.level.word(),
        with_units(&escape(&verdict.headline))
    )
}

/// Text in which no line ends between a number and its unit.
pub(crate) fn with_units(text: &str) -> String {
    let mut before = ' ';
    let join = |c: char| {
        let joined = if c == ' ' && before.is_ascii_digit() { '\u{a0}' } else { c };
        before = c;
        joined
    };
    text.chars().map(join).collect()
}

/// Class of the color of a level.
const fn level_class(level: Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Fair | Level::NoResult => "fair",
        Level::Bad | Level::AtLeastBad => "bad",
    }
}

/// The numbers that a result is remembered by.
pub(crate) fn figures((run, diagnosis): &Pair<'_>) -> String {
    let cards: String = fathom_prose::numbers(run, diagnosis).iter().map(number).collect();
    format!("<div class=\"numbers\">{cards}</div>")
}

fn number(number: &Number) -> String {
    let value = |value: &Value| {
        let grade = value.grade.map_or_else(String::new, |grade| {
            format!(" <b class=\"grade {}\" title=\"grade\">{}</b>", grade_class(grade), grade.letter())
        });
        match value.of {
            "" => format!("<p>{}</p>", escape(&value.text)),
            of => format!("<p><b>{}</b> <small>{of}</small>{grade}</p>", escape(&value.text)),
        }
    };
    let values: String = number.values.iter().map(value).collect();
    format!("<div class=\"card number\"><h2>{}</h2>{values}</div>", number.label)
}

/// Entries above the charts; the list below has all.
const MOST_REASONS: usize = 4;

pub(crate) fn why(run: &Run, diagnosis: &Diagnosis) -> String {
    let reasons = fathom_prose::reasons(run, diagnosis);
    if reasons.is_empty() {
        return String::new();
    }
    let entry = |reason: &Reason| {
        let certainty = certainty_name(reason.certainty);
        format!("<li>{} <small>{certainty}</small></li>", with_units(&escape(&reason.text)))
    };
    let entries: String = reasons.iter().take(MOST_REASONS).map(entry).collect();
    let excluded = fathom_prose::excluded(&diagnosis.findings);
    let excluded = excluded.map_or_else(String::new, |text| format!("<p>Excluded: {}.</p>", escape(&text)));
    format!("<h2>Why</h2><div class=\"card why\"><ol>{entries}</ol>{excluded}</div>")
}

fn what_to_do(run: &Run, diagnosis: &Diagnosis) -> String {
    let action = |action: &Action| {
        let command = action.command.as_ref();
        let command = command.map_or_else(String::new, |text| format!("<pre>{}</pre>", escape(text)));
        format!("<p>{}</p>{command}", escape(&action.text))
    };
    let actions: String =
        fathom_prose::actions(run, diagnosis, Origin::default()).iter().map(action).collect();
    match actions.is_empty() {
        true => actions,
        false => format!("<h2>What to do</h2><div class=\"card actions\">{actions}</div>"),
    }
}

/// First against last, for a comparison.
fn changes(runs: &[Pair<'_>], heading: &str, quantities: &[Quantity]) -> String {
    if runs.len() < 2 || quantities.is_empty() {
        return String::new();
    }
    let names: String = runs.iter().map(|(run, _)| format!("<th>{}</th>", escape(&run.title))).collect();
    let mut rows = String::new();
    let mut group = String::new();
    for quantity in quantities {
        if group != quantity.group {
            group.clone_from(&quantity.group);
            let columns = runs.len() + 2;
            rows += &format!("<tr class=\"group\"><td colspan=\"{columns}\">{}</td></tr>", escape(&group));
        }
        let values: String = (0..runs.len()).map(|i| format!("<td>{}</td>", quantity.text(i))).collect();
        let class = quantity.better().map_or("", |better| if better { "good" } else { "bad" });
        let change = quantity.change(UNICODE);
        rows += &format!("<tr><td>{}</td>{values}<td class=\"{class}\">{change}</td></tr>", quantity.name);
    }
    format!(
        "<h2>{heading}</h2><div class=\"card scroll\"><table><tr><th></th>{names}<th>change</th></tr>{rows}</table></div>"
    )
}

fn charts(runs: &[Pair<'_>]) -> String {
    if runs.iter().all(|(run, _)| run.is_of_bursts()) {
        return String::new();
    }
    let extents = runs.iter().map(|(run, diagnosis)| Extent::of(run, diagnosis));
    let Some(extent) = extents.reduce(Extent::union) else { return String::new() };
    let charts = for_each(runs, |(run, diagnosis)| {
        let others = [one_way_chart(run, &extent), distribution_chart(run, diagnosis, &extent)];
        let drawn = over_time(run, diagnosis, &extent).into_iter().chain(others);
        let cards: String = drawn.flatten().map(|c| format!("<div class=\"card\">{c}</div>")).collect();
        format!("<div class=\"charts\">{}{cards}</div>", name_above(runs, run))
    });
    format!("<h2>Over time</h2>{charts}")
}

/// The title above each column of a comparison.
fn name_above(runs: &[Pair<'_>], run: &Run) -> String {
    if runs.len() > 1 {
        format!("<p class=\"names\" dir=\"auto\">{}</p>", escape(&run.title))
    } else {
        String::new()
    }
}

fn are_captures(runs: &[Pair<'_>]) -> bool {
    runs.iter().all(|(run, _)| run.capture.is_some())
}

/// As those of captures.
fn have_no_phases(runs: &[Pair<'_>]) -> bool {
    runs.iter().all(|(_, diagnosis)| diagnosis.phases.is_empty())
}

fn burst_tables(runs: &[Pair<'_>]) -> String {
    if runs.iter().all(|(run, _)| run.bursts.is_empty()) {
        return String::new();
    }
    let head = head_of(&BURST_HEADINGS, &BURST_UNITS);
    let tables = for_each(runs, |(run, _)| {
        let row = |cells: [String; 6]| cells.map(|text| format!("<td>{text}</td>")).concat();
        let rows: String =
            burst_rows(run).into_iter().map(|cells| format!("<tr>{}</tr>", row(cells))).collect();
        let name = name_above(runs, run);
        format!("<div>{name}<div class=\"card scroll\"><table><tr>{head}</tr>{rows}</table></div></div>")
    });
    format!("<h2>Bursts</h2>{tables}")
}

fn tables(runs: &[Pair<'_>]) -> String {
    if have_no_phases(runs) {
        return burst_tables(runs);
    }
    let head = head_of(&PHASE_HEADINGS, &PHASE_UNITS);
    let tables = for_each(runs, |(run, diagnosis)| {
        let rows: String = diagnosis.phases.iter().map(phase_row).collect();
        let name = name_above(runs, run);
        let line = |text: String| format!("<p class=\"names\">{}</p>", escape(&text));
        let lines: String = load_lines(run).into_iter().map(line).collect();
        format!(
            "<div>{name}<div class=\"card scroll\"><table><tr>{head}</tr>{rows}</table></div>{lines}</div>"
        )
    });
    let more = [probe_tables, class_tables, burst_tables, application_tables, hop_tables, score_tables];
    let more: String = more.into_iter().map(|of_kind| of_kind(runs)).collect();
    format!("<h2>Phases</h2>{tables}{more}")
}

/// A table for each run, with a row for each of `rows`; nothing if no run has any.
fn row_tables(
    runs: &[Pair<'_>],
    (title, legend): (&str, &str),
    (headings, units): (&[&str], &[&str]),
    rows: impl Fn(&Diagnosis) -> Vec<Vec<String>>,
) -> String {
    if runs.iter().all(|(_, diagnosis)| rows(diagnosis).is_empty()) {
        return String::new();
    }
    let head = head_of(headings, units);
    let row_of = |cells: &Vec<String>| {
        let cells: String = cells.iter().map(|text| format!("<td>{}</td>", escape(text))).collect();
        format!("<tr>{cells}</tr>")
    };
    let tables = for_each(runs, |(run, diagnosis)| {
        let rows: String = rows(diagnosis).iter().map(row_of).collect();
        let name = name_above(runs, run);
        format!("<div>{name}<div class=\"card scroll\"><table><tr>{head}</tr>{rows}</table></div></div>")
    });
    let legend = if legend.is_empty() { String::new() } else { format!("<p class=\"names\">{legend}</p>") };
    format!("<h2>{title}</h2>{tables}{legend}")
}

fn probe_tables(runs: &[Pair<'_>]) -> String {
    let rows = |diagnosis: &Diagnosis| {
        diagnosis.probes.iter().map(|probes| probe_cells(probes, UNICODE).to_vec()).collect()
    };
    row_tables(runs, ("Probes", PROBE_LEGEND), (&PROBE_HEADINGS, &PROBE_UNITS), rows)
}

fn class_tables(runs: &[Pair<'_>]) -> String {
    let rows = |diagnosis: &Diagnosis| {
        diagnosis.classes.iter().map(|class| class_cells(class, UNICODE).to_vec()).collect()
    };
    row_tables(runs, ("Classes", ""), (&CLASS_HEADINGS, &CLASS_UNITS), rows)
}

fn application_tables(runs: &[Pair<'_>]) -> String {
    let rows = |diagnosis: &Diagnosis| {
        diagnosis.applications.iter().map(|row| application_cells(row, UNICODE).to_vec()).collect()
    };
    let units = [""; APPLICATION_HEADINGS.len()];
    row_tables(runs, ("Applications", APPLICATION_LEGEND), (&APPLICATION_HEADINGS, &units), rows)
}

pub(crate) fn hop_tables(runs: &[Pair<'_>]) -> String {
    if runs.iter().all(|(run, _)| run.path.is_none()) {
        return String::new();
    }
    let tables = for_each(runs, |(run, diagnosis)| {
        let [table, back] = [hop_table(run, diagnosis), return_table(run)]
            .map(|table| table.map(hop_table_html).unwrap_or_default());
        let chart = path_chart(run, diagnosis).map(|chart| format!("<div class=\"card\">{chart}</div>"));
        let wifi = wifi_line(run).map_or_else(String::new, |line| format!("<p class=\"names\">{line}</p>"));
        format!(
            "<div class=\"charts\">{}{}{table}{wifi}{back}</div>",
            name_above(runs, run),
            chart.unwrap_or_default()
        )
    });
    let has_back = runs.iter().any(|(run, _)| return_table(run).is_some());
    let legend = if has_back { format!("{HOP_LEGEND}; {RETURN_LEGEND}") } else { HOP_LEGEND.into() };
    format!("<h2>Path</h2>{tables}<p class=\"names\">{legend}</p>")
}

fn hop_table_html(HopTable { headings, units, rows }: HopTable) -> String {
    let head = head_of(&headings, &units);
    let row = |cells: Vec<String>| {
        let cells: String = cells.iter().map(|text| format!("<td>{}</td>", escape(text))).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!("<div class=\"card scroll\"><table><tr>{head}</tr>{rows}</table></div>")
}

fn score_tables(runs: &[Pair<'_>]) -> String {
    if runs.iter().all(|(_, diagnosis)| score_rows(diagnosis).is_empty()) {
        return String::new();
    }
    let head = head_of(&SCORE_HEADINGS, &[""; SCORE_HEADINGS.len()]);
    let tables = for_each(runs, |(run, diagnosis)| {
        let row =
            |cells: &[String; 6]| cells.iter().map(|text| format!("<td>{text}</td>")).collect::<String>();
        let rows: String =
            score_rows(diagnosis).iter().map(|cells| format!("<tr>{}</tr>", row(cells))).collect();
        let (name, legend) = (name_above(runs, run), score_legend(diagnosis));
        format!(
            "<div>{name}<div class=\"card scroll\"><table><tr>{head}</tr>{rows}</table></div><p class=\"names\">{legend}</p></div>"
        )
    });
    format!("<h2>Scores</h2>{tables}")
}

/// Cells of a table's head.
fn head_of(headings: &[&str], units: &[&str]) -> String {
    headings.iter().zip(units).map(|(h, u)| format!("<th>{h}<small>{u}</small></th>")).collect()
}

fn phase_row(phase: &fathom_diagnose::PhaseSummary) -> String {
    let cells = phase_cells(phase, UNICODE);
    let last = cells.len() - 1;
    let cell = |(i, text): (usize, &String)| match phase.grade {
        Some(grade) if i == last => format!("<td class=\"{}\"><b>{text}</b></td>", grade_class(grade)),
        _ => format!("<td>{text}</td>"),
    };
    format!("<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>())
}

const fn grade_class(grade: Grade) -> &'static str {
    match grade {
        Grade::APlus | Grade::A => "good",
        Grade::B | Grade::C => "fair",
        Grade::D | Grade::F => "bad",
    }
}

/// What it means for a call, a game and a page.
fn people(runs: &[Pair<'_>]) -> String {
    let has_impact = runs.iter().any(|(_, diagnosis)| diagnosis.phases.iter().any(|p| p.impact.is_some()));
    if have_no_phases(runs) || !has_impact {
        return String::new();
    }
    let tables = for_each(runs, |(run, diagnosis)| {
        let rows: String =
            diagnosis.phases.iter().filter(|p| p.kind != PhaseKind::Drain).map(people_row).collect();
        let head = "<tr><th></th><th>call quality</th><th class=\"words\"></th><th>web page</th><th class=\"words\">games</th></tr>";
        format!(
            "<div>{}<div class=\"card scroll\"><table>{head}{rows}</table></div></div>",
            name_above(runs, run)
        )
    });
    format!("<h2>Calls, games and web pages</h2>{tables}")
}

fn people_row(phase: &fathom_diagnose::PhaseSummary) -> String {
    let Some(impact) = phase.impact else { return String::new() };
    let class = match impact.call.r_factor {
        r if r >= 80.0 => "good",
        r if r >= 60.0 => "fair",
        _ => "bad",
    };
    format!(
        "<tr><td>{}</td><td class=\"{class}\"><b>{:.1}</b> of 4.4</td><td class=\"words\">{}</td><td>{}</td>\
         <td class=\"words\">{}</td></tr>",
        phase_name(phase.kind),
        impact.call.mos,
        impact.call.words(),
        impact.page_load_s.map_or_else(|| "-".into(), seconds),
        impact.game.words()
    )
}

fn findings(runs: &[Pair<'_>]) -> String {
    if runs.iter().all(|(_, diagnosis)| diagnosis.findings.is_empty()) {
        return String::new();
    }
    let lists = for_each(runs, |(run, diagnosis)| {
        let reasons = fathom_prose::reasons(run, diagnosis);
        let cards: String =
            reasons.iter().flat_map(|reason| &reason.findings).map(|one| finding(run, one)).collect();
        format!("<div>{}{cards}</div>", name_above(runs, run))
    });
    format!("<h2>All findings and their evidence</h2>{lists}")
}

fn finding(run: &Run, finding: &Finding) -> String {
    let name = kind_name(finding.kind());
    let certainty = certainty_name(finding.certainty);
    let rows: String = fathom_prose::figures(finding)
        .iter()
        .map(|row| format!("<tr><td>{}</td><td>{}</td></tr>", escape(&row.name), escape(&row.value)))
        .collect();
    let evidence = if rows.is_empty() { String::new() } else { format!("<table>{rows}</table>") };
    let others = list("It could also be:", &finding.alternatives);
    let excluded = list("Excluded:", &finding.excluded);
    let details = match [&evidence, &others, &excluded].iter().all(|part| part.is_empty()) {
        true => String::new(),
        false => format!("<details><summary>evidence</summary>{evidence}{others}{excluded}</details>"),
    };
    let text = fathom_prose::finding(finding, run.capture.as_deref());
    format!(
        "<div class=\"card finding\"><p><span class=\"chip\">{name}</span><span class=\"chip\">{certainty}</span>{}</p>{details}</div>",
        escape(&text)
    )
}

/// Alternatives below a heading; nothing without any.
fn list(heading: &str, alternatives: &[Alternative]) -> String {
    if alternatives.is_empty() {
        return String::new();
    }
    let item = |one: &Alternative| format!("<li>{}</li>", escape(&fathom_prose::alternative(one)));
    format!("{heading}<ul>{}</ul>", alternatives.iter().map(item).collect::<String>())
}

fn instruments(runs: &[Pair<'_>]) -> String {
    let cells = for_each(runs, |(run, diagnosis)| {
        let facts = match &run.capture {
            Some(captured) => capture::facts(run, captured),
            None => facts(run, diagnosis),
        };
        let rows: String = facts.iter().map(|(k, v)| fact_row(k, v)).collect();
        let lateness =
            lateness_chart(run).map_or_else(String::new, |c| format!("<div class=\"card\">{c}</div>"));
        format!(
            "<div class=\"charts\">{}{lateness}<div class=\"card scroll\"><table>{rows}</table></div></div>",
            name_above(runs, run),
        )
    });
    let heading = if are_captures(runs) { "The capture" } else { "Instrument and settings" };
    format!("<h2>{heading}</h2>{cells}")
}

fn fact_row(name: &str, value: &str) -> String {
    format!("<tr><td>{}</td><td class=\"words\">{}</td></tr>", escape(name), escape(value))
}

/// What was set and what the instrument saw of itself, for a person.
fn facts(run: &Run, diagnosis: &Diagnosis) -> Vec<(String, String)> {
    let i = &run.instrument;
    let lateness = |h: &DelayHistogram| {
        let p = |p| h.percentile(p).map_or_else(|| "-".into(), |d| milliseconds(d.as_secs_f64()));
        let max = milliseconds(h.max().as_secs_f64());
        format!(
            "{} median, {} p95, {} p99, {max} max ({} events)",
            p(0.5),
            p(0.95),
            p(0.99),
            thousands(h.count() as f64)
        )
    };
    let mut facts: Vec<(String, String)> =
        run.facts.iter().map(|(fact, v)| (fathom_prose::fact_name(fact).into(), v.clone())).collect();
    let mut add = |name: &str, value: String| facts.push((name.into(), value));
    // Other tools do not say how well they measured.
    let is_own = !run.facts.contains_key(&Fact::Tool);
    if is_own {
        add("host", format!("{}, {} CPUs", run.host.kernel, run.host.cpus));
        add("probe timer, lateness", lateness(&i.timer_lateness));
        add("sending of probes, lateness", lateness(&i.send_lateness));
    }
    if let Some(line) = &i.line_lateness {
        add("emulated line, lateness", lateness(line));
    }
    if is_own {
        add("replies with kernel timestamps", percent(i.kernel_timestamp_ratio));
    }
    if let Some([offset, error]) = i.clock_offset_s {
        add("clock offset of the server", format!("{} ± {}", milliseconds(offset), milliseconds(error)));
    }
    if let Some(drift) = i.clock_drift_ratio {
        add("clock drift of the server", format!("{:.2} µs per second", drift * 1e6));
    }
    if let Some(why) = &run.partial {
        add("incomplete", fathom_prose::interruption(why));
    }
    facts.extend(run.notes.iter().map(|n| ("note".into(), fathom_prose::note(n))));
    facts.extend(loads(run, diagnosis));
    facts
}

/// The load of each phase.
fn loads(run: &Run, diagnosis: &Diagnosis) -> Vec<(String, String)> {
    let pairs = run.phases.iter().zip(&diagnosis.phases);
    pairs
        .filter_map(|(phase, summary)| Some((phase, phase.load.as_ref()?, summary.fairness_index)))
        .map(|(phase, load, fairness)| {
            let fairness = fairness.map_or_else(String::new, |f| format!("; fairness among flows {f:.2}"));
            let text = format!(
                "{} flows down, {} up, {}; delivered {} down, {} up{fairness}",
                load.flows_down,
                load.flows_up,
                load.congestion_control,
                bytes(load.delivered_down_bytes as f64),
                bytes(load.delivered_up_bytes as f64)
            );
            (format!("load, {}", phase_name(phase.kind)), text)
        })
        .collect()
}

pub(crate) fn footer(runs: &[Pair<'_>]) -> String {
    let version = runs.first().map_or("", |(run, _)| run.tool_version.as_str());
    if are_captures(runs) {
        let words = capture::FOOTER;
        return format!(
            "<footer>{words} Definitions: docs/metrics.md. Made by Fathom {}.</footer>",
            escape(version)
        );
    }
    let source = runs.first().and_then(|(_, d)| d.latency_source);
    let metric = source.map_or("", |m: Metric| m.info().name);
    let rpm = runs
        .iter()
        .flat_map(|(_, d)| d.loaded())
        .find_map(|p| p.rpm.as_ref())
        .map_or(Rpm::DRAFT, |r| r.method);
    format!(
        "<footer>Lag when busy is the latency under load (p90) less the idle latency (median). Latency is the {} (<code>{metric}</code>). \
         Percentiles include lost probes with the latency around them; ≥ marks a lower bound, because the last probes were not answered. Throughput is goodput at the receiving application, the \
         mean after the first quarter of the phase. Grade: DSLReports' bands of the mean increase over idle. RPM: {rpm}. Call quality: \
         E-model for G.711. Web page: 10 round trips and 2 MB. \
         Definitions: docs/metrics.md. Made by Fathom {}.</footer>",
        source_name(source),
        escape(version)
    )
}

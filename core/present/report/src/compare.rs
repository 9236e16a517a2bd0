//! Runs side by side on a terminal: what changed, then the numbers, then everything.
use crate::quantity::{Quantity, Unit, is_same};
use crate::rows::comparison;
use crate::screen::{Screen, block, level_ink};
use crate::{Detail, Named, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::{Ink, Table, clean, clip, finish};
use fathom_prose::lag;
use fathom_run::{Conclusion, PhaseKind, Run};

/// Longest name of a run above its column.
const NAME: usize = 20;

/// Runs side by side; the last column is the change from the first to the last.
pub fn compare(runs: &[Named<'_>], columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let columns = usize::from(columns).max(20);
    let mut lines = head(runs, screen);
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let pairs: Vec<_> = runs.iter().map(|(_, run, diagnosis)| (*run, *diagnosis)).collect();
    let all = comparison(&pairs);
    let few = key_quantities(&pairs);
    let is_short = style.detail == Detail::Normal && !few.is_empty();
    lines.extend(block(table(runs, if is_short { &few } else { &all }, style).lines(columns, style)));
    lines.push(String::new());
    for (name, run, diagnosis) in runs {
        let verdict = fathom_prose::verdict(run, diagnosis);
        let headline = format!("{name}: {}", verdict.headline);
        lines.extend(screen.head(verdict.level.word(), level_ink(verdict.level), &headline, None));
    }
    if is_short {
        lines.extend(block(Vec::from(["Each phase, with all percentiles: -v".to_string()])));
    }
    finish(&lines, style)
}

/// The lag when busy of the phase that matters: that of the first run's headline, where the last
/// has it, too.
fn lags(runs: &[Named<'_>]) -> Option<(f64, f64)> {
    let [(_, _, first), .., (_, _, last)] = runs else { return None };
    let phase = first.headline_phase?;
    lag_of(first, phase).zip(lag_of(last, phase))
}

fn lag_of(diagnosis: &Diagnosis, phase: PhaseKind) -> Option<f64> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) if increase.phase == phase => {
            Some(increase.lag_s().max(0.0))
        }
        _ => None,
    })
}

/// What changed from the first run to the last, in a sentence.
fn head(runs: &[Named<'_>], screen: Screen) -> Vec<String> {
    let Some((before, after)) = lags(runs) else { return Vec::new() };
    let (word, ink, verb) = match () {
        () if is_same(before, after) => ("SAME", Ink::Fair, "stays at"),
        () if after < before => ("BETTER", Ink::Good, "falls"),
        () => ("WORSE", Ink::Bad, "rises"),
    };
    let text = match word {
        "SAME" => format!("Lag when busy {verb} {}.", lag(after)),
        _ => format!("Lag when busy {verb} from {} to {}.", lag(before), lag(after)),
    };
    screen.head(word, ink, &text, None)
}

/// The numbers that a result begins with, for all runs; nothing for captures.
pub(crate) fn key_quantities(pairs: &[(&Run, &Diagnosis)]) -> Vec<Quantity> {
    let lag = |phase, name: &str| Quantity {
        group: String::new(),
        name: name.to_string(),
        unit: Unit::Milliseconds,
        less_is_better: true,
        values: pairs.iter().map(|(_, diagnosis)| lag_of(diagnosis, phase)).collect(),
    };
    let all = comparison(pairs);
    let of = |phase: &str, name: &str, shown: &str| {
        let found = all.iter().find(|q| q.group == phase && q.name == name)?;
        Some(Quantity { group: String::new(), name: shown.to_string(), ..found.clone() })
    };
    let lags = [
        lag(PhaseKind::Up, "lag when busy, upload"),
        lag(PhaseKind::Down, "lag when busy, download"),
        lag(PhaseKind::Both, "lag when busy, both"),
    ];
    let others = [
        of("idle", "latency, median", "latency, idle"),
        of("upload", "goodput up", "throughput, upload"),
        of("download", "goodput down", "throughput, download"),
        of("both", "goodput up", "throughput, upload, both"),
        of("both", "goodput down", "throughput, download, both"),
        of("upload", "RPM", "RPM, upload"),
        of("download", "RPM", "RPM, download"),
    ];
    let workloads = all.iter().filter(|quantity| quantity.group.starts_with("workload ")).cloned();
    lags.into_iter()
        .chain(others.into_iter().flatten())
        .chain(workloads)
        .filter(|quantity| quantity.values.iter().any(Option::is_some))
        .collect()
}

fn table(runs: &[Named<'_>], quantities: &[Quantity], style: Style) -> Table {
    let mut table = Table::new();
    let names = runs.iter().map(|(name, _, _)| (clip(&clean(name), NAME), Some(Ink::Bold)));
    let change = (runs.len() > 1).then(|| ("change".to_string(), Some(Ink::Dim)));
    table.row([(String::new(), None)].into_iter().chain(names).chain(change));
    facts(runs, &mut table);
    let mut group = String::new();
    for quantity in quantities {
        if group != quantity.group {
            group.clone_from(&quantity.group);
            table.row([(clean(&group), Some(Ink::Dim))]);
        }
        table.row(row(quantity, runs.len(), style));
    }
    table
}

/// Settings that differ: what was changed between the runs.
fn facts(runs: &[Named<'_>], table: &mut Table) {
    let mut keys: Vec<&fathom_run::Fact> = runs.iter().flat_map(|(_, run, _)| run.facts.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let values: Vec<Option<&String>> = runs.iter().map(|(_, run, _)| run.facts.get(key)).collect();
        if values.iter().any(|v| *v != values[0]) {
            let texts: Vec<String> = values.iter().map(|v| v.map_or("-".into(), |v| clean(v))).collect();
            let begin_alike = texts.iter().all(|text| clip(text, NAME) == clip(&texts[0], NAME));
            let shown = |text: &String| if begin_alike { end(text) } else { clip(text, NAME) };
            let cells = texts.iter().map(|text| (shown(text), None));
            table.row([(clean(fathom_prose::fact_name(key)), None)].into_iter().chain(cells));
        }
    }
}

/// The end of a text that is too long for a column.
fn end(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(NAME);
    text.chars().skip(skipped).collect::<String>().trim_start_matches([',', ' ']).to_string()
}

fn row(quantity: &Quantity, runs: usize, style: Style) -> Vec<(String, Option<Ink>)> {
    let values = (0..runs).map(|i| (quantity.text(i), None));
    let ink = quantity.better().map(|better| if better { Ink::Good } else { Ink::Bad });
    let change = (runs > 1).then(|| (quantity.change(style), ink));
    let indent = if quantity.group.is_empty() { "" } else { "  " };
    [(format!("{indent}{}", quantity.name), None)].into_iter().chain(values).chain(change).collect()
}

//! Runs side by side on a terminal.
use crate::quantity::Quantity;
use crate::rows::comparison;
use crate::sections::headline;
use crate::terminal::{Ink, Table, clean, clip};
use crate::{Named, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Longest name of a run above its column.
const NAME: usize = 20;

/// Runs side by side; the last column is the change from the first to the last.
pub fn compare(runs: &[Named<'_>], columns: u16, style: Style) -> String {
    let columns = usize::from(columns).max(20);
    let pairs: Vec<_> = runs.iter().map(|(_, run, d)| (*run, *d)).collect();
    let mut table = Table::new();
    let names = runs.iter().map(|(name, _, _)| (clip(&clean(name), NAME), Some(Ink::Bold)));
    let change = (runs.len() > 1).then(|| ("change".to_string(), Some(Ink::Dim)));
    table.row([(String::new(), None)].into_iter().chain(names).chain(change));
    facts(runs, &mut table);
    let mut group = String::new();
    for quantity in comparison(&pairs) {
        if group != quantity.group {
            group.clone_from(&quantity.group);
            table.row([(clean(&group), Some(Ink::Dim))]);
        }
        table.row(row(&quantity, runs.len(), style));
    }
    let mut lines = table.lines(columns, style);
    for (name, run, diagnosis) in runs {
        lines.push(String::new());
        lines.push(style.ink(Ink::Bold, &format!("{}:", clean(name))));
        // The headline is enough here; `report` shows the rest.
        let words = fathom_prose::verdict(run, diagnosis);
        lines.extend(headline(&words, diagnosis.health, columns.min(100), style));
    }
    lines.join("\n") + "\n"
}

/// Settings that differ: what was changed between the runs.
fn facts(runs: &[Named<'_>], table: &mut Table) {
    let mut keys: Vec<&fathom_run::Fact> = runs.iter().flat_map(|(_, run, _)| run.facts.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let values: Vec<Option<&String>> = runs.iter().map(|(_, run, _)| run.facts.get(key)).collect();
        if values.iter().any(|v| *v != values[0]) {
            let cells = values.iter().map(|v| (v.map_or("-".into(), |v| clip(&clean(v), NAME)), None));
            table.row([(clean(fathom_prose::fact_name(key)), None)].into_iter().chain(cells));
        }
    }
}

fn row(quantity: &Quantity, runs: usize, style: Style) -> Vec<(String, Option<Ink>)> {
    let values = (0..runs).map(|i| (quantity.text(i), None));
    let ink = quantity.better().map(|better| if better { Ink::Good } else { Ink::Bad });
    let change = (runs > 1).then(|| (quantity.change(style), ink));
    [(format!("  {}", quantity.name), None)].into_iter().chain(values).chain(change).collect()
}

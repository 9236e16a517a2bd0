//! What changed between two periods.
use super::{rows, table_lines};
use crate::screen::{Screen, block};
use crate::{Detail, Style};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_fleet_view::{Change, ChangeKind};
use fathom_layout::{Ink, Table, clean, clip, finish};
use fathom_prose::{Verdict, changes_verdict};
use fathom_text::{milliseconds, thousands};

/// The verdict about these changes.
pub fn changes_summary(all: &[Change]) -> Verdict {
    let count = |kind| all.iter().filter(|change| change.kind() == kind).count();
    let known = all.len() - count(ChangeKind::Unknown);
    changes_verdict(known, count(ChangeKind::Better), count(ChangeKind::Worse))
}

/// The lag of each site before and after; those that changed come first.
pub fn changes_screen(all: &[Change], columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let mut lines = screen.verdict(&changes_summary(all));
    if style.detail == Detail::Quiet || all.is_empty() {
        return finish(&lines, style);
    }
    let mut sorted: Vec<&Change> = all.iter().collect();
    sorted.sort_by(|a, b| a.by_importance(b));
    let rows = rows(style.detail);
    let mut table = Table::new();
    table.head(&["site", "before", "after", "change", "tests"]);
    for change in sorted.iter().take(rows) {
        let (word, ink) = match change.kind() {
            ChangeKind::Better => ("better", Some(Ink::Good)),
            ChangeKind::Worse => ("worse", Some(Ink::Bad)),
            ChangeKind::Same => ("same", None),
            ChangeKind::Unknown => ("few tests", Some(Ink::Dim)),
        };
        let tests =
            alloc::format!("{} + {}", thousands(change.tests.0 as f64), thousands(change.tests.1 as f64));
        table.row([
            (clip(&clean(&change.site), (screen.columns / 3).max(12)), None),
            (milliseconds(change.before_s), None),
            (milliseconds(change.after_s), None),
            (word.to_string(), ink),
            (tests, None),
        ]);
    }
    lines.extend(block(table_lines(&table, all.len().saturating_sub(rows), screen)));
    finish(&lines, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list has its limit of rows, and names what helps.
    #[test]
    fn of_many_sites_the_worst_are_shown() {
        let change = |site: usize| Change {
            site: alloc::format!("s{site}"),
            before_s: 0.1,
            after_s: 0.2 + site as f64 * 1e-6,
            tests: (9, 9),
        };
        let all: Vec<Change> = (0..100_003).map(change).collect();
        let shown = |detail| changes_screen(&all, 80, Style { detail, ..Style::default() });
        let (few, many) = (shown(Detail::Normal), shown(Detail::Verbose));
        assert!(few.lines().last().is_some_and(|line| line.trim() == "99,983 more: -v"), "{few}");
        assert!(many.lines().last().is_some_and(|line| line.trim() == "3 more: --only"));
        assert!(few.contains("s100002") && !many.contains(" s2 "), "{few}");
    }
}

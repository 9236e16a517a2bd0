//! Counts over many paths: the tables of the score.
use crate::claims::{Claim, ClaimKind};
use fathom_diagnose::Health;
use fathom_run::Certainty;
use std::fmt::Write as _;

/// Quantile of the normal distribution for intervals of 95 %.
const Z: f64 = 1.96;

/// A judged path.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Scored {
    /// `SEED:INDEX`.
    pub(crate) path: String,
    pub(crate) claims: Vec<Claim>,
    pub(crate) is_bloated: bool,
    pub(crate) is_borderline: bool,
    pub(crate) health: Health,
}

/// Numbers of one kind of claim.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) possible: u64,
    pub(crate) made_of_possible: u64,
    pub(crate) made: u64,
    pub(crate) right: u64,
    /// Absolute relative errors, sorted.
    pub(crate) errors: Vec<f64>,
}

impl Row {
    pub(crate) fn of(scored: &[Scored], kind: ClaimKind) -> Self {
        let mut row = Row::default();
        for claim in scored.iter().flat_map(|path| &path.claims).filter(|claim| claim.kind == kind) {
            row.possible += u64::from(claim.is_possible);
            let Some(made) = &claim.made else { continue };
            row.made += 1;
            row.made_of_possible += u64::from(claim.is_possible);
            row.right += u64::from(made.is_right);
            row.errors.extend(made.error.map(f64::abs));
        }
        row.errors.sort_by(f64::total_cmp);
        row
    }
    /// Share of the claims that are right; `None` without claims.
    pub(crate) fn right_share(&self) -> Option<f64> {
        (self.made > 0).then(|| self.right as f64 / self.made as f64)
    }
}

/// How often a clear line was judged as the opposite.
pub(crate) struct FalseAlarms {
    pub(crate) lines: u64,
    pub(crate) wrong: u64,
}

impl FalseAlarms {
    /// Lines that are bloated or healthy in truth, and how many of them were called the opposite.
    pub(crate) fn of(scored: &[Scored], is_bloated: bool) -> Self {
        let opposite = if is_bloated { Health::Healthy } else { Health::Bloated };
        let lines = scored.iter().filter(|path| !path.is_borderline && path.is_bloated == is_bloated);
        let wrong = lines.clone().filter(|path| path.health == opposite).count() as u64;
        FalseAlarms { lines: lines.count() as u64, wrong }
    }
    /// Upper bound of the true share with 95 % confidence: the rule of three, or Wilson's.
    fn upper(&self) -> f64 {
        match (self.wrong, self.lines) {
            (_, 0) => 1.0,
            (0, lines) => (3.0 / lines as f64).min(1.0),
            (wrong, lines) => wilson(wrong, lines)[1],
        }
    }
}

/// Claims of one level of certainty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) name: &'static str,
    /// The share of right claims that the level promises.
    pub(crate) promised: f64,
    pub(crate) made: u64,
    pub(crate) right: u64,
}

/// What the levels promise: "possible" is even odds, "likely" nine in ten, "certain" fails
/// once in a hundred.
const LEVELS: [(Certainty, &str, f64); 3] = [
    (Certainty::Possible, "possible", 0.5),
    (Certainty::Likely, "likely", 0.9),
    (Certainty::Certain, "certain", 0.99),
];

pub(crate) fn calibration(scored: &[Scored]) -> [Level; 3] {
    LEVELS.map(|(certainty, name, promised)| {
        let made = scored.iter().flat_map(|path| &path.claims).filter_map(|claim| claim.made.as_ref());
        let of_level = made.filter(|made| made.certainty == Some(certainty));
        let right = of_level.clone().filter(|one| one.is_right).count() as u64;
        Level { name, promised, made: of_level.count() as u64, right }
    })
}

impl Level {
    pub(crate) fn share(&self) -> f64 {
        self.right as f64 / self.made.max(1) as f64
    }
    /// Wilson's 95 % interval of the share.
    pub(crate) fn interval(&self) -> [f64; 2] {
        wilson(self.right, self.made)
    }
}

/// Wilson's score interval of a share (E. B. Wilson, JASA 1927).
fn wilson(count: u64, of: u64) -> [f64; 2] {
    if of == 0 {
        return [0.0, 1.0];
    }
    let (n, p) = (of as f64, count as f64 / of as f64);
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// The tables, without the list of wrong claims.
pub(crate) fn tables(scored: &[Scored]) -> String {
    let mut text = format!(
        "{:14} {:>8} {:>6} {:>9} {:>8} {:>10} {:>10}\n",
        "claim", "possible", "made", "of those", "right", "error p50", "error p95"
    );
    for kind in ClaimKind::ALL {
        let row = Row::of(scored, kind);
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |s| format!("{:.1} %", s * 100.0));
        let error = |p: f64| percent(fathom_stats::percentile_of_sorted(&row.errors, p));
        let made = (row.possible > 0).then(|| row.made_of_possible as f64 / row.possible as f64);
        let _ = writeln!(
            text,
            "{:14} {:8} {:6} {:>9} {:>8} {:>10} {:>10}",
            kind.name(),
            row.possible,
            row.made,
            percent(made),
            percent(row.right_share()),
            error(0.5),
            error(0.95)
        );
    }
    for (is_bloated, what) in
        [(false, "healthy lines called bloated"), (true, "bloated lines called healthy")]
    {
        let alarms = FalseAlarms::of(scored, is_bloated);
        let _ = writeln!(
            text,
            "{}{what}: {} of {} (95 % confidence: at most {:.2} %)",
            if is_bloated { "" } else { "\n" },
            alarms.wrong,
            alarms.lines,
            alarms.upper() * 100.0
        );
    }
    let borderline = scored.iter().filter(|path| path.is_borderline).count();
    let _ = writeln!(text, "lines within 10 % of a threshold, not counted above: {borderline}");
    let _ =
        writeln!(text, "\n{:10} {:>9} {:>6} {:>8}   95 % interval", "certainty", "promised", "made", "right");
    for level in calibration(scored) {
        let [low, high] = level.interval().map(|share| share * 100.0);
        let (promised, share) = (level.promised * 100.0, level.share() * 100.0);
        let (name, made) = (level.name, level.made);
        let _ = writeln!(text, "{name:10} {promised:7.0} % {made:6} {share:6.1} %   {low:.1} to {high:.1} %");
    }
    text
}

/// The wrong claims, by kind.
pub(crate) fn wrong(scored: &[Scored]) -> String {
    let mut text = String::new();
    for kind in ClaimKind::ALL {
        for path in scored {
            for claim in path.claims.iter().filter(|claim| claim.kind == kind) {
                let Some(made) = claim.made.as_ref().filter(|made| !made.is_right) else { continue };
                let _ =
                    writeln!(text, "{:14} {:5} {:8} {}", kind.name(), claim.about, path.path, made.detail);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_by_wilson() {
        // Newcombe, Statistics in Medicine 1998, table I: 81 of 263.
        let [low, high] = wilson(81, 263);
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4, "{low} {high}");
        assert_eq!(wilson(0, 0), [0.0, 1.0]);
    }

    #[test]
    fn the_rule_of_three() {
        assert_eq!(FalseAlarms { lines: 300, wrong: 0 }.upper(), 0.01);
    }
}

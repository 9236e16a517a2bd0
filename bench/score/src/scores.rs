//! The score for other programs: judged claims, their tables, and the document.
use crate::draw::{self, Path};
use crate::score::{score, simulated};
use crate::tally::{Scored, tables};
use crate::{command, json};
use fathom_diagnose::Health;
use fathom_run::Certainty;
use serde_json::Value;
use std::path::Path as FilePath;

/// The judged claims of simulated paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Scores(Vec<Scored>);

/// A claim that the diagnosis of a path could make, or made.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgment<'a> {
    /// The path: `SEED:INDEX`, or its file.
    pub path: &'a str,
    /// Whether the line is bloated in truth.
    pub is_bloated: bool,
    /// Whether a delay that differs by 10 % would change the verdict.
    pub is_borderline: bool,
    /// The verdict of the diagnosis.
    pub health: Health,
    /// What the claim is about: a row of the table.
    pub claim: &'static str,
    /// The phase or the direction; empty if it is about neither.
    pub about: &'static str,
    /// Whether the truth is of the kind that the claim is about.
    pub is_possible: bool,
    /// Whether it is right; `None` if it was not made.
    pub is_right: Option<bool>,
    /// Relative error of a quantity that was claimed; `None` for a bound.
    pub error: Option<f64>,
    /// How certain the diagnosis is.
    pub certainty: Option<Certainty>,
    /// The claim and the truth, for people.
    pub detail: Option<&'a str>,
}

impl Scores {
    /// Judges the first `paths` paths of `seed`, on all CPUs. If it is cancelled, some are missing.
    ///
    /// # Errors
    /// If a drawn path is not a valid scenario.
    pub fn of_drawn(seed: u64, paths: u64, is_cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Self, String> {
        let all: Vec<Path> = (0..paths).map(|index| draw::path(seed, index)).collect();
        score(&all, &simulated, is_cancelled).map(Scores)
    }
    /// Judges the path of a scenario file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a valid scenario, or has no load.
    pub fn of_file(file: &FilePath) -> Result<Self, String> {
        score(&[command::read(file)?], &simulated, &|| false).map(Scores)
    }
    /// The tables: claims, false alarms, certainty.
    #[must_use]
    pub fn tables(&self) -> String {
        tables(&self.0)
    }
    /// Every claim, as with `--json`.
    #[must_use]
    pub fn json(&self) -> Value {
        json::json(&self.0)
    }
    /// Number of paths.
    #[must_use]
    pub fn paths(&self) -> usize {
        self.0.len()
    }
    /// Every claim.
    pub fn judgments(&self) -> impl Iterator<Item = Judgment<'_>> {
        self.0.iter().flat_map(|path| {
            path.claims.iter().map(|claim| Judgment {
                path: &path.path,
                is_bloated: path.is_bloated,
                is_borderline: path.is_borderline,
                health: path.health,
                claim: claim.kind.name(),
                about: claim.about,
                is_possible: claim.is_possible,
                is_right: claim.made.as_ref().map(|made| made.is_right),
                error: claim.made.as_ref().and_then(|made| made.error),
                certainty: claim.made.as_ref().and_then(|made| made.certainty),
                detail: claim.made.as_ref().map(|made| made.detail.as_str()),
            })
        })
    }
}

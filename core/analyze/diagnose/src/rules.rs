//! The rules, one file each: view to findings.
mod bloat;
pub(crate) mod bound;
pub(crate) mod buffer;
mod drain;
mod growth;
mod instrument;
mod loss;
mod management;
mod outage;
mod starvation;

use crate::view::View;
use crate::{Confidence, Evidence, Finding, FindingKind};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_units::Direction;

/// All findings, the weightiest first.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    let rules = [
        bloat::findings,
        outage::findings,
        buffer::findings,
        management::findings,
        growth::findings,
        starvation::findings,
        bound::findings,
        drain::findings,
        loss::findings,
        instrument::findings,
    ];
    rules.iter().flat_map(|rule| rule(view)).collect()
}

impl Finding {
    pub(crate) fn new(
        kind: FindingKind,
        direction: Option<Direction>,
        confidence: Confidence,
        text: String,
    ) -> Self {
        Finding { kind, direction, text, confidence, evidence: Vec::new(), alternatives: Vec::new() }
    }
    pub(crate) fn evidence(mut self, name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        self.evidence.push(Evidence { name: name.into(), value, unit });
        self
    }
    pub(crate) fn evidence_if(self, name: &str, value: Option<f64>, unit: &'static str) -> Self {
        match value {
            Some(value) => self.evidence(name, value, unit),
            None => self,
        }
    }
    pub(crate) fn alternative(mut self, text: &str) -> Self {
        self.alternatives.push(text.into());
        self
    }
}

/// What the user does in a phase, to start a sentence.
pub(crate) const fn doing(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Up => "Uploading",
        PhaseKind::Down => "Downloading",
        PhaseKind::Both => "Uploading and downloading at once",
        PhaseKind::Idle | PhaseKind::Drain => "Doing nothing",
    }
}

/// What the user does in a phase, within a sentence.
pub(crate) const fn while_doing(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Up => "while uploading",
        PhaseKind::Down => "while downloading",
        PhaseKind::Both => "while uploading and downloading",
        PhaseKind::Idle => "without load",
        PhaseKind::Drain => "after the load",
    }
}

/// `upload` or `download`.
pub(crate) const fn noun(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "upload",
        Direction::Down => "download",
    }
}

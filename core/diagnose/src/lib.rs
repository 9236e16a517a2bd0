//! Run to findings: the only maker of them. A finding names its evidence, its confidence and its alternatives.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod diagnosis;

pub use diagnosis::{Confidence, Diagnosis, Evidence, Finding, FindingKind, Health, Impact, PhaseSummary};

/// What `run` shows. Never fails: what is missing makes it inconclusive.
pub fn diagnose(_run: &fathom_metric::Run) -> Diagnosis {
    Diagnosis {
        health: Health::Inconclusive,
        headline: alloc::string::String::new(),
        verdict: alloc::vec::Vec::new(),
        latency_source: None,
        grade: None,
        phases: alloc::vec::Vec::new(),
        findings: alloc::vec::Vec::new(),
    }
}

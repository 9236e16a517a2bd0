//! Findings, verdicts and advice in words. No other module writes prose about a result, and no code
//! reads it back.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod action;
mod alternative;
mod audit;
mod autorate;
mod burst;
mod defect;
mod evidence;
mod finding;
mod fix;
mod fleet;
mod history;
mod impact;
mod instrument;
mod kind;
mod location;
mod note;
mod numbers;
mod patterns;
mod phase;
mod provider;
mod queue;
mod recent;
mod switch;
mod timer;
mod traffic;
mod verdict;
mod why;

pub use action::{Action, Origin, actions, recommended_rates, recommended_round_trip};
pub use alternative::alternative;
pub use audit::{
    RemedyText, audit_verdict, calculation, interface_name, queue, queue_delay, queue_name, queue_reason,
    rate_source, remedy,
};
pub use autorate::autorate_reason;
pub use defect::defect;
pub use evidence::{Figure, figures};
pub use finding::finding;
pub use fix::{conflict_advice, fix_headline, fix_step};
pub use fleet::{
    buffers_verdict, changes_verdict, fleet_verdict, site_verdict, together_verdict, trend_verdict,
};
pub use history::refuted_by;
pub use kind::{certainty_name, kind_name};
pub use note::{fact_name, interruption, not_sent, note};
pub use numbers::{Number, Value, numbers};
pub use patterns::{pattern_actions, pattern_numbers, pattern_reasons, pattern_verdict};
pub use provider::{Evidence, evidence_for_provider};
pub use queue::unknown;
pub use recent::{
    HistoryOrigin, compare_recent, is_judged, recent_actions, recent_level, recent_reasons, recent_verdict,
    variation,
};
pub use timer::timers;
pub use verdict::{Level, Verdict, lag, verdict};
pub use why::{Reason, excluded, reasons};

//! The start of a load, where it makes a queue that does not last: senders overshoot, and an AQM
//! needs some round trips to react.
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, StartUp, Statistic};

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    view.rises()
        .filter_map(|rise| {
            let start = rise.start_up?;
            let conclusion = StartUp {
                phase: rise.phase.kind,
                duration_s: start.seconds(),
                start_max_s: view.longest_in(&start)?,
                steady_p50_s: rise.loaded.p50.value,
                steady_p90_s: rise.loaded.p90.value,
            };
            let finding = Finding::new(Conclusion::StartUp(conclusion), None, Certainty::Likely);
            Some(finding.with_evidence(view.latency_evidence(rise.phase, Statistic::Max)))
        })
        .collect()
}

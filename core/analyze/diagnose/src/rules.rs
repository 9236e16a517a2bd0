//! The rules that infer findings from a view of a run, one file each.
mod bloat;
pub(crate) mod bound;
pub(crate) mod buffer;
mod datagram_loss;
mod drain;
mod emptied;
mod excluded;
mod flow_queues;
mod growth;
mod instrument;
mod limit;
mod local_traffic;
mod location;
mod loss;
mod management;
mod other_traffic;
mod outage;
mod policer;
mod rate;
mod shaping;
mod start_up;
mod starvation;
mod timers;

use crate::view::View;
use alloc::vec::Vec;
use fathom_run::Finding;

/// All findings, the most important first.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    let rules = [
        bloat::findings,
        other_traffic::findings,
        local_traffic::findings,
        outage::findings,
        location::findings,
        buffer::findings,
        rate::findings,
        management::findings,
        start_up::findings,
        timers::findings,
        growth::findings,
        starvation::findings,
        bound::findings,
        drain::findings,
        loss::findings,
        datagram_loss::findings,
        instrument::findings,
    ];
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule(view)).collect();
    excluded::exclude(view, &mut findings);
    findings
}

pub(crate) use emptied::findings as emptied;
pub(crate) use local_traffic::{line_in_use, source as traffic_source};
pub(crate) use loss::is_reported as is_loss_reported;
pub(crate) use timers::of_delay as exceeded_timers;

pub(crate) fn losses(view: &View<'_>) -> Vec<Finding> {
    loss::findings(view)
}

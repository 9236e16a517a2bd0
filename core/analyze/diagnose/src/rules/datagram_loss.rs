//! Lost datagrams of calls, games, cameras and other workloads.
use super::loss::is_reported;
use crate::view::View;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, DatagramLoss, Finding, Metric, Series, Value};
use fathom_units::Direction;

/// Lost and sent datagrams.
type Counts = (u64, u64);

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let mut workloads: BTreeMap<(String, Option<Direction>), Counts> = BTreeMap::new();
    for series in view.run.series.iter().filter(|s| s.key.metric == Metric::PacketDelay) {
        let workload = series.key.scope.clone().unwrap_or_default();
        let counts = workloads.entry((workload, series.key.direction)).or_default();
        let (lost, sent) = count(series);
        (counts.0, counts.1) = (counts.0 + lost, counts.1 + sent);
    }
    let reported = workloads.into_iter().filter(|(_, (lost, sent))| is_reported(*lost, *sent));
    reported
        .map(|((workload, direction), (lost_packets, sent_packets))| {
            let loss = DatagramLoss { workload, lost_packets, sent_packets };
            Finding::new(Conclusion::DatagramLoss(loss), direction, Certainty::Certain)
        })
        .collect()
}

/// A datagram is lost if a later one arrived; those at the end may still be in a queue.
fn count(series: &Series) -> Counts {
    let (mut lost, mut open, mut arrived) = (0, 0, 0);
    for observation in series.iter() {
        match observation.value {
            Value::Observed(_) => (lost, open, arrived) = (lost + open, 0, arrived + 1),
            Value::Censored { .. } => open += 1,
        }
    }
    (lost, lost + arrived)
}

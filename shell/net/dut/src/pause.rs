//! Pause frames, from the statistics of drivers, which have no common names for them.
use fathom_run::PauseCounts;

/// Parts of the names of counters of pause frames, in Linux drivers.
const NAMES: [&str; 4] = ["pause", "flow_control", "xon", "xoff"];
/// Parts of the names of other counters: of single priorities, times, and changes.
const OTHERS: [&str; 4] = ["prio", "duration", "transition", "storm"];

/// Pause frames so far; `None` if the driver does not count them.
pub(crate) fn counts(statistics: &[(String, u64)]) -> Option<PauseCounts> {
    let is_pause = |name: &str| NAMES.iter().any(|part| name.contains(part));
    let is_other = |name: &str| OTHERS.iter().any(|part| name.contains(part));
    let mut counts = PauseCounts::default();
    let mut has_any = false;
    for (name, value) in statistics.iter().filter(|(name, _)| is_pause(name) && !is_other(name)) {
        let of = if name.contains("rx") {
            &mut counts.received_packets
        } else if name.contains("tx") {
            &mut counts.sent_packets
        } else {
            continue;
        };
        *of += value;
        has_any = true;
    }
    has_any.then_some(counts)
}

/// Pause frames between two readings.
pub(crate) const fn since(before: PauseCounts, after: PauseCounts) -> PauseCounts {
    PauseCounts {
        received_packets: after.received_packets.saturating_sub(before.received_packets),
        sent_packets: after.sent_packets.saturating_sub(before.sent_packets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[(&str, u64)]) -> Option<[u64; 2]> {
        let all: Vec<(String, u64)> =
            names.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        counts(&all).map(|counts| [counts.received_packets, counts.sent_packets])
    }

    /// Names of e1000e, tg3, mlx5, stmmac and veth.
    #[test]
    fn drivers_name_them_differently() {
        let e1000e = [("rx_flow_control_xon", 3), ("rx_flow_control_xoff", 4), ("tx_flow_control_xoff", 5)];
        assert_eq!(of(&e1000e), Some([7, 5]));
        assert_eq!(of(&[("rx_xon_pause_rcvd", 1), ("tx_xoff_sent", 2), ("rx_octets", 9)]), Some([1, 2]));
        let mlx5 = [("rx_pause_ctrl_phy", 6), ("rx_prio0_pause", 6), ("tx_pause_storm_error_events", 1)];
        assert_eq!(of(&mlx5), Some([6, 0]));
        assert_eq!(of(&[("mmc_rx_pause_framecount", 2)]), Some([2, 0]));
        assert_eq!(of(&[("peer_ifindex", 5), ("rx_queue_0_drops", 1)]), None);
    }
    #[test]
    fn only_those_of_the_tests_count() {
        let counts = |received_packets, sent_packets| PauseCounts { received_packets, sent_packets };
        assert_eq!(since(counts(5, 9), counts(8, 2)), counts(3, 0));
    }
}

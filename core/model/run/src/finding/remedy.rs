//! Recommended actions.
use crate::threshold;
use alloc::string::String;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// A recommended action.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Remedy {
    /// Shape a direction below the link rate, so that CAKE or fq_codel manages the queue.
    Shape {
        /// The direction; `None` for both or an unknown direction.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
        /// Lowest recommended rate; `None` if the link rate is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_bits_per_second: Option<f64>,
        /// Highest recommended rate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_bits_per_second: Option<f64>,
        /// Round-trip time to configure, if packets take longer than CAKE and fq_codel assume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round_trip_s: Option<f64>,
        /// Time that flows to the server take to adapt to the shaper, if that is long. Until then,
        /// they keep a queue in front of it, or use less than its rate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adapted_after_s: Option<f64>,
    },
    /// Do not shape a direction at a fixed rate, because that would not help.
    DoNotShape {
        /// The direction.
        direction: Direction,
        /// Why.
        cause: ShaperLimit,
    },
    /// Repeat the measurement on a less busy machine.
    UseQuietMachine,
    /// Repeat the measurement with a longer or heavier load.
    LoadLonger,
    /// Run a shell command on the audited host.
    Run {
        /// The command.
        command: String,
        /// The command that restores the previous state.
        undo: String,
        /// What to know before running it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caution: Option<Caution>,
    },
    /// Replace the leaf queue disciplines of an interface by fq_codel.
    ReplaceLeafQdiscs {
        /// The interface.
        interface: String,
        /// Current queue discipline of the leaves.
        qdisc: String,
    },
    /// Delete the flow tables from the nftables ruleset.
    DeleteFlowTables,
    /// Spread the processing of received packets over the CPUs.
    SpreadReceiveWork,
    /// Use a Wi-Fi card with a driver that uses the mac80211 queues.
    ReplaceWifiCard,
}

/// Why a shaper with a fixed rate would not help.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShaperLimit {
    /// Waiting for a single packet takes too long.
    SlowLink {
        /// Rate of the link, as IP packets.
        rate_bits_per_second: f64,
        /// Transmission of one packet of full size.
        packet_s: f64,
    },
    /// Each flow keeps a minimum window of packets in flight. They wait in the queue in front of
    /// the link, which a shaper behind the link does not control.
    ManyFlows {
        /// Number of flows.
        flow_count: u32,
        /// Rate of the link, as IP packets.
        rate_bits_per_second: f64,
        /// Transmission of the minimum windows of all flows.
        windows_s: f64,
    },
    /// The rate varies too much.
    VaryingRate {
        /// The link was slower than this for a tenth of the time, or for at least a second.
        low_bits_per_second: f64,
        /// Mean rate.
        mean_bits_per_second: f64,
    },
}

impl ShaperLimit {
    /// Rate of the link, as IP packets; the mean if it varies.
    pub const fn bits_per_second(&self) -> f64 {
        match self {
            ShaperLimit::SlowLink { rate_bits_per_second, .. }
            | ShaperLimit::ManyFlows { rate_bits_per_second, .. } => *rate_bits_per_second,
            ShaperLimit::VaryingRate { mean_bits_per_second, .. } => *mean_bits_per_second,
        }
    }
}

impl Remedy {
    /// A shaper with a rate that is not known yet.
    pub const fn shape_at_unknown_rate(direction: Option<Direction>) -> Self {
        Remedy::Shape {
            direction,
            min_bits_per_second: None,
            max_bits_per_second: None,
            round_trip_s: None,
            adapted_after_s: None,
        }
    }
    /// A shaper for a link with this rate.
    pub fn shape(direction: Option<Direction>, bits_per_second: f64) -> Self {
        let [min, max] = threshold::shaper_rates(bits_per_second).map(Some);
        Remedy::Shape {
            direction,
            min_bits_per_second: min,
            max_bits_per_second: max,
            round_trip_s: None,
            adapted_after_s: None,
        }
    }
    /// The same for paths with this idle latency, if that matters.
    #[must_use]
    pub fn with_round_trip(mut self, idle_s: f64) -> Self {
        if let Remedy::Shape { round_trip_s, .. } = &mut self {
            *round_trip_s = threshold::shaper_round_trip_s(idle_s);
        }
        self
    }
    /// The shaper with the time that flows to the server take to adapt to it, if that is long.
    #[must_use]
    pub fn with_adaptation(mut self, after_s: f64) -> Self {
        if let Remedy::Shape { adapted_after_s, .. } = &mut self {
            *adapted_after_s = (after_s > threshold::SLOW_ADAPTATION_S).then_some(after_s);
        }
        self
    }
    /// The direction that it is about, if it is about one.
    pub const fn direction(&self) -> Option<Direction> {
        match self {
            Remedy::Shape { direction, .. } => *direction,
            Remedy::DoNotShape { direction, .. } => Some(*direction),
            _ => None,
        }
    }
}

/// A warning to read before running a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// The link goes down for a moment.
    LinkGoesDown,
    /// Only suitable for a host with a single link to all its destinations.
    OnlyLinkOfHost,
}

//! Names of kinds and of certainties.
use fathom_run::{Certainty, FindingKind};

/// Name of a kind of finding, in one or two words.
pub const fn kind_name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Bufferbloat => "bufferbloat",
        FindingKind::LowLatency => "low latency",
        FindingKind::LatencyVariation => "latency",
        FindingKind::QueueDelay => "queueing delay",
        FindingKind::Outage => "outage",
        FindingKind::BufferSize | FindingKind::MeasuredBuffer => "buffer size",
        FindingKind::PortOverload => "overload",
        FindingKind::LosslessBurst => "largest burst",
        FindingKind::SharedBuffer => "shared buffer",
        FindingKind::HeadOfLineBlocking => "blocking",
        FindingKind::PauseFrames => "pause frames",
        FindingKind::RateChange => "rate change",
        FindingKind::Bottleneck => "bottleneck",
        FindingKind::QueueManagement => "queue management",
        FindingKind::OtherTraffic => "other traffic",
        FindingKind::LocalTraffic => "local traffic",
        FindingKind::QueueLocation | FindingKind::UnknownLocation => "location",
        FindingKind::StartUp => "start-up",
        FindingKind::ExceededTimers => "timers",
        FindingKind::FillTime => "fill time",
        FindingKind::DrainTime => "drain time",
        FindingKind::QueueEmptied => "falling delays",
        FindingKind::AckStarvation => "ACK starvation",
        FindingKind::Oscillation => "oscillation",
        FindingKind::DelayedFlows => "delayed flows",
        FindingKind::DelayedProbes => "delayed replies",
        FindingKind::Remarking => "re-marking",
        FindingKind::ProbeLoss | FindingKind::DatagramLoss | FindingKind::PathLoss => "loss",
        FindingKind::Reordering => "reordering",
        FindingKind::Retransmission => "retransmission",
        FindingKind::RecurringDelay => "recurring delay",
        FindingKind::RecurringLoss => "recurring loss",
        FindingKind::OwnLoad => "own load",
        FindingKind::BaseChange => "change of base delay",
        FindingKind::ShaperCheck => "shaper check",
        FindingKind::ShaperConflict => "shaper conflict",
        FindingKind::LowerBound => "lower bound",
        FindingKind::Instrument => "instrument",
        FindingKind::BloatedQueue => "bloated queue",
        FindingKind::QdiscBypass => "bypass",
        FindingKind::DarkBuffer => "dark buffer",
        FindingKind::UnreadableQueue => "unreadable",
        FindingKind::HarmlessQueue => "no problem",
        FindingKind::Unknown => "unknown kind",
    }
}

/// Name of a certainty.
pub const fn certainty_name(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "certain",
        Certainty::Likely => "likely",
        Certainty::Possible => "possible",
    }
}

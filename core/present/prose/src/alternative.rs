//! Alternatives in words.
use crate::queue;
use alloc::string::{String, ToString};
use fathom_run::Alternative;

/// What else would explain the evidence of a finding, or what the evidence excludes, as a noun
/// phrase.
pub fn alternative(alternative: &Alternative) -> String {
    let text = match alternative {
        Alternative::OtherDirection => "a queue in the other direction",
        Alternative::PacketLimit => "a buffer that is limited in packets rather than bytes",
        Alternative::ManagedLargerBuffer => "a larger buffer with an AQM that limits the queue to this size",
        Alternative::SmallBuffer => "a small buffer without AQM",
        Alternative::LossWithoutCongestion => "loss that is not caused by a queue, as on radio links",
        Alternative::ManagedAtThisLength => "an AQM that starts to drop only at this delay",
        Alternative::WindowLimited => "a window that limited the sender before the buffer was full",
        Alternative::EcnMarking => "ECN marks instead of drops, which keep the queue short",
        Alternative::LoadLimitedElsewhere => "a load that a CPU, Wi-Fi or the server limited, not this line",
        Alternative::SharedMedium => "a medium that both directions share (Wi-Fi, half duplex)",
        Alternative::PathNeverEmpty => {
            "a longer delay (the path was never seen empty, so delays are above the smallest seen)"
        }
        Alternative::NeverFull => "a larger buffer (it was never seen full)",
        Alternative::SlowResolver => "a slow resolver",
        Alternative::SpinBitUnreliable => "an endpoint that sets the spin bit arbitrarily",
        Alternative::LongPath => "a long path to the server",
        Alternative::Outage => "an outage of 1 s or more",
        Alternative::LackOfCpu => "a lack of CPU time on this computer",
        Alternative::LateProbes => "probes that this computer sent late",
        Alternative::Captured(other) => return queue::alternative(other),
    };
    text.to_string()
}

/// What the evidence excludes, in few words: a screen lists all of it in one or two lines.
pub(crate) fn excluded_name(excluded: &Alternative) -> String {
    let text = match excluded {
        Alternative::OtherDirection => "the other direction",
        Alternative::LongPath => "a long path",
        Alternative::LossWithoutCongestion => "loss while idle",
        Alternative::Outage => "outages",
        Alternative::LackOfCpu => "a lack of CPU time",
        Alternative::LateProbes => "late probes",
        other => return alternative(other),
    };
    text.to_string()
}

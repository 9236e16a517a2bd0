//! Alternatives in words.
use crate::queue;
use alloc::string::{String, ToString};
use fathom_run::Alternative;

/// What else would explain the evidence of a finding, as a sentence.
pub fn alternative(alternative: &Alternative) -> String {
    let text = match alternative {
        Alternative::OtherDirection => {
            "The queue may be in the other direction: one-way delays were not measured."
        }
        Alternative::PacketLimit => "The buffer may be limited in packets rather than bytes.",
        Alternative::ManagedLargerBuffer => {
            "The buffer may be larger, with an AQM that stops the queue at this size."
        }
        Alternative::SmallBuffer => "A small buffer without AQM.",
        Alternative::LossWithoutCongestion => "Loss that has nothing to do with a queue, as on radio links.",
        Alternative::ManagedAtThisLength => "An AQM that starts to drop only at this delay.",
        Alternative::WindowLimited => "A window limited the sender before the buffer was full.",
        Alternative::EcnMarking => {
            "The line may mark packets (ECN) instead of dropping them, and keep its queue short."
        }
        Alternative::LoadLimitedElsewhere => "A CPU, Wi-Fi or the server may limit the load, not this line.",
        Alternative::SharedMedium => "Both directions may share one medium (Wi-Fi, half duplex).",
        Alternative::PathNeverEmpty => {
            "The path was never seen empty: all delays are above the smallest seen, and may be longer."
        }
        Alternative::NeverFull => "The buffer was never seen full: it may hold more.",
        Alternative::SlowResolver => "The resolver itself may have taken that long.",
        Alternative::SpinBitUnreliable => "An endpoint may set the spin bit as it likes.",
        Alternative::Captured(other) => return queue::alternative(other),
    };
    text.to_string()
}

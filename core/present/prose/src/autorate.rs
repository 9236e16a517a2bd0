//! The reasons of autorate in words.
use fathom_shape::autorate::Reason;

/// Why a rate is what it is, as a sentence.
pub const fn autorate_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::BottleneckBelow => {
            "cut to what was delivered: latency rose under this direction's load, but not in our queue"
        }
        Reason::Overrun => "cut: our queue is full, and latency beyond it stays high",
        Reason::Drained => "raised to what was delivered: the queue beyond ours is empty again",
        Reason::Rebased => "restored: two cuts did not lower latency, so the path is longer now",
        Reason::Exploring => "raised: our queue shows demand, and latency is low",
        Reason::Recalled => {
            "lowered to what the line usually carries at this hour of the week: traffic resumed"
        }
        Reason::Draining => "kept low until the queue beyond ours is empty",
        Reason::InControl => "kept: packets wait only in our queue",
        Reason::Unused => "kept: less is sent than the rate",
        Reason::PathNoise => "kept: latency is high, but not because of this direction",
        Reason::OtherDirection => "kept: latency is high because of the other direction",
        Reason::Silent => "kept: no reflector answers",
        Reason::Starved => "kept: our queue sends less than its rate (is the CPU busy?)",
    }
}

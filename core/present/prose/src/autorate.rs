//! The reasons of autorate in words.
use fathom_shape::autorate::Reason;

/// Why a rate is what it is, as a sentence.
pub const fn autorate_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::BottleneckBelow => {
            "cut to what was delivered: delay rose under this direction's load, and not in our queue"
        }
        Reason::Overrun => "cut: our queue is full and the delay beyond it stays all the same",
        Reason::Drained => "raised to what was delivered: the queue beyond ours is empty again",
        Reason::Rebased => "restored: two cuts did not change the delay, so the path is longer now",
        Reason::Exploring => "raised: our own backlog shows demand, and the delay is low",
        Reason::Recalled => "lowered to what this hour of the week usually carries, as traffic comes back",
        Reason::Draining => "kept low until the queue beyond ours is empty",
        Reason::InControl => "kept: packets wait in our queue and nowhere else",
        Reason::Unused => "kept: less is sent than the rate",
        Reason::PathNoise => "kept: delay is up, but not because of what this direction sends",
        Reason::OtherDirection => "kept: delay is up because of the other direction",
        Reason::Silent => "kept: no reflector answers",
        Reason::Starved => "kept: our queue sends less than its rate; is the processor busy?",
    }
}

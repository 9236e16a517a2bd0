//! Why a rate is what it is.
use core::fmt;

/// Why, of one direction at one tick.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Cut: delay rose under this direction's load while our own queue was not what held it.
    BottleneckBelow,
    /// Cut: our own queue is full and the delay still stands, so that somebody fills the one before or behind us all the same.
    Overrun,
    /// Raised: the queue behind us is drained; the rate goes to what was delivered.
    Drained,
    /// Raised: two cuts changed nothing, so that the delay is not our queue's; it is the new baseline.
    Rebased,
    /// Raised: our own backlog shows demand, and the delay is low.
    Exploring,
    /// Lowered: demand comes back after a pause to a rate that this hour of the week does not usually carry.
    Recalled,
    /// Kept: the queue behind us drains.
    Draining,
    /// Kept: our queue is where packets wait, and delay is low.
    InControl,
    /// Kept: less is asked than the rate.
    Unused,
    /// Kept: delay is up, but nothing that this direction sends can be why.
    PathNoise,
    /// Kept: delay is up and the other direction is the likelier cause.
    OtherDirection,
    /// Kept: no reflector answers.
    Silent,
    /// Kept: our queue is full, yet it sends less than its rate: something else holds it, such as the processor.
    Starved,
}

impl Reason {
    /// All, in the order of the status page.
    pub const ALL: [Reason; 13] = [
        Reason::BottleneckBelow,
        Reason::Overrun,
        Reason::Drained,
        Reason::Rebased,
        Reason::Exploring,
        Reason::Recalled,
        Reason::Draining,
        Reason::InControl,
        Reason::Unused,
        Reason::PathNoise,
        Reason::OtherDirection,
        Reason::Silent,
        Reason::Starved,
    ];
    /// One word, for metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::BottleneckBelow => "bottleneck_below",
            Reason::Overrun => "overrun",
            Reason::Drained => "drained",
            Reason::Rebased => "rebased",
            Reason::Exploring => "exploring",
            Reason::Recalled => "recalled",
            Reason::Draining => "draining",
            Reason::InControl => "in_control",
            Reason::Unused => "unused",
            Reason::PathNoise => "path_noise",
            Reason::OtherDirection => "other_direction",
            Reason::Silent => "silent",
            Reason::Starved => "starved",
        }
    }
    /// True if delay lowered the rate.
    pub const fn is_cut(self) -> bool {
        matches!(self, Reason::BottleneckBelow | Reason::Overrun)
    }
}

impl fmt::Display for Reason {
    /// A sentence for a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::BottleneckBelow => {
                "cut to what was delivered: delay rose under this direction's load, and not in our queue"
            }
            Reason::Overrun => "cut: our queue is full and the delay beyond it stands all the same",
            Reason::Drained => "raised to what was delivered: the queue beyond ours is empty again",
            Reason::Rebased => "restored: two cuts did not change the delay, so the path is longer now",
            Reason::Exploring => "raised: our own backlog shows demand, and the delay is low",
            Reason::Recalled => {
                "lowered to what this hour of the week usually carries, as traffic comes back"
            }
            Reason::Draining => "kept low until the queue beyond ours is empty",
            Reason::InControl => "kept: packets wait in our queue and nowhere else",
            Reason::Unused => "kept: less is asked than the rate",
            Reason::PathNoise => "kept: delay is up, but not because of what this direction sends",
            Reason::OtherDirection => "kept: delay is up because of the other direction",
            Reason::Silent => "kept: no reflector answers",
            Reason::Starved => "kept: our queue sends less than its rate; is the processor busy?",
        })
    }
}

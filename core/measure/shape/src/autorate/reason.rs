//! Reasons for a rate. `fathom-prose` puts them into words.

macro_rules! reasons {
    ($($variant:ident = $name:literal, $doc:literal;)*) => {
        /// Reason for a decision about one direction at one tick.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Reason {
            $(#[doc = $doc] $variant,)*
        }
        impl Reason {
            /// All reasons, in the order of the status page.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant,)*];
            /// Name in metrics and files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Reason::$variant => $name,)*
                }
            }
        }
    };
}

reasons! {
    BottleneckBelow = "bottleneck_below",
        "Cut: delay rose under this direction's load, and packets did not wait in the shaper.";
    Overrun = "overrun",
        "Cut: the shaper's queue is full and the delay stays high, so another sender fills the queue of the line.";
    Drained = "drained",
        "Raised to the delivered rate: the queue beyond the shaper is empty.";
    Rebased = "rebased",
        "Raised: two cuts had no effect, so the delay is not caused by a queue; it is the new baseline.";
    Exploring = "exploring",
        "Raised: the shaper's backlog shows demand, and the delay is low.";
    Recalled = "recalled",
        "Lowered: demand returns after a pause, and the rate exceeds the usual capacity at this hour of the week.";
    Draining = "draining",
        "Kept: the queue beyond the shaper is draining.";
    InControl = "in_control",
        "Kept: packets wait in the shaper, and delay is low.";
    Unused = "unused",
        "Kept: the traffic is below the rate.";
    PathNoise = "path_noise",
        "Kept: delay is high, but this direction's traffic cannot be the cause.";
    OtherDirection = "other_direction",
        "Kept: delay is high, and the other direction is the more likely cause.";
    Silent = "silent",
        "Kept: no reflector responds.";
    Starved = "starved",
        "Kept: the shaper's queue is full, but it sends below its rate: something else limits it, such as the CPU.";
}

impl Reason {
    /// The reason with a name from a file.
    pub fn from_name(name: &str) -> Option<Reason> {
        Reason::ALL.iter().copied().find(|reason| reason.name() == name)
    }
    /// Whether the rate was lowered because of delay.
    pub const fn is_cut(self) -> bool {
        matches!(self, Reason::BottleneckBelow | Reason::Overrun)
    }
}

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
        "Cut: delay rose under this direction's load while our own queue was not what held it.";
    Overrun = "overrun",
        "Cut: our own queue is full and the delay stays high, so another sender fills the queue of the line.";
    Drained = "drained",
        "Raised: the queue behind us is drained; the rate goes to what was delivered.";
    Rebased = "rebased",
        "Raised: two cuts changed nothing, so that the delay is not our queue's; it is the new baseline.";
    Exploring = "exploring",
        "Raised: our own backlog shows demand, and the delay is low.";
    Recalled = "recalled",
        "Lowered: demand comes back after a pause to a rate that this hour of the week does not usually carry.";
    Draining = "draining",
        "Kept: the queue behind us drains.";
    InControl = "in_control",
        "Kept: our queue is where packets wait, and delay is low.";
    Unused = "unused",
        "Kept: less is sent than the rate.";
    PathNoise = "path_noise",
        "Kept: delay is up, but nothing that this direction sends can be why.";
    OtherDirection = "other_direction",
        "Kept: delay is up and the other direction is the likelier cause.";
    Silent = "silent",
        "Kept: no reflector answers.";
    Starved = "starved",
        "Kept: our queue is full, yet it sends less than its rate: something else limits it, such as the processor.";
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

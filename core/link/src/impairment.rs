//! What else a link does to packets: loses, duplicates and reorders them by chance.
use fathom_units::{Duration, Ratio, Rng};

/// Shares of the packets that leave the serialiser; each packet's fates are independent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ImpairmentParams {
    /// Lost.
    pub loss: Ratio,
    /// Sent twice.
    pub duplicate: Ratio,
    /// Held back by `reorder_delay`, so that later packets overtake.
    pub reorder: Ratio,
    /// How long those are held back.
    pub reorder_delay: Duration,
}

/// What becomes of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fate {
    /// It goes no further; the rest does not matter then.
    pub lost: bool,
    /// It goes on twice.
    pub duplicated: bool,
    /// It is held back.
    pub held_back: bool,
}

/// Draws fates from a seed.
pub struct Impairment {
    params: ImpairmentParams,
    rng: Rng,
}

impl Impairment {
    /// The fates of `rng`'s stream.
    pub const fn new(params: ImpairmentParams, rng: Rng) -> Self {
        Impairment { params, rng }
    }
    /// The next packet's.
    pub fn draw(&mut self) -> Fate {
        // A ratio of zero draws nothing, so that an unimpaired link costs nothing.
        let mut chance = |ratio: Ratio| ratio.0 > 0.0 && self.rng.chance(ratio.0);
        Fate {
            lost: chance(self.params.loss),
            duplicated: chance(self.params.duplicate),
            held_back: chance(self.params.reorder),
        }
    }
}

//! What else a link does to packets: loses, duplicates and reorders them by chance.
use fathom_units::{Duration, Ratio, Rng};

/// Shares of the packets that leave the transmitter; apart from bursts each packet's draw is independent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ImpairmentParams {
    /// Lost.
    pub loss: Ratio,
    /// Lost in bursts, in addition.
    pub burst: Option<BurstParams>,
    /// Sent twice.
    pub duplicate: Ratio,
    /// Held back by `reorder_delay`, so that later packets overtake.
    pub reorder: Ratio,
    /// How long those are held back.
    pub reorder_delay: Duration,
}

impl ImpairmentParams {
    /// Nothing ever happens.
    pub fn is_none(&self) -> bool {
        let chances = [self.loss, self.duplicate, self.reorder];
        self.burst.is_none() && chances.iter().all(|chance| chance.0 <= 0.0)
    }
}

/// Gilbert's and Elliott's channel of a good and a bad state (Gilbert, BSTJ 39, 1960; Elliott, BSTJ 42, 1963). It begins
/// in the good one, and may change after each packet.
///
/// The share of time in the bad state is enter / (enter + leave), a burst is 1 / leave packets long. What the good state
/// loses is [`ImpairmentParams::loss`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstParams {
    /// Chance to go from good to bad.
    pub enter: Ratio,
    /// Chance to go from bad to good.
    pub leave: Ratio,
    /// Lost in the bad state.
    pub loss: Ratio,
}

/// What chance does to one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImpairmentDraw {
    /// It goes no further; the rest does not matter then.
    pub lost: bool,
    /// It goes on twice.
    pub duplicated: bool,
    /// It is held back.
    pub held_back: bool,
}

/// Draws what happens to each packet.
pub struct Impairment {
    params: ImpairmentParams,
    is_bad: bool,
    rng: Rng,
}

impl Impairment {
    /// Draws from `rng`.
    pub const fn new(params: ImpairmentParams, rng: Rng) -> Self {
        Impairment { params, is_bad: false, rng }
    }
    /// The draw for the next packet.
    pub fn draw(&mut self) -> ImpairmentDraw {
        let in_burst = self.params.burst.is_some_and(|params| self.burst(params));
        // A ratio of zero draws nothing, so that an unimpaired link costs nothing.
        let mut chance = |ratio: Ratio| ratio.0 > 0.0 && self.rng.chance(ratio.0);
        ImpairmentDraw {
            lost: chance(self.params.loss) || in_burst,
            duplicated: chance(self.params.duplicate),
            held_back: chance(self.params.reorder),
        }
    }
    fn burst(&mut self, params: BurstParams) -> bool {
        let lost = self.is_bad && self.rng.chance(params.loss.0);
        let change = if self.is_bad { params.leave } else { params.enter };
        self.is_bad ^= self.rng.chance(change.0);
        lost
    }
}

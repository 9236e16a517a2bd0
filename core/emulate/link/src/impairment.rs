//! Impairments: random loss, duplication and reordering.
use fathom_units::{Duration, Ratio, Rng};

/// Fractions of the packets that leave the transmitter. Draws are independent, except for bursts.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ImpairmentParams {
    /// Fraction of packets lost.
    pub loss: Ratio,
    /// Additional loss in bursts.
    pub burst: Option<BurstParams>,
    /// Fraction of packets duplicated.
    pub duplicate: Ratio,
    /// Fraction of packets held back by `reorder_delay`, so that later packets overtake them.
    pub reorder: Ratio,
    /// How long reordered packets are held back.
    pub reorder_delay: Duration,
}

impl ImpairmentParams {
    /// True if packets pass unimpaired.
    pub fn is_none(&self) -> bool {
        let chances = [self.loss, self.duplicate, self.reorder];
        self.burst.is_none() && chances.iter().all(|chance| chance.0 <= 0.0)
    }
}

/// The Gilbert-Elliott channel (Gilbert, BSTJ 39, 1960; Elliott, BSTJ 42, 1963). It starts in the
/// good state and may change state after each packet.
///
/// The fraction of packets in the bad state is enter / (enter + leave); a burst has a mean length
/// of 1 / leave packets. The loss in the good state is [`ImpairmentParams::loss`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstParams {
    /// Probability of changing from good to bad.
    pub enter: Ratio,
    /// Probability of changing from bad to good.
    pub leave: Ratio,
    /// Loss ratio in the bad state.
    pub loss: Ratio,
}

/// The impairments drawn for one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImpairmentDraw {
    /// The packet is lost; the other fields do not apply.
    pub lost: bool,
    /// The packet is duplicated.
    pub duplicated: bool,
    /// The packet is held back.
    pub held_back: bool,
}

/// Draws the impairments of each packet.
pub struct Impairment {
    params: ImpairmentParams,
    is_bad: bool,
    rng: Rng,
}

impl Impairment {
    /// Creates it with the random numbers of `rng`.
    pub const fn new(params: ImpairmentParams, rng: Rng) -> Self {
        Impairment { params, is_bad: false, rng }
    }
    /// Draws for the next packet.
    pub fn draw(&mut self) -> ImpairmentDraw {
        let in_burst = self.params.burst.is_some_and(|params| self.burst(params));
        // A ratio of zero draws nothing, so an unimpaired link costs nothing.
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

//! The distributed coordination function: who sends next.
use super::timing::{DIFS, SLOT};
use super::{WifiParams, exchange};
use alloc::vec::Vec;
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rng, Time};

/// aCWmin and aCWmax of OFDM, table 17-21: a backoff is uniform in 0..=CW slots.
const CW_MIN: u64 = 15;
const CW_MAX: u64 = 1023;
/// Packet size of the other stations: a full MTU.
const STATION_PACKET: Bytes = Bytes(1500);
/// On an idle hop only the last second of other stations is simulated; backoffs last a few ms.
const REMEMBERED: Duration = Duration::from_secs(1);
/// The hop's two directions are the first contenders, by [`Direction::index`].
const SIDES: usize = Direction::BOTH.len();

/// All stations on a medium: the hop's two sides, and others that are always backlogged.
pub(crate) struct Contention {
    contenders: Vec<Contender>,
    /// Airtime of another station's transmission.
    station_airtime: Duration,
    /// When the medium became idle, or will.
    idle_from: Time,
    exchange: Option<Exchange>,
    rng: Rng,
}

struct Contender {
    /// Backoff slots left when the medium became idle.
    slots: u64,
    window: u64,
    failures: u8,
    /// Since when it has had packets to send.
    since: Option<Time>,
}

/// A transmission of one of the hop's sides, or of both.
pub(super) struct Exchange {
    end: Time,
    pub(super) sides: PerDirection<bool>,
    pub(super) collided: bool,
}

/// Who has won the medium.
pub(crate) struct Access {
    pub(crate) sides: PerDirection<bool>,
    others: usize,
}

impl Contention {
    /// `params` are those of either side.
    pub(crate) fn new(params: &WifiParams, mut rng: Rng) -> Self {
        let packets = usize::from(params.aggregate.packets.max(1));
        let station_airtime = exchange(fitting(params, packets), params.station_phy);
        let contender = |at| Contender {
            slots: if at < SIDES { 0 } else { rng.below(CW_MIN + 1) },
            window: CW_MIN,
            failures: 0,
            since: (at >= SIDES).then_some(Time::ZERO),
        };
        let contenders = (0..SIDES + usize::from(params.stations)).map(contender).collect();
        Contention { contenders, station_airtime, idle_from: Time::ZERO, exchange: None, rng }
    }

    /// `direction` has packets to send from `now` on.
    pub(crate) fn want(&mut self, direction: Direction, now: Time) {
        let side = direction.index();
        if self.contenders[side].since.is_some() {
            return;
        }
        if !self.is_wanted() && self.exchange.is_none() {
            self.catch_up(now);
        }
        if now < self.idle_from && self.contenders[side].slots == 0 {
            self.contenders[side].slots = self.rng.below(self.contenders[side].window + 1);
        }
        self.contenders[side].since = Some(now);
    }
    /// `direction` has no more packets to send.
    pub(crate) fn leave(&mut self, direction: Direction) {
        self.contenders[direction.index()].since = None;
    }

    /// When someone sends next; `None` while a side of the hop sends, or if neither has packets.
    pub(crate) fn next_access(&self) -> Option<Time> {
        (self.exchange.is_none() && self.is_wanted()).then(|| self.first()).flatten()
    }
    /// When the transmission of the hop's sides ends.
    pub(crate) fn exchange_end(&self) -> Option<Time> {
        self.exchange.as_ref().map(|exchange| exchange.end)
    }

    /// The medium is taken at `now`, which is [`Self::next_access`]. All other backoffs are frozen.
    pub(crate) fn access(&mut self, now: Time) -> Access {
        let idle = self.idle_from + DIFS;
        let passed = now.saturating_since(idle).as_nanos() / SLOT.as_nanos();
        let mut access = Access { sides: PerDirection::default(), others: 0 };
        for (at, contender) in self.contenders.iter_mut().enumerate() {
            let won = contender.ready(idle) == Some(now);
            contender.slots = if won { 0 } else { contender.slots.saturating_sub(passed) };
            match Direction::BOTH.get(at) {
                Some(direction) => access.sides[*direction] = won,
                None => access.others += usize::from(won),
            }
        }
        access
    }

    /// The winners send; `sides` are the airtimes of the hop's sides, `None` without packets.
    pub(crate) fn begin(&mut self, access: &Access, sides: PerDirection<Option<Duration>>, now: Time) {
        let own = sides.iter().filter(|(_, side)| side.is_some()).count();
        let collided = own + access.others > 1;
        let others = (access.others > 0).then_some(self.station_airtime);
        let Some(longest) = [sides.up, sides.down, others].into_iter().flatten().max() else { return };
        // The other stations that won have no slots left.
        for at in SIDES..self.contenders.len() {
            if access.others > 0 && self.contenders[at].slots == 0 {
                self.settle(at, !collided);
            }
        }
        self.idle_from = now + longest;
        if own > 0 {
            let sides = sides.map(|side| side.is_some());
            self.exchange = Some(Exchange { end: self.idle_from, sides, collided });
        }
    }

    pub(super) fn end(&mut self) -> Option<Exchange> {
        self.exchange.take()
    }

    /// Draws the next backoff of contender `at` after a transmission.
    pub(crate) fn settle(&mut self, at: usize, acknowledged: bool) {
        let contender = &mut self.contenders[at];
        contender.failures = if acknowledged { 0 } else { contender.failures + 1 };
        if acknowledged || contender.failures >= WifiParams::MAX_ATTEMPTS {
            (contender.failures, contender.window) = (0, CW_MIN);
        } else {
            contender.window = (2 * contender.window + 1).min(CW_MAX);
        }
        contender.slots = self.rng.below(contender.window + 1);
    }

    fn is_wanted(&self) -> bool {
        self.contenders[..SIDES].iter().any(|side| side.since.is_some())
    }
    fn first(&self) -> Option<Time> {
        let idle = self.idle_from + DIFS;
        self.contenders.iter().filter_map(|contender| contender.ready(idle)).min()
    }
    /// Simulates the other stations until `now`.
    fn catch_up(&mut self, now: Time) {
        if self.contenders.len() == SIDES {
            return;
        }
        self.idle_from = self.idle_from.max(now.saturating_sub(REMEMBERED));
        while let Some(next) = self.first().filter(|next| *next < now) {
            let access = self.access(next);
            self.begin(&access, PerDirection::default(), next);
        }
    }
}

impl Contender {
    /// When it sends if the medium is idle from `idle` on and no other station is faster.
    fn ready(&self, idle: Time) -> Option<Time> {
        let backoff = idle + SLOT * self.slots;
        self.since.map(|since| backoff.max(since))
    }
}

/// As many full packets as an aggregate of the other stations holds.
fn fitting(params: &WifiParams, packets: usize) -> impl Iterator<Item = Bytes> {
    let limits = params.aggregate;
    let fits = |count: &usize| {
        let bytes = super::timing::subframe(STATION_PACKET) * *count as u64;
        let airtime = super::timing::of_psdu(bytes, params.station_phy);
        *count == 1 || (Bytes(bytes) <= limits.bytes && airtime <= limits.airtime)
    };
    let count = (1..=packets).rev().find(fits).unwrap_or(1);
    core::iter::repeat_n(STATION_PACKET, count)
}

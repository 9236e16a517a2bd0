//! One hop: a bottleneck each way, each with a medium of its own or both with one.
use crate::bottleneck::{Bottleneck, BottleneckParams, Event, Observer};
use crate::line::{Place, Router};
use crate::medium::Medium;
use crate::transmitter::TransmitterParams;
use crate::wifi::{Contention, WifiMedium};
use alloc::boxed::Box;
use fathom_qdisc::{Backlog, Packet};
use fathom_units::{Direction, Rng, Time};

/// Both directions of a hop.
#[derive(Clone, Copy, Debug)]
pub struct HopParams<'a> {
    /// From the user.
    pub up: &'a BottleneckParams,
    /// To the user.
    pub down: &'a BottleneckParams,
    /// Only one direction at a time can send. 802.11 is so in any case.
    pub half_duplex: bool,
}

/// A hop of full duplex.
impl<'a> From<(&'a BottleneckParams, &'a BottleneckParams)> for HopParams<'a> {
    fn from((up, down): (&'a BottleneckParams, &'a BottleneckParams)) -> Self {
        HopParams { up, down, half_duplex: false }
    }
}

/// A router as observer of one hop's bottlenecks.
pub(crate) struct Watch<'a, R> {
    pub(crate) hop: usize,
    pub(crate) router: &'a mut R,
}

impl<R> Watch<'_, R> {
    /// Of one of its sides.
    pub(crate) fn at(&mut self, side: usize) -> At<'_, R> {
        let direction = if side == 0 { Direction::Up } else { Direction::Down };
        At(Place { hop: self.hop, direction }, self.router)
    }
}

pub(crate) struct At<'a, R>(Place, &'a mut R);

impl<P, R: Router<P>> Observer<P> for At<'_, R> {
    fn event(&mut self, event: Event<'_, P>, now: Time) {
        self.1.event(self.0, event, now);
    }
}

/// Up and down, and what they share.
pub(crate) struct Hop<P> {
    sides: [Bottleneck<P>; 2],
    sharing: Sharing,
}

enum Sharing {
    Nothing,
    Medium(Box<Medium>),
    Wifi(Box<WifiMedium>),
}

impl<P: Packet + Clone> Hop<P> {
    /// # Panics
    /// If a rate is zero, or if one direction alone is 802.11.
    pub(crate) fn new(params: HopParams<'_>, seeds: &mut Rng) -> Self {
        let mut build = |side| Bottleneck::new(side, seeds.next_u64());
        let sides = [build(params.up), build(params.down)];
        let sharing = match (&params.up.transmitter, &params.down.transmitter) {
            (TransmitterParams::Wifi(up), TransmitterParams::Wifi(_)) => {
                let rng = Rng::stream(seeds.next_u64(), "contention");
                Sharing::Wifi(Box::new(WifiMedium::new(Contention::new(up, rng))))
            }
            (TransmitterParams::Wifi(_), _) | (_, TransmitterParams::Wifi(_)) => {
                panic!("one direction of a hop is 802.11, the other is not")
            }
            _ if params.half_duplex => Sharing::Medium(Box::default()),
            _ => Sharing::Nothing,
        };
        Hop { sides, sharing }
    }

    /// `packet` arrives at the queue of `side`. False if that changed nothing of what is due.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        side: usize,
        packet: P,
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) -> bool {
        match &mut self.sharing {
            Sharing::Nothing => return self.sides[side].line_up(packet, now, &mut watch.at(side)),
            Sharing::Medium(medium) => medium.arrive(&mut self.sides, (side, packet), now, watch),
            Sharing::Wifi(medium) => medium.arrive(&mut self.sides, (side, packet), now, watch),
        }
        true
    }

    /// The first packet of `side` that comes out at or before `now`. Repeat until `None`.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        side: usize,
        now: Time,
        watch: &mut Watch<'_, impl Router<P>>,
    ) -> Option<(P, Time)> {
        match &mut self.sharing {
            Sharing::Nothing => return self.sides[side].poll(now, &mut watch.at(side)),
            Sharing::Medium(medium) => medium.run(&mut self.sides, now, watch),
            Sharing::Wifi(medium) => medium.run(&mut self.sides, now, watch),
        }
        self.sides[side].exit().pop(now)
    }

    /// True if what one side does changes when the other has something to do.
    pub(crate) const fn is_shared(&self) -> bool {
        !matches!(self.sharing, Sharing::Nothing)
    }

    /// When `poll` of `side` next has something to do; [`Time::MAX`] if never.
    #[inline]
    pub(crate) fn next_event(&self, side: usize) -> Time {
        match &self.sharing {
            // What the medium does is done by the first side.
            Sharing::Wifi(medium) if side == 0 => {
                medium.next_event().unwrap_or(Time::MAX).min(self.sides[side].next_out())
            }
            Sharing::Wifi(_) => self.sides[side].next_out(),
            _ => self.sides[side].due(),
        }
    }

    /// No packet comes out of `side` before this.
    pub(crate) fn next_exit(&self, side: usize) -> Option<Time> {
        let bottleneck = &self.sides[side];
        match &self.sharing {
            Sharing::Wifi(medium) => {
                // Of 802.11 what is being sent does not depend on the time that is asked for.
                let inside = bottleneck.queued() != Backlog::default()
                    || bottleneck.sending(Time::ZERO) != Backlog::default();
                let sent = medium.next_event().filter(|_| inside).map(|at| at + bottleneck.delay());
                let next = sent.unwrap_or(Time::MAX).min(bottleneck.next_out());
                (next != Time::MAX).then_some(next)
            }
            _ => bottleneck.next_exit(),
        }
    }

    /// Up or down.
    pub(crate) const fn side(&self, side: usize) -> &Bottleneck<P> {
        &self.sides[side]
    }
}

//! One hop: a bottleneck per direction, with separate media or a shared one.
use crate::bottleneck::{Bottleneck, BottleneckParams};
use crate::medium::Medium;
use crate::router::{HopObserver, Router};
use crate::transmitter::TransmitterParams;
use crate::wifi::{Contention, WifiMedium};
use alloc::boxed::Box;
use fathom_qdisc::{Backlog, Packet};
use fathom_units::{Direction, PerDirection, Rng, Time};

/// Both directions of a hop.
#[derive(Clone, Copy, Debug)]
pub struct HopParams<'a> {
    /// From the user.
    pub up: &'a BottleneckParams,
    /// To the user.
    pub down: &'a BottleneckParams,
    /// Only one direction can send at a time. Always true for 802.11.
    pub half_duplex: bool,
}

/// A full-duplex hop.
impl<'a> From<(&'a BottleneckParams, &'a BottleneckParams)> for HopParams<'a> {
    fn from((up, down): (&'a BottleneckParams, &'a BottleneckParams)) -> Self {
        HopParams { up, down, half_duplex: false }
    }
}

/// The bottlenecks of both directions, and what they share.
pub(crate) struct Hop<P> {
    sides: PerDirection<Bottleneck<P>>,
    sharing: Sharing,
}

/// The medium that both directions share.
enum Sharing {
    Nothing,
    Medium(Box<Medium>),
    Wifi(Box<WifiMedium>),
}

impl Sharing {
    /// Handles everything due by `now`.
    fn run<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) {
        match self {
            Sharing::Nothing => {}
            Sharing::Medium(medium) => medium.run(sides, now, observer),
            Sharing::Wifi(medium) => medium.run(sides, now, observer),
        }
    }
    fn wake<P: Packet + Clone>(
        &mut self,
        sides: &mut PerDirection<Bottleneck<P>>,
        direction: Direction,
        now: Time,
    ) {
        match self {
            Sharing::Nothing => {}
            Sharing::Medium(medium) => medium.wake(sides, direction, now),
            Sharing::Wifi(medium) => medium.wake(sides, direction, now),
        }
    }
}

impl<P: Packet + Clone> Hop<P> {
    /// # Panics
    /// If a rate is zero, or if only one direction is 802.11.
    pub(crate) fn new(params: HopParams<'_>, seeds: &mut Rng) -> Self {
        let sides = PerDirection { up: params.up, down: params.down };
        let sides = sides.map(|side| Bottleneck::new(side, seeds.next_u64()));
        let sharing = match (&params.up.transmitter, &params.down.transmitter) {
            (TransmitterParams::Wifi(up), TransmitterParams::Wifi(_)) => {
                let rng = Rng::stream(seeds.next_u64(), "contention");
                Sharing::Wifi(Box::new(WifiMedium::new(Contention::new(up, rng))))
            }
            (TransmitterParams::Wifi(_), _) | (_, TransmitterParams::Wifi(_)) => {
                panic!("only one direction of the hop is 802.11")
            }
            _ if params.half_duplex => Sharing::Medium(Box::new(Medium::new())),
            _ => Sharing::Nothing,
        };
        Hop { sides, sharing }
    }

    /// `packet` arrives at the queue of `direction`. False if no due time has changed.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        direction: Direction,
        packet: P,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) -> bool {
        if let Sharing::Nothing = self.sharing {
            return self.sides[direction].line_up(packet, now, &mut observer.at(direction));
        }
        self.sharing.run(&mut self.sides, now, observer);
        self.sides[direction].enqueue(packet, now, &mut observer.at(direction));
        self.sharing.wake(&mut self.sides, direction, now);
        self.sharing.run(&mut self.sides, now, observer);
        true
    }

    /// The first packet of `direction` that leaves by `now`. Repeat until `None`.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        direction: Direction,
        now: Time,
        observer: &mut HopObserver<'_, impl Router<P>>,
    ) -> Option<(P, Time)> {
        if let Sharing::Nothing = self.sharing {
            return self.sides[direction].poll(now, &mut observer.at(direction));
        }
        self.sharing.run(&mut self.sides, now, observer);
        self.sides[direction].exit().pop(now)
    }

    /// True if the directions influence each other's due times.
    pub(crate) const fn is_shared(&self) -> bool {
        !matches!(self.sharing, Sharing::Nothing)
    }

    /// When `poll` of `direction` has something to do next; [`Time::MAX`] if never.
    #[inline]
    pub(crate) fn next_event(&self, direction: Direction) -> Time {
        let bottleneck = &self.sides[direction];
        match &self.sharing {
            // Events of the medium are handled with the direction up.
            Sharing::Wifi(medium) if direction == Direction::Up => {
                medium.next_event().unwrap_or(Time::MAX).min(bottleneck.next_out())
            }
            Sharing::Wifi(_) => bottleneck.next_out(),
            _ => bottleneck.due(),
        }
    }

    /// No packet leaves in `direction` before this.
    pub(crate) fn next_exit(&self, direction: Direction) -> Option<Time> {
        let bottleneck = &self.sides[direction];
        match &self.sharing {
            Sharing::Wifi(medium) => {
                // For 802.11, the packets being sent do not depend on the time passed here.
                let inside = bottleneck.queued() != Backlog::default()
                    || bottleneck.sending(Time::ZERO) != Backlog::default();
                let sent = medium.next_event().filter(|_| inside).map(|at| at + bottleneck.delay());
                let next = sent.unwrap_or(Time::MAX).min(bottleneck.next_out());
                (next != Time::MAX).then_some(next)
            }
            _ => bottleneck.next_exit(),
        }
    }

    /// The bottleneck of `direction`.
    pub(crate) const fn side(&self, direction: Direction) -> &Bottleneck<P> {
        self.sides.get(direction)
    }
}

//! A bidirectional path of bottlenecks, each followed by a router.
use crate::bottleneck::Bottleneck;
use crate::hop::{Hop, HopParams};
use crate::router::{HopObserver, LinePosition, Router, Verdict};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_qdisc::Packet;
use fathom_units::{Direction, Duration, PerDirection, Rng, Time};

/// A packet that has left the line: its direction, and when.
type Out<P> = (Direction, P, Time);

/// Where a packet enters the line.
#[derive(Clone, Copy)]
struct Entry {
    /// The router where it enters; `None` at the user.
    router: Option<usize>,
    direction: Direction,
}

/// A packet that has entered the line and has not been processed.
struct Entering<P> {
    entry: Entry,
    packet: P,
    now: Time,
}

/// A path of hops between user and server.
///
/// ```text
/// user ==link 0== router 0 ==link 1== router 1 == ... ==link n-1== router n-1 -- server
/// ```
/// Hop i is link i and the router at its end, like a line of traceroute output. Link i has an
/// up bottleneck, with its queue on the user's side of the link, and a down bottleneck, with its
/// queue in router i. The server is at the last router.
///
/// Events of all hops happen in order of time. At equal times the hop closer to the user comes
/// first, up before down, and packets of [`Line::enter`] come last.
pub struct Line<P> {
    hops: Vec<Hop<P>>,
    /// The next event of each bottleneck as a [`key`], by position; costly to compute.
    due: Vec<u128>,
    /// The first of `due`.
    first: u128,
    /// The minimum propagation delay from the end of each link to either end of the line.
    onward: Vec<PerDirection<Duration>>,
    /// Packets that have entered and have not been processed.
    entering: VecDeque<Entering<P>>,
    /// Packets that were answered by the router at which they entered, and have left.
    leaving: VecDeque<Out<P>>,
    /// Time of the first packet in `entering` or `leaving`; [`Time::MAX`] if there is none.
    pending: Time,
}

impl<P: Packet + Clone> Line<P> {
    /// Creates an empty line of hops, starting at the user. An up and a down bottleneck are a hop.
    ///
    /// # Panics
    /// If a rate is zero, or if only one direction of a hop is 802.11.
    pub fn new<'a>(hops: impl IntoIterator<Item = impl Into<HopParams<'a>>>, seed: u64) -> Self {
        let mut seeds = Rng::stream(seed, "line");
        let mut build = |params: HopParams<'_>| {
            let delays = PerDirection { up: params.up.delay, down: params.down.delay };
            (delays, Hop::new(params, &mut seeds))
        };
        let (delays, hops): (Vec<_>, Vec<_>) = hops.into_iter().map(|hop| build(hop.into())).unzip();
        let due: Vec<u128> = (0..2 * hops.len()).map(|index| key(Time::MAX, index)).collect();
        let first = due.first().copied().unwrap_or(u128::MAX);
        let (entering, leaving) = (VecDeque::new(), VecDeque::new());
        Line { hops, due, first, onward: onward(&delays), entering, leaving, pending: Time::MAX }
    }

    /// `packet` comes from the user (up) or from the server (down) at `now`, which must not
    /// decrease. The next [`Line::poll`] processes it.
    pub fn enter(&mut self, direction: Direction, packet: P, now: Time) {
        self.wait(Entering { entry: self.end(direction), packet, now });
    }

    /// Like [`Line::enter`], but processes the packet immediately if nothing is due by `now`.
    pub fn take(&mut self, direction: Direction, packet: P, now: Time, router: &mut impl Router<P>) {
        self.admit(self.end(direction), packet, now, router);
    }

    /// [`Line::take`] for cross traffic: enters at a router and leaves by [`Verdict::Leave`].
    pub fn join(&mut self, position: LinePosition, packet: P, now: Time, router: &mut impl Router<P>) {
        let entry = Entry { router: Some(position.hop), direction: position.direction };
        self.admit(entry, packet, now, router);
    }

    /// Handles everything due by `now`, each event at its own time. `out` gets what leaves.
    pub fn advance(
        &mut self,
        now: Time,
        router: &mut impl Router<P>,
        out: &mut impl FnMut(Direction, P, Time),
    ) {
        while let Some((direction, packet, time)) = self.poll(now, router) {
            out(direction, packet, time);
        }
    }

    /// Handles events due by `now` until a packet leaves. Repeat until `None`.
    pub fn poll(&mut self, now: Time, router: &mut impl Router<P>) -> Option<(Direction, P, Time)> {
        loop {
            let next = self.next();
            if next > now || next == Time::MAX {
                return None;
            }
            let out =
                if due(self.first).0 <= self.pending { self.step(router) } else { self.take_up(router) };
            if out.is_some() {
                return out;
            }
        }
    }

    /// When `advance` has something to do next.
    pub fn next_event(&self) -> Option<Time> {
        let next = self.next();
        (next != Time::MAX).then_some(next)
    }

    /// No packet leaves before this, except by [`Verdict::Leave`]; `None` if there is none. A
    /// real-time host need not wake earlier: the next `advance` gives events their own times.
    pub fn next_exit(&self) -> Option<Time> {
        let entering = self.leaving.front().map(|(.., time)| *time);
        let entering = entering.or(self.entering.front().map(|one| one.now));
        let hops = self.hops.iter().zip(&self.onward);
        let sides = hops.flat_map(|(hop, onward)| onward.iter().map(move |on| (hop, on)));
        let inside = sides.filter_map(|(hop, (direction, onward))| Some(hop.next_exit(direction)? + *onward));
        inside.chain(entering).min()
    }

    /// The bottleneck at `position`, for its counters.
    ///
    /// # Panics
    /// If the line has no such hop.
    pub fn bottleneck(&self, position: LinePosition) -> &Bottleneck<P> {
        self.hops[position.hop].side(position.direction)
    }

    /// The number of hops.
    pub fn len(&self) -> usize {
        self.hops.len()
    }
    /// True if user and server are directly connected.
    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    /// Time of the next event; [`Time::MAX`] if there is none.
    #[inline]
    fn next(&self) -> Time {
        due(self.first).0.min(self.pending)
    }

    /// Processes the first packet in `leaving` or `entering`.
    fn take_up(&mut self, router: &mut impl Router<P>) -> Option<Out<P>> {
        let out = match self.leaving.pop_front() {
            Some(out) => Some(out),
            None => {
                let Entering { entry, packet, now } = self.entering.pop_front()?;
                self.begin(entry, packet, now, router)
            }
        };
        let leaving = self.leaving.front().map_or(Time::MAX, |(.., time)| *time);
        self.pending = self.entering.front().map_or(leaving, |one| one.now.min(leaving));
        out
    }

    /// Where packets enter that cross the whole line.
    #[inline]
    fn end(&self, direction: Direction) -> Entry {
        let router = match direction {
            Direction::Up => None,
            Direction::Down => self.hops.len().checked_sub(1),
        };
        Entry { router, direction }
    }
    fn wait(&mut self, one: Entering<P>) {
        self.pending = self.pending.min(one.now);
        self.entering.push_back(one);
    }
    fn admit(&mut self, entry: Entry, packet: P, now: Time, router: &mut impl Router<P>) {
        if self.hops.is_empty() || self.next() <= now {
            return self.wait(Entering { entry, packet, now });
        }
        if let Some(out) = self.begin(entry, packet, now, router) {
            self.leaving.push_back(out);
            self.pending = self.pending.min(now);
        }
    }

    /// Handles the first event of a bottleneck.
    fn step(&mut self, router: &mut impl Router<P>) -> Option<Out<P>> {
        let (now, LinePosition { hop, direction }) = due(self.first);
        let polled = self.hops[hop].poll(direction, now, &mut HopObserver { hop, router });
        self.look(hop, direction);
        let (packet, time) = polled?;
        let reached = match direction {
            Direction::Up => hop,
            Direction::Down if hop == 0 => return Some((Direction::Down, packet, time)),
            Direction::Down => hop - 1,
        };
        self.reach(LinePosition { hop: reached, direction }, packet, time, router)
    }

    /// Processes a packet that enters at a router or at the user.
    fn begin(&mut self, entry: Entry, packet: P, now: Time, router: &mut impl Router<P>) -> Option<Out<P>> {
        let Entry { router: at, direction } = entry;
        match at {
            Some(hop) => self.reach(LinePosition { hop, direction }, packet, now, router),
            None => self.cross(0, direction, packet, now, router),
        }
    }

    fn reach(
        &mut self,
        position: LinePosition,
        mut packet: P,
        now: Time,
        router: &mut impl Router<P>,
    ) -> Option<Out<P>> {
        let (packet, direction) = match router.arrive(position, &mut packet, now) {
            Verdict::Forward => (packet, position.direction),
            Verdict::Answer(answer) => (answer, position.direction.reverse()),
            Verdict::Discard => return None,
            Verdict::Leave => return Some((position.direction, packet, now)),
        };
        let link = if direction == Direction::Up { position.hop + 1 } else { position.hop };
        self.cross(link, direction, packet, now, router)
    }

    /// `packet` arrives at the queue of link `hop`, or leaves if there is no such link.
    fn cross(
        &mut self,
        hop: usize,
        direction: Direction,
        packet: P,
        now: Time,
        router: &mut impl Router<P>,
    ) -> Option<Out<P>> {
        let Some(link) = self.hops.get_mut(hop) else { return Some((direction, packet, now)) };
        if link.arrive(direction, packet, now, &mut HopObserver { hop, router }) {
            self.look(hop, direction);
        }
        None
    }

    /// Updates the due times after an event in `direction` of a hop.
    fn look(&mut self, hop: usize, direction: Direction) {
        self.note(hop, direction);
        if self.hops[hop].is_shared() {
            self.note(hop, direction.reverse());
        }
    }
    fn note(&mut self, hop: usize, direction: Direction) {
        let (index, before) = (2 * hop + direction.index(), self.first);
        let due = key(self.hops[hop].next_event(direction), index);
        self.due[index] = due;
        if due <= before {
            self.first = due;
        } else if before as usize == index {
            self.first = self.due.iter().copied().min().unwrap_or(u128::MAX);
        }
    }
}

/// Time and position as one number, ordered by time and then by position.
const fn key(at: Time, index: usize) -> u128 {
    (at.as_nanos() as u128) << 64 | index as u128
}

const fn due(key: u128) -> (Time, LinePosition) {
    let (at, index) = (Time::from_nanos((key >> 64) as u64), key as usize);
    (at, LinePosition { hop: index / 2, direction: Direction::BOTH[index % 2] })
}

/// The minimum propagation delay from the end of each link to either end of the line: the packet
/// continues, or the router at the end of the link answers and the answer returns.
fn onward(delays: &[PerDirection<Duration>]) -> Vec<PerDirection<Duration>> {
    let sum = |links: &[PerDirection<Duration>], direction: Direction| {
        links.iter().fold(Duration::ZERO, |sum, link| sum + link[direction])
    };
    let of = |hop: usize| {
        let (nearer, from_here) = delays.split_at(hop);
        PerDirection {
            up: sum(&from_here[1..], Direction::Up).min(sum(&delays[..=hop], Direction::Down)),
            // The first link down ends at the user, who does not answer.
            down: sum(nearer, Direction::Down).min(sum(from_here, Direction::Up)),
        }
    };
    (0..delays.len()).map(of).collect()
}

//! An interactive simulation: the caller changes loads and shapers while it runs.
use crate::agenda::Wake;
use crate::net::{Edge, Net};
use crate::packet::{Body, BoxedPacket};
use crate::shaper::{Shaper, ShaperConfig, ShaperStats, interface_bytes};
use crate::watch::Watch;
use crate::world::{ControlChoice, Profile, World};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use fathom_scenario::{Plan, START_WITHIN};
use fathom_tcp::{ControlKind, ReceiverConfig, SenderConfig};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rate, Rng, Time};

/// More than any session can send.
const ENDLESS: u64 = 1 << 60;
/// Probe kind: UDP.
const UDP: u32 = 0;

/// An answered probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// When the probe was sent.
    pub sent: Time,
    /// One-way delay to the server.
    pub up: Duration,
    /// One-way delay back.
    pub down: Duration,
}

impl Answer {
    /// The round-trip time.
    pub fn round_trip(&self) -> Duration {
        self.up + self.down
    }
}

/// A flow that has not started.
#[derive(Clone)]
struct Planned {
    direction: Direction,
    profile: Profile,
    is_cancelled: bool,
}

/// A line in virtual time. The same calls give the same results on every machine.
///
/// ```text
/// user == shaper up == line == server
/// user == shaper down == line == server
/// ```
/// Both shapers are at the user's edge: before the line up, after the line down.
pub struct Session {
    world: World,
    /// The egress shaper is in [`Net`].
    ingress: Option<Shaper>,
    bypassed: PerDirection<bool>,
    planned: Vec<Planned>,
    open: Vec<u32>,
    probe_interval: Option<Duration>,
    is_probe_armed: bool,
    answers: Vec<Answer>,
    interface_bytes: PerDirection<u64>,
    /// Ends and departure times of the segments sent to the line, by flow.
    leaving: BTreeMap<u32, VecDeque<(u64, Time)>>,
    passive: Option<Vec<Duration>>,
    rng: Rng,
}

impl Session {
    /// Creates an idle line at time zero. All random numbers derive from `seed`.
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let net = Net::new(plan.to_line(seed), Watch::new(plan.line.hops.len()));
        Session {
            world: World::new(net, seed),
            ingress: None,
            bypassed: PerDirection::default(),
            planned: Vec::new(),
            open: Vec::new(),
            probe_interval: None,
            is_probe_armed: false,
            answers: Vec::new(),
            interface_bytes: PerDirection::default(),
            leaving: BTreeMap::new(),
            passive: None,
            rng: Rng::stream(seed, "session"),
        }
    }
    /// The current time.
    pub fn now(&self) -> Time {
        self.world.net.now
    }

    /// Starts `flows` unlimited TCP transfers with CUBIC and this payload per segment.
    pub fn start_flows(&mut self, direction: Direction, flows: u32, segment: Option<u16>) {
        let defaults = SenderConfig::default();
        let profile = Profile {
            sender: SenderConfig { mss: segment.map_or(defaults.mss, u32::from), ..defaults },
            receiver: ReceiverConfig::default(),
            control: ControlChoice::Kind(ControlKind::Cubic),
            edge: Edge::default(),
            dscp: 0,
            host: 0,
        };
        for _ in 0..flows {
            let late = Duration::from_nanos(self.rng.below(START_WITHIN.as_nanos()));
            let at = self.now() + late;
            self.world.net.agenda.push(at, Wake::Unit(self.planned.len() as u32));
            self.planned.push(Planned { direction, profile: profile.clone(), is_cancelled: false });
        }
    }
    /// Ends all transfers. Packets in flight still cross the line.
    pub fn stop_flows(&mut self) {
        self.planned.iter_mut().for_each(|flow| flow.is_cancelled = true);
        for flow in core::mem::take(&mut self.open) {
            self.world.close(flow);
        }
    }
    /// TCP payload delivered in a direction.
    pub fn delivered(&self, direction: Direction) -> Bytes {
        let of = self.world.flows.iter().filter(|flow| flow.direction == direction);
        Bytes(of.map(|flow| flow.total.delivered_bytes).sum())
    }

    /// Sends probes to the server at this interval from now on; `None` stops.
    pub fn probe(&mut self, interval: Option<Duration>) {
        self.probe_interval = interval;
        if let Some(interval) = interval.filter(|_| !self.is_probe_armed) {
            let late = Duration::from_nanos(self.rng.below(interval.as_nanos()));
            self.is_probe_armed = true;
            self.world.net.agenda.push(self.world.net.now + late, Wake::Probe(UDP));
        }
    }
    /// Probes answered since the last call.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        core::mem::take(&mut self.answers)
    }
    /// Starts recording passive round trips, from the egress to the ingress shaper.
    pub fn listen(&mut self) {
        self.passive.get_or_insert_with(Vec::new);
    }
    /// Passive round trips since the last call.
    pub fn take_passive(&mut self) -> Vec<Duration> {
        self.passive.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Replaces or removes the shaper of this direction. Packets in its queue are lost.
    pub fn shape(&mut self, direction: Direction, config: Option<&ShaperConfig>) {
        let seed = self.rng.next_u64();
        *self.slot(direction) = config.map(|config| Shaper::new(config, seed));
    }
    /// Changes the rate of a shaper, if there is one.
    pub fn set_rate(&mut self, direction: Direction, rate: Rate) {
        if let Some(shaper) = self.slot(direction) {
            shaper.set_rate(rate);
        }
    }
    /// Whether packets of this direction bypass the shaper from now on.
    pub fn bypass(&mut self, direction: Direction, is_bypassed: bool) {
        self.bypassed[direction] = is_bypassed;
        if matches!(direction, Direction::Up) {
            self.world.net.is_egress_bypassed = is_bypassed;
        }
    }
    /// Counters of a shaper, if there is one.
    pub fn shaper_stats(&self, direction: Direction) -> Option<ShaperStats> {
        let shaper = match direction {
            Direction::Up => self.world.net.egress.as_ref(),
            Direction::Down => self.ingress.as_ref(),
        };
        shaper.map(Shaper::stats)
    }
    /// Bytes sent or received by the user's interface, with an Ethernet header per packet.
    pub fn interface_bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Up => self.world.net.sent_bytes,
            Direction::Down => self.interface_bytes[direction],
        }
    }
    const fn slot(&mut self, direction: Direction) -> &mut Option<Shaper> {
        match direction {
            Direction::Up => &mut self.world.net.egress,
            Direction::Down => &mut self.ingress,
        }
    }

    /// Advances the time to `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.world.net.now = self.world.net.now.max(end);
    }
    /// Handles the next event, if it is due by `end`.
    fn step(&mut self, end: Time) -> bool {
        let net = &mut self.world.net;
        let line = net.line.next_event().unwrap_or(Time::MAX);
        let egress = net.egress.as_ref().map_or(Time::MAX, Shaper::next);
        let ingress = self.ingress.as_ref().map_or(Time::MAX, Shaper::next);
        let agenda = net.agenda.next();
        let next = line.min(egress).min(ingress).min(agenda);
        if next > end || next == Time::MAX {
            return false;
        }
        // The next event may be in the past: an idle shaper may send at once.
        net.now = net.now.max(next);
        if line == next {
            self.leave_line();
        } else if egress == next {
            self.leave_egress();
        } else if ingress == next {
            let now = self.world.net.now;
            if let Some(packet) = self.ingress.as_mut().and_then(|shaper| shaper.poll(now)) {
                self.arrive(Direction::Down, packet);
            }
        } else if let Some(wake) = self.world.net.agenda.pop() {
            self.wake(wake);
        }
        true
    }
    fn leave_egress(&mut self) {
        let net = &mut self.world.net;
        let now = net.now;
        let Some(packet) = net.egress.as_mut().and_then(|shaper| shaper.poll(now)) else { return };
        if self.passive.is_some()
            && let Body::Data { seq, len, .. } = packet.body()
        {
            self.leaving.entry(packet.flow).or_default().push_back((seq + u64::from(len), now));
        }
        net.enter_line(packet);
    }
    fn leave_line(&mut self) {
        let Some((travel, packet, _)) = self.world.net.poll() else { return };
        if travel == Direction::Up {
            return self.arrive(travel, packet);
        }
        self.interface_bytes[travel] += interface_bytes(&packet);
        self.listen_to(&packet);
        let now = self.world.net.now;
        match &mut self.ingress {
            Some(shaper) if !self.bypassed.down => shaper.enqueue(packet, now),
            _ => self.arrive(travel, packet),
        }
    }
    /// Records the round trip of the newest segment that an ACK covers.
    fn listen_to(&mut self, packet: &BoxedPacket) {
        let (Some(passive), Body::Ack { ack, .. }) = (&mut self.passive, packet.body()) else { return };
        let Some(leaving) = self.leaving.get_mut(&packet.flow) else { return };
        let mut newest = None;
        while leaving.front().is_some_and(|(end, _)| *end <= ack) {
            newest = leaving.pop_front().map(|(_, at)| at);
        }
        passive.extend(newest.map(|at| self.world.net.now - at));
    }
    fn arrive(&mut self, travel: Direction, packet: BoxedPacket) {
        if let Body::Probe { sent_at, reached_at: Some(reached), .. } = packet.body() {
            let now = self.world.net.now;
            self.answers.push(Answer { sent: sent_at, up: reached - sent_at, down: now - reached });
        }
        // No flow has a goal, so there are no notices.
        let _ = self.world.leave_line(travel, packet);
    }
    fn wake(&mut self, wake: Wake) {
        match wake {
            Wake::Sender(flow) => self.world.wake_sender(flow),
            Wake::Receiver(flow) => self.world.wake_receiver(flow),
            Wake::Unit(number) => self.begin_flow(number),
            Wake::Probe(kind) => self.send_probe(kind),
            Wake::Access(_) | Wake::Pipe(_) | Wake::Stop(_) | Wake::Sample => {}
        }
    }
    fn begin_flow(&mut self, number: u32) {
        let Planned { direction, profile, is_cancelled } = self.planned[number as usize].clone();
        if is_cancelled {
            return;
        }
        let flow = self.world.open(&profile, direction, (number, 0), false);
        self.world.write(flow, ENDLESS);
        self.open.push(flow);
    }
    fn send_probe(&mut self, kind: u32) {
        let Some(interval) = self.probe_interval else {
            self.is_probe_armed = false;
            return;
        };
        let now = self.world.net.now;
        let packet = self.world.probes.send(kind, now);
        self.world.net.send(packet, Direction::Up, Edge::default());
        self.world.net.agenda.push(now + interval, Wake::Probe(kind));
    }
}

//! The network and its flows: packets, ACKs, timers.
use crate::agenda::Wake;
use crate::flow::{Ends, Flow, Tcp, Total};
use crate::hops::HopProbes;
use crate::net::{Edge, Net};
use crate::packet::{Body, BoxedPacket, Packet, acknowledgement, segment};
use crate::probe::Probes;
use alloc::boxed::Box;
use alloc::vec::Vec;
use fathom_run::Timings;
use fathom_scenario::UDP_HEADERS;
use fathom_tcp::{
    AnyControl, Control, ControlConfig, ControlKind, ControlPluginParams, Data, Receiver, ReceiverConfig,
    Sender, SenderConfig,
};
use fathom_units::{Direction, Duration, Rng, Time};

/// Everything except the units.
pub(crate) struct World {
    pub(crate) net: Net,
    pub(crate) flows: Vec<Flow>,
    pub(crate) probes: Probes,
    /// Only in a test.
    pub(crate) hops: Option<HopProbes>,
    pub(crate) timings: Timings,
    pub(crate) rng: Rng,
    pub(crate) digest: Digest,
    /// Packets that left the line.
    pub(crate) delivered: u64,
}

/// Notifications to units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// The flow has reached its goal.
    Reached { flow: u32 },
    /// A datagram arrived.
    Arrived { flow: u32, number: u32, delay: Duration },
}

/// How a TCP flow is created.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
    pub(crate) control: ControlChoice,
    pub(crate) edge: Edge,
    pub(crate) dscp: u8,
    pub(crate) host: u8,
}

/// The congestion control of a flow.
#[derive(Clone, Debug)]
pub(crate) enum ControlChoice {
    Kind(ControlKind),
    Plugin(ControlPluginParams),
}

impl ControlChoice {
    /// That of a user, or a kind by its name, or CUBIC.
    pub(crate) fn named(name: &str, plugins: &[ControlPluginParams]) -> Self {
        let plugin = plugins.iter().find(|plugin| plugin.name() == name);
        plugin.map_or_else(
            || ControlChoice::Kind(name.parse().unwrap_or(ControlKind::Cubic)),
            |plugin| ControlChoice::Plugin(plugin.clone()),
        )
    }
    fn create(&self, config: &ControlConfig) -> AnyControl {
        match self {
            ControlChoice::Kind(kind) => AnyControl::new(*kind, config),
            ControlChoice::Plugin(plugin) => AnyControl::of_plugin(plugin, config),
        }
    }
}

/// A running hash of everything that left the line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    pub(crate) fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl World {
    /// Creates a world at time zero without flows. All random numbers derive from `seed`.
    pub(crate) fn new(net: Net, seed: u64) -> Self {
        World {
            net,
            flows: Vec::new(),
            probes: Probes::default(),
            hops: None,
            timings: Timings::default(),
            rng: Rng::stream(seed, "world"),
            digest: Digest::default(),
            delivered: 0,
        }
    }
    pub(crate) fn now(&self) -> Time {
        self.net.now
    }
    /// Opens a connection of `unit` with its `tag`. `answers`: another flow has done the handshake.
    pub(crate) fn open(
        &mut self,
        profile: &Profile,
        direction: Direction,
        (unit, tag): (u32, u32),
        answers: bool,
    ) -> u32 {
        let number = self.flows.len() as u32;
        let config =
            ControlConfig { mss: profile.sender.mss, seed: self.rng.next_u64(), ..ControlConfig::default() };
        let control = profile.control.create(&config);
        let exact_ecn = control.wants_exact_ecn();
        let ecn = profile.sender.ecn || exact_ecn;
        let sender = SenderConfig { ecn, handshake: !answers, ..profile.sender };
        let tcp = Tcp {
            sender: Sender::new(sender, control, self.now()),
            receiver: Receiver::new(ReceiverConfig { exact_ecn, ..profile.receiver }),
            sender_woken: Time::MAX,
            receiver_woken: Time::MAX,
        };
        self.add(Ends::Tcp(Box::new(tcp)), profile, direction, (unit, tag));
        number
    }
    /// Opens a flow of datagrams.
    pub(crate) fn open_datagrams(&mut self, profile: &Profile, direction: Direction, unit: u32) -> u32 {
        let number = self.flows.len() as u32;
        self.add(Ends::Datagrams, profile, direction, (unit, 0));
        number
    }
    fn add(&mut self, ends: Ends, profile: &Profile, direction: Direction, (unit, tag): (u32, u32)) {
        let Profile { edge, dscp, host, .. } = *profile;
        let (goal, written, opened, total) = (u64::MAX, 0, self.now(), Total::default());
        self.flows.push(Flow { ends, direction, edge, dscp, host, unit, tag, goal, written, opened, total });
        self.net.watch.open();
    }
    /// Ends the flow as if both endpoints had disappeared.
    pub(crate) fn close(&mut self, flow: u32) {
        let now = self.now();
        self.flows[flow as usize].close(now);
    }
    /// Gives `bytes` to the flow's sender.
    pub(crate) fn write(&mut self, number: u32, bytes: u64) {
        let flow = &mut self.flows[number as usize];
        flow.written = flow.written.saturating_add(bytes);
        if let Ends::Tcp(tcp) = &mut flow.ends {
            tcp.sender.write(bytes);
            self.pump(number);
        }
    }
    /// Like [`Self::write`], and notifies the unit when everything written has arrived.
    pub(crate) fn write_to_the_end(&mut self, number: u32, bytes: u64) {
        let flow = &mut self.flows[number as usize];
        flow.goal = flow.written.saturating_add(bytes);
        self.write(number, bytes);
    }
    /// Sends a datagram of `ip_len`.
    pub(crate) fn send_datagram(&mut self, flow: u32, number: u32, ip_len: u16) {
        let (now, entry) = (self.net.now, &mut self.flows[flow as usize]);
        entry.total.sent_packets += 1;
        let packet = entry.label(flow, entry.direction).datagram(number, ip_len, now);
        self.net.send(packet, entry.direction, entry.edge);
    }

    /// Sends what the flow's sender may send, and arms its timer.
    fn pump(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        let (label, direction, edge) = (flow.label(number, flow.direction), flow.direction, flow.edge);
        let Ends::Tcp(tcp) = &mut flow.ends else { return };
        while let Some(data) = tcp.sender.poll_transmit(self.net.now) {
            flow.total.sent_packets += 1;
            self.net.send(label.data(&data), direction, edge);
        }
        if let Some(at) = tcp.sender.next_timer().filter(|at| *at < tcp.sender_woken) {
            tcp.sender_woken = at;
            self.net.agenda.push(at, Wake::Sender(number));
        }
    }
    /// Wakes the flow's sender, perhaps for nothing, since postponed timers are not canceled.
    pub(crate) fn wake_sender(&mut self, number: u32) {
        let (now, flow) = (self.net.now, &mut self.flows[number as usize]);
        let Ends::Tcp(tcp) = &mut flow.ends else { return };
        if tcp.sender_woken != now {
            return;
        }
        tcp.sender_woken = Time::MAX;
        if tcp.sender.next_timer().is_some_and(|at| at <= now) {
            tcp.sender.on_timer(now);
        }
        self.pump(number);
    }
    /// Wakes the flow's receiver.
    pub(crate) fn wake_receiver(&mut self, number: u32) {
        let (now, flow) = (self.net.now, &mut self.flows[number as usize]);
        let Ends::Tcp(tcp) = &mut flow.ends else { return };
        if tcp.receiver_woken != now {
            return;
        }
        tcp.receiver_woken = Time::MAX;
        let ack = tcp.receiver.on_timer(now);
        arm_receiver(&mut self.net, tcp, number);
        if let Some(ack) = ack {
            let (back, edge) = (flow.direction.reverse(), flow.edge_back());
            self.net.send(flow.label(number, back).ack(&ack), back, edge);
        }
    }

    /// `packet` has left the line in direction `travel`.
    pub(crate) fn leave_line(&mut self, travel: Direction, packet: BoxedPacket) -> Option<Notice> {
        self.delivered += 1;
        self.digest.add(
            self.net.now.as_nanos() ^ (u64::from(packet.flow) << 40) ^ (u64::from(packet.ip_len()) << 24),
        );
        let pipe = match travel {
            Direction::Down => None,
            Direction::Up => self.flows.get(packet.flow as usize).and_then(|flow| flow.edge.pipe),
        };
        match pipe {
            Some(pair) => {
                self.net.delay_beyond(pair, packet);
                None
            }
            None => self.arrive(packet),
        }
    }
    /// `boxed` has reached its destination.
    pub(crate) fn arrive(&mut self, boxed: BoxedPacket) -> Option<Notice> {
        let notice = self.open_packet(&boxed);
        self.net.pool.give(boxed);
        notice
    }
    fn open_packet(&mut self, packet: &Packet) -> Option<Notice> {
        let body = packet.body();
        match body {
            Body::Data { .. } => {
                let data = segment(&body)?;
                self.take_data(packet, &data)
            }
            Body::Ack { .. } => {
                self.take_ack(packet);
                None
            }
            Body::Datagram { number, sent_at } => self.take_datagram(packet, number, sent_at),
            Body::Probe { .. } => {
                if let Some(answer) = self.probes.arrived(packet, self.net.now) {
                    self.net.send(answer, Direction::Down, Edge::default());
                }
                None
            }
            Body::Hop { .. } => {
                if let Some(answer) = self.hops.as_mut().and_then(|hops| hops.arrived(packet, self.net.now)) {
                    self.net.send(answer, Direction::Down, Edge::default());
                }
                None
            }
        }
    }
    fn take_data(&mut self, packet: &Packet, data: &Data) -> Option<Notice> {
        let (number, now) = (packet.flow, self.net.now);
        let flow = &mut self.flows[number as usize];
        let Ends::Tcp(tcp) = &mut flow.ends else { return None };
        let ack = tcp.receiver.on_data(data, packet.is_marked(), now);
        flow.total.delivered_packets += 1;
        flow.total.delivered_bytes = tcp.receiver.delivered();
        arm_receiver(&mut self.net, tcp, number);
        if let Some(ack) = ack {
            let (back, edge) = (flow.direction.reverse(), flow.edge_back());
            self.net.send(flow.label(number, back).ack(&ack), back, edge);
        }
        if flow.total.delivered_bytes < flow.goal {
            return None;
        }
        flow.goal = u64::MAX;
        Some(Notice::Reached { flow: number })
    }
    fn take_ack(&mut self, packet: &Packet) {
        let now = self.net.now;
        let Ends::Tcp(tcp) = &mut self.flows[packet.flow as usize].ends else { return };
        if let Some(ack) = acknowledgement(&packet.body()) {
            tcp.sender.on_ack(&ack, now);
            self.pump(packet.flow);
        }
    }
    fn take_datagram(&mut self, packet: &Packet, number: u32, sent_at: Time) -> Option<Notice> {
        let (now, flow) = (self.net.now, &mut self.flows[packet.flow as usize]);
        if matches!(flow.ends, Ends::Closed) {
            return None;
        }
        let delay = now - sent_at;
        flow.total.delivered_packets += 1;
        flow.total.delivered_bytes += u64::from(packet.ip_len().saturating_sub(UDP_HEADERS));
        flow.total.delay_ns += u128::from(delay.as_nanos());
        Some(Notice::Arrived { flow: packet.flow, number, delay })
    }
    /// An exponentially distributed number with the mean `mean`.
    pub(crate) fn exponential(&mut self, mean: u64) -> u64 {
        self.rng.exponential(mean)
    }
}

fn arm_receiver(net: &mut Net, tcp: &mut Tcp, number: u32) {
    if let Some(at) = tcp.receiver.next_timer().filter(|at| *at < tcp.receiver_woken) {
        tcp.receiver_woken = at;
        net.agenda.push(at, Wake::Receiver(number));
    }
}

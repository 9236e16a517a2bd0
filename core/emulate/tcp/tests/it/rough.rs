//! Sender and receiver over a path that randomly loses, delays, reorders, duplicates and marks.
use fathom_tcp::{
    Ack, AnyControl, ControlConfig, ControlKind, Data, Receiver, ReceiverConfig, Sender, SenderConfig,
};
use fathom_units::{Duration, Ecn, Rng, Time};
use std::collections::BTreeMap;

/// Fractions of packets in 1000ths, and times in ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roughness {
    lost: u64,
    late: u64,
    twice: u64,
    marked: u64,
    lost_acks: u64,
    delay: u64,
    lateness: u64,
}

enum Arrival {
    Data(Data, bool),
    Ack(Ack),
}

struct Path {
    sender: Sender,
    receiver: Receiver,
    rng: Rng,
    rough: Roughness,
    now: Time,
    /// By time and order of sending.
    arrivals: BTreeMap<(Time, u64), Arrival>,
    sent: u64,
    max_over: u32,
}

impl Path {
    fn new(kind: ControlKind, seed: u64, bytes: u64) -> Self {
        let mut rng = Rng::stream(seed, "rough path");
        let rough = Roughness {
            lost: [0, 1, 10, 50, 150][rng.below(5) as usize],
            late: [0, 0, 5, 50][rng.below(4) as usize],
            twice: [0, 0, 5, 30][rng.below(4) as usize],
            marked: [0, 0, 20][rng.below(3) as usize],
            lost_acks: [0, 0, 10, 200][rng.below(4) as usize],
            delay: [1, 10, 50, 300][rng.below(4) as usize],
            lateness: [2, 20, 700][rng.below(3) as usize],
        };
        let config = SenderConfig {
            ecn: rough.marked > 0,
            paced: rng.below(3) == 0,
            granularity: Duration::from_millis([1, 4, 10][rng.below(3) as usize]),
            ..Default::default()
        };
        let window = [8 * 1448, 65_535, 1 << 30][rng.below(3) as usize];
        let mut sender = Sender::new(config, AnyControl::new(kind, &ControlConfig::default()), Time::ZERO);
        sender.write(bytes);
        Path {
            sender,
            receiver: Receiver::new(ReceiverConfig { window, ..Default::default() }),
            rng,
            rough,
            now: Time::ZERO,
            arrivals: BTreeMap::new(),
            sent: 0,
            max_over: 0,
        }
    }
    fn chance(&mut self, per_thousand: u64) -> bool {
        self.rng.below(1000) < per_thousand
    }
    fn transit(&mut self) -> Time {
        let late = self.chance(self.rough.late);
        let extra = if late { self.rough.lateness } else { 0 };
        self.now + Duration::from_millis(self.rough.delay + extra)
    }
    fn put(&mut self, at: Time, arrival: Arrival) {
        self.sent += 1;
        self.arrivals.insert((at, self.sent), arrival);
    }
    fn transmit(&mut self) {
        while let Some(data) = self.sender.poll_transmit(self.now) {
            self.check(&data);
            let copies = 1 + u64::from(self.chance(self.rough.twice));
            for _ in 0..copies {
                if !self.chance(self.rough.lost) {
                    let marked = data.ecn != Ecn::NotEct && self.chance(self.rough.marked);
                    let at = self.transit();
                    self.put(at, Arrival::Data(data, marked));
                }
            }
        }
    }
    /// The packets in flight never exceed the window, except for a tail loss probe.
    fn check(&mut self, data: &Data) {
        let over = self.sender.in_flight().saturating_sub(self.sender.window().cwnd);
        self.max_over = self.max_over.max(over);
        assert!(data.syn || data.len > 0);
    }
    fn reply(&mut self, ack: Option<Ack>) {
        if let Some(ack) = ack.filter(|_| !self.chance(self.rough.lost_acks)) {
            let at = self.transit();
            self.put(at, Arrival::Ack(ack));
        }
    }
    fn next(&self) -> Option<Time> {
        let arrival = self.arrivals.keys().next().map(|(at, _)| *at);
        [arrival, self.sender.next_timer(), self.receiver.next_timer()].into_iter().flatten().min()
    }
    /// Runs to the end. False if it is never reached.
    fn run(&mut self) -> bool {
        self.transmit();
        for _ in 0..2_000_000 {
            if self.sender.is_done() {
                return true;
            }
            let Some(at) = self.next() else { return false };
            self.now = self.now.max(at);
            match self.arrivals.first_entry().filter(|first| first.key().0 <= self.now) {
                Some(first) => match first.remove() {
                    Arrival::Data(data, marked) => {
                        let before = self.receiver.delivered();
                        let ack = self.receiver.on_data(&data, marked, self.now);
                        assert!(self.receiver.delivered() >= before);
                        self.reply(ack);
                    }
                    Arrival::Ack(ack) => self.sender.on_ack(&ack, self.now),
                },
                None => {
                    let held = self.receiver.on_timer(self.now);
                    self.reply(held);
                    self.sender.on_timer(self.now);
                }
            }
            self.transmit();
        }
        false
    }
}

#[test]
fn every_byte_arrives_once_and_the_transfer_ends() {
    for seed in 0..240 {
        let kind = ControlKind::ALL[seed as usize % ControlKind::ALL.len()];
        let bytes = 1 + Rng::stream(seed, "length").below(1_500_000);
        let mut path = Path::new(kind, seed, bytes);
        let ends = path.run();
        let place = format!("seed {seed}, {kind}, {bytes} bytes, {:?}, at {}", path.rough, path.now);
        assert!(ends, "no end: {place}; {:?} {:?}", path.sender.recovery(), path.sender.window());
        assert_eq!(path.receiver.delivered(), bytes, "{place}");
        assert_eq!(path.sender.acked(), bytes, "{place}");
        assert_eq!(path.sender.in_flight(), 0, "{place}");
        assert!(path.max_over <= 1, "{} packets over the window: {place}", path.max_over);
    }
}

/// The path pauses once without loss: the window does not shrink, and few packets are resent.
#[test]
fn a_pause_of_the_path_is_undone() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "pause");
        let (rtt, pause) = (10 + rng.below(100), 1_000 + rng.below(2_000));
        let mut path = Path::new(ControlKind::Reno, seed, 1 << 40);
        path.rough =
            Roughness { lost: 0, late: 0, twice: 0, marked: 0, lost_acks: 0, delay: rtt / 2, lateness: 0 };
        path.receiver = Receiver::new(ReceiverConfig { window: 100 * 1448, ..Default::default() });
        let begin = Time::ZERO + Duration::from_millis(20 * rtt);
        let end = begin + Duration::from_millis(pause);
        let (mut before, mut spurious) = (0, false);
        path.transmit();
        while path.now < end + Duration::from_millis(10 * rtt) {
            let at = path.next().unwrap();
            path.now = path.now.max(at);
            if path.now < begin {
                before = path.sender.window().cwnd;
            }
            // Arrivals during the pause are delayed to its end.
            let arrives = path.arrivals.first_entry().filter(|first| first.key().0 <= path.now);
            match arrives.map(|first| first.remove()) {
                Some(arrival) if path.now >= begin && path.now < end => path.put(end, arrival),
                Some(Arrival::Data(data, _)) => {
                    let ack = path.receiver.on_data(&data, false, path.now);
                    path.reply(ack);
                }
                Some(Arrival::Ack(ack)) => path.sender.on_ack(&ack, path.now),
                None => {
                    let held = path.receiver.on_timer(path.now);
                    path.reply(held);
                    path.sender.on_timer(path.now);
                }
            }
            path.transmit();
            spurious |= path.sender.recovery() == fathom_tcp::Recovery::Loss;
        }
        let window = path.sender.window();
        let place = format!("seed {seed}, rtt {rtt} ms, pause {pause} ms, {window:?}");
        assert!(spurious, "no timeout: {place}");
        assert!(window.cwnd >= before, "the window was {before}: {place}");
        assert_eq!(window.ssthresh, u32::MAX, "{place}");
        assert!(path.sender.retransmits() <= 8, "{} sent again: {place}", path.sender.retransmits());
    }
}

//! A second implementation of CAKE, written for readability instead of speed: linear searches,
//! hosts counted each time, floating-point roots. Each flow has its own queue. Overheads, the ACK
//! filter and autorate have separate tests.
use crate::common::{Header, TestPacket, build, dequeue, enqueue, packet};
use fathom_qdisc::{CakeParams, Ecn, Isolation, Spec, TinParams};
use fathom_units::{Bytes, Duration, Rng, Time};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    None,
    Sparse,
    SparseWait,
    Bulk,
    Decaying,
}

struct Flow {
    packets: Vec<(TestPacket, u64)>,
    set: Set,
    hosts: [u64; 2],
    /// In units of 1/65536 byte.
    deficit: i64,
    /// When it is served next: the round, and the order of insertion within the round.
    turn: (u64, u64),
    count: u32,
    inverse_root: f64,
    drop_next: u64,
    dropping: bool,
    /// In units of 2^-32.
    blue: u64,
    blue_changed: Option<u64>,
}

impl Flow {
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|(packet, _)| packet.len.get()).sum()
    }
    fn set_count(&mut self, count: u32, interval: u64) {
        self.count = count;
        self.inverse_root = if count < 16 {
            1.0 / f64::from(count.max(1)).sqrt()
        } else {
            self.inverse_root * (3.0 - f64::from(count) * self.inverse_root.powi(2)) / 2.0
        };
        self.drop_next += (interval as f64 * self.inverse_root) as u64;
    }
    fn is_due(&self, now: u64) -> bool {
        self.count > 0 && now >= self.drop_next
    }
    fn blue_may_change(&self, now: u64, target: u64) -> bool {
        self.blue_changed.is_none_or(|changed| now - changed > target)
    }
}

struct Tin {
    params: TinParams,
    flows: BTreeMap<u64, Flow>,
    new: Vec<u64>,
    old: Vec<u64>,
    decaying: Vec<u64>,
    clock: u64,
    deficit: i64,
    round: u64,
    turns: u64,
}

fn ns(d: Duration) -> u64 {
    d.as_nanos()
}

impl Tin {
    /// The rates are chosen so that a byte takes whole nanoseconds.
    fn per_byte(&self) -> u64 {
        self.params.rate.map_or(0, |rate| 8_000_000_000 / rate.as_bits_per_second())
    }
    fn number(&self, sets: &[Set]) -> u64 {
        self.flows.values().filter(|flow| sets.contains(&flow.set)).count() as u64
    }
    fn is_active(&self) -> bool {
        self.number(&[Set::Sparse, Set::SparseWait, Set::Bulk]) > 0
    }
    fn backlog(&self) -> usize {
        self.flows.values().map(|flow| flow.packets.len()).sum()
    }
    fn load(&self, key: u64, isolation: Isolation) -> u64 {
        let sides: &[usize] = match isolation {
            Isolation::DualSource => &[0],
            Isolation::DualDestination => &[1],
            Isolation::Triple => &[0, 1],
            _ => &[],
        };
        let bulk = |side: &usize| {
            let same =
                |flow: &&Flow| flow.set == Set::Bulk && flow.hosts[*side] == self.flows[&key].hosts[*side];
            self.flows.values().filter(same).count() as u64
        };
        sides.iter().map(bulk).max().unwrap_or(1).max(1)
    }
    /// The current round is that of the first old flow.
    fn see_round(&mut self) {
        let rounds = self.old.iter().map(|key| self.flows[key].turn.0);
        self.round = rounds.min().unwrap_or(self.round);
    }
    fn unlist(&mut self, key: u64) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            list.retain(|listed| *listed != key);
        }
    }
}

struct Oracle {
    params: CakeParams,
    tins: Vec<Tin>,
    current: usize,
    time_next: u64,
    failsafe: u64,
    rng: Rng,
}

impl Oracle {
    fn new(params: CakeParams) -> Self {
        let tin = |of_tin| Tin {
            params: of_tin,
            flows: BTreeMap::new(),
            new: vec![],
            old: vec![],
            decaying: vec![],
            clock: 0,
            deficit: 0,
            round: 0,
            turns: 0,
        };
        let tins = params.diffserv.tins(params.rate, params.rtt).into_iter().map(tin).collect();
        // `build` uses seed 1; its first random number is the salt.
        let mut rng = Rng::stream(1, "cake");
        rng.next_u64();
        Oracle { params, tins, current: 0, time_next: 0, failsafe: 0, rng }
    }
    fn bytes(&self) -> u64 {
        self.tins.iter().flat_map(|tin| tin.flows.values()).map(Flow::bytes).sum()
    }
    fn packets(&self) -> usize {
        self.tins.iter().map(Tin::backlog).sum()
    }

    fn charge(&mut self, tin: usize, len: u64, now: u64, is_drop: bool) {
        let cost = len * self.tins[tin].per_byte();
        let clock = &mut self.tins[tin].clock;
        *clock = if *clock < now { *clock + cost } else { (*clock).max(now + cost) };
        let per_byte = self.params.rate.map_or(0, |rate| 8_000_000_000 / rate.as_bits_per_second());
        self.time_next += len * per_byte;
        if !is_drop {
            self.failsafe += len * per_byte * 3 / 2;
        }
    }

    fn enqueue(&mut self, arrival: TestPacket, now: u64) -> String {
        let tin = self.params.diffserv.tin(arrival.header.dscp);
        if self.tins[tin].backlog() == 0 {
            self.tins[tin].clock = self.tins[tin].clock.max(now);
        }
        if self.packets() == 0 && self.time_next < now {
            (self.time_next, self.failsafe) = (now, now);
        }
        let (key, hosts) = (arrival.flow, arrival.header.hosts.unwrap());
        let fresh = || Flow {
            packets: vec![],
            set: Set::None,
            hosts,
            deficit: 0,
            turn: (0, 0),
            count: 0,
            inverse_root: 1.0,
            drop_next: 0,
            dropping: false,
            blue: 0,
            blue_changed: None,
        };
        self.tins[tin].flows.entry(key).or_insert_with(fresh).packets.push((arrival, now));
        self.notice(tin, key);
        self.make_room(now)
    }
    fn notice(&mut self, tin: usize, key: u64) {
        let (load, tin) = (self.tins[tin].load(key, self.params.isolation), &mut self.tins[tin]);
        match tin.flows[&key].set {
            Set::None | Set::Decaying => {
                tin.unlist(key);
                tin.new.push(key);
                let flow = tin.flows.get_mut(&key).unwrap();
                (flow.set, flow.deficit) = (Set::Sparse, (tin.params.quantum.get() * 65_536 / load) as i64);
            }
            Set::SparseWait => tin.flows.get_mut(&key).unwrap().set = Set::Bulk,
            Set::Sparse | Set::Bulk => {}
        }
    }
    fn make_room(&mut self, now: u64) -> String {
        let mut log = vec![];
        while self.bytes() > self.params.memory.unwrap().get() {
            let all = self
                .tins
                .iter()
                .enumerate()
                .flat_map(|(n, tin)| tin.flows.iter().map(move |(key, flow)| (flow.bytes(), n, *key)));
            let (_, tin, key) = all.max().unwrap();
            let target = ns(self.tins[tin].params.target);
            let flow = self.tins[tin].flows.get_mut(&key).unwrap();
            let (dropped, _) = flow.packets.remove(0);
            if flow.blue_may_change(now, target) {
                (flow.blue, flow.blue_changed) =
                    ((flow.blue + (1 << 24)).min(u64::from(u32::MAX)), Some(now));
            }
            (flow.dropping, flow.drop_next, flow.count) = (true, now, flow.count.max(1));
            if self.params.ingress {
                self.charge(tin, dropped.len.get(), now, true);
            }
            log.push(format!("drop {} overlimit", dropped.name));
        }
        if log.is_empty() { "-".to_string() } else { log.join(", ") }
    }

    fn choose(&mut self, now: u64) -> usize {
        if self.params.rate.is_some() {
            let active = || self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
            let in_time = active().filter(|(_, tin)| tin.clock <= now).map(|(n, _)| n).max();
            let soonest = || active().min_by_key(|(n, tin)| (tin.clock, usize::MAX - n)).unwrap().0;
            return in_time.unwrap_or_else(soonest);
        }
        while !self.tins[self.current].is_active() || self.tins[self.current].deficit < 0 {
            let tin = &mut self.tins[self.current];
            if tin.deficit <= 0 {
                tin.deficit += tin.params.weight as i64;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
        self.current
    }

    fn dequeue(&mut self, now: u64) -> String {
        let (mut log, mut is_first) = (vec![], true);
        'begin: while self.packets() > 0 && (self.time_next <= now || self.failsafe <= now) {
            let tin = self.choose(now);
            loop {
                let lists = &self.tins[tin];
                let decays = lists.decaying.first().filter(|_| is_first);
                let old = lists.old.iter().min_by_key(|key| lists.flows[key].turn);
                let next = decays.or(lists.new.first()).or(old).or(lists.decaying.first());
                let Some(key) = next.copied() else { continue 'begin };
                is_first = false;
                if self.tins[tin].flows[&key].deficit <= 0 {
                    self.end_turn(tin, key);
                    continue;
                }
                match self.serve(tin, key, now, &mut log) {
                    Served::Sent => return log.join(", "),
                    Served::NextFlow => {}
                    Served::Empty => continue 'begin,
                }
            }
        }
        log.push("empty".to_string());
        log.join(", ")
    }
    /// A flow in debt gets its credit in each round, and is served when the debt is paid.
    fn end_turn(&mut self, tin: usize, key: u64) {
        let isolation = self.params.isolation;
        let tin = &mut self.tins[tin];
        tin.see_round();
        let flow = tin.flows.get_mut(&key).unwrap();
        if flow.set == Set::Sparse {
            flow.set = if flow.packets.is_empty() { Set::SparseWait } else { Set::Bulk };
        }
        tin.unlist(key);
        tin.old.push(key);
        tin.turns += 1;
        let credit = (tin.params.quantum.get() * 65_536 / tin.load(key, isolation)) as i64;
        let waiting = tin.flows.get_mut(&key).unwrap();
        waiting.turn = (tin.round, tin.turns);
        while waiting.deficit <= 0 {
            waiting.deficit += credit;
            waiting.turn.0 += 1;
        }
    }

    fn serve(&mut self, tin: usize, key: u64, now: u64, log: &mut Vec<String>) -> Served {
        loop {
            if self.tins[tin].flows[&key].packets.is_empty() {
                self.found_empty(tin, key, now);
                return Served::Empty;
            }
            let (signal, drop) = self.cobalt(tin, key, now);
            let flow = self.tins[tin].flows.get_mut(&key).unwrap();
            let (head, arrived) = flow.packets.remove(0);
            let (is_last, len) = (flow.packets.is_empty(), head.len.get());
            let is_sent = !drop || is_last;
            if is_sent && signal && head.ecn != Ecn::NotEct {
                log.push(format!("mark {}", head.name));
            }
            if is_sent || self.params.ingress {
                flow.deficit -= len as i64 * 65_536;
                self.tins[tin].deficit -= len as i64;
                self.charge(tin, len, now, !is_sent);
            }
            if is_sent {
                log.push(format!("send {} {}", head.name, Duration::from_nanos(now - arrived)));
                return Served::Sent;
            }
            log.push(format!("drop {} aqm", head.name));
            if self.params.ingress {
                return Served::NextFlow;
            }
        }
    }
    fn found_empty(&mut self, tin: usize, key: u64, now: u64) {
        let (target, interval) = (ns(self.tins[tin].params.target), ns(self.tins[tin].params.interval));
        self.tins[tin].see_round();
        let flow = self.tins[tin].flows.get_mut(&key).unwrap();
        if flow.blue > 0 && flow.blue_may_change(now, target) {
            (flow.blue, flow.blue_changed) = (flow.blue.saturating_sub(1 << 20), Some(now));
        }
        flow.dropping = false;
        if flow.is_due(now) {
            flow.set_count(flow.count - 1, interval);
        }
        let rests = flow.blue == 0 && flow.count == 0 && now >= flow.drop_next;
        flow.set = if rests { Set::None } else { Set::Decaying };
        self.tins[tin].unlist(key);
        if !rests {
            self.tins[tin].decaying.push(key);
        }
    }
    /// Whether a signal is due, and whether the head is to be dropped.
    fn cobalt(&mut self, tin: usize, key: u64, now: u64) -> (bool, bool) {
        let (params, bulk) = (self.tins[tin].params, self.tins[tin].number(&[Set::Bulk]));
        let packet_time = 1514 * self.tins[tin].per_byte();
        let (target, interval) = (ns(params.target), ns(params.interval));
        let bulk = if self.params.ingress { bulk } else { 0 };
        let flow = self.tins[tin].flows.get_mut(&key).unwrap();
        let (head, arrived) = &flow.packets[0];
        let (sojourn, is_markable) = (now - arrived, head.ecn != Ecn::NotEct);
        let above = sojourn > target && sojourn > 4 * packet_time && sojourn > 2 * packet_time * bulk;
        let due = flow.is_due(now);
        if above && !flow.dropping {
            flow.count = flow.count.max(1);
            flow.drop_next = now + (interval as f64 * flow.inverse_root) as u64;
        }
        flow.dropping = above;
        let signal = due && above;
        if signal {
            flow.set_count(flow.count + 1, interval);
        } else if due {
            while flow.is_due(now) {
                flow.set_count(flow.count - 1, interval);
            }
        }
        let mut drop = signal && !is_markable;
        if flow.blue > 0 {
            drop |= self.rng.next_u64() % (1 << 32) < flow.blue;
        }
        if flow.count == 0 {
            flow.drop_next = now + interval;
        } else if now > flow.drop_next && !drop {
            flow.drop_next = now;
        }
        (signal, drop)
    }
}

enum Served {
    Sent,
    NextFlow,
    Empty,
}

/// Phases of overload, light load and silence; flows between a few hosts, in all tins.
fn actions(seed: u64, count: usize) -> Vec<(Time, Option<TestPacket>)> {
    let mut rng = Rng::new(seed);
    let (mut now, mut arrivals, mut flows) = (Time::ZERO, 0.5, 1);
    (0..count)
        .map(|number| {
            if number % 150 == 0 {
                arrivals = [0.1, 0.3, 0.5, 0.6, 0.9][rng.below(5) as usize];
                flows = 1 + rng.below(10);
            }
            let pause = [1000, 300_000, 2_000_000, 9_000_000, 60_000_000][rng.below(5) as usize];
            now += Duration::from_nanos(rng.below(pause));
            let arrival = rng.chance(arrivals).then(|| {
                let flow = rng.below(flows);
                let dscp = [0, 0, 46, 8, 34][flow as usize % 5];
                let header = Header { dscp, hosts: Some([flow % 2, flow % 3]), ..Header::default() };
                let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ce][rng.below(4) as usize];
                TestPacket { ecn, header, len: Bytes(60 + rng.below(1455)), ..packet(number, flow, 0) }
            });
            (now, arrival)
        })
        .collect()
}

const SPECS: &[&str] = &[
    "cake memlimit 60000b diffserv4",
    "cake memlimit 20000b besteffort triple-isolate rtt 10ms",
    "cake bandwidth 4mbit memlimit 40000b flows",
    "cake bandwidth 20mbit memlimit 40000b diffserv4 dual-srchost rtt 20ms",
    "cake bandwidth 8mbit memlimit 25000b besteffort triple-isolate ingress rtt 5ms",
    "cake bandwidth 4mbit memlimit 60000b diffserv4 dual-dsthost ingress",
];

#[test]
fn cake_agrees_with_the_oracle_packet_for_packet() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for text in SPECS {
        let Ok(Spec::Cake(params)) = text.parse() else { panic!("{text}") };
        for seed in 0..40 {
            let (mut queue, mut oracle) = (build(text), Oracle::new(params));
            for (step, (now, arrival)) in actions(seed, 3000).into_iter().enumerate() {
                let (got, expected) = match arrival {
                    Some(arrival) => {
                        (enqueue(&mut queue, arrival.clone(), now), oracle.enqueue(arrival, now.as_nanos()))
                    }
                    None => (dequeue(&mut queue, now), oracle.dequeue(now.as_nanos())),
                };
                assert_eq!(got, expected, "{text}, seed {seed}, step {step} at {now}");
                for word in ["aqm", "overlimit", "mark", "empty"] {
                    *seen.entry(word).or_default() += got.matches(word).count();
                }
            }
        }
    }
    // The comparison has covered enough of each kind.
    assert!(seen.values().all(|times| *times > 5000), "{seen:?}");
}

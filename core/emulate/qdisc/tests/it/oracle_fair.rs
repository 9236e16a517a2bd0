//! A second implementation of the fair queueing disciplines: linear searches of one list.
use crate::common::TestPacket;
use crate::oracle::{Oracle, Queue, bytes, float, sent};
use fathom_qdisc::{DropFrom, DrrParams, FqParams, Rfc970Params, SfqParams};

/// Queues with their keys, in service order; none is empty.
type Ring = Vec<(u64, Queue)>;

fn held(ring: &Ring) -> usize {
    ring.iter().map(|(_, queue)| queue.len()).sum()
}

/// Puts `packet` into the queue of `key`; a new queue goes to the end of the ring.
fn put(ring: &mut Ring, key: u64, packet: TestPacket, now: f64) {
    match ring.iter_mut().find(|(other, _)| *other == key) {
        Some((_, queue)) => queue.push((packet, now)),
        None => ring.push((key, vec![(packet, now)])),
    }
}

/// Drops the newest packet of the queue with the largest `weight` (the last of equals).
fn drop_newest<W: Ord>(ring: &mut Ring, weight: impl Fn(&Queue) -> W) -> Vec<String> {
    let most = ring.iter().map(|(_, queue)| weight(queue)).max().unwrap();
    let victim = ring.iter().rposition(|(_, queue)| weight(queue) == most).unwrap();
    let (packet, _) = ring[victim].1.pop().unwrap();
    if ring[victim].1.is_empty() {
        ring.remove(victim);
    }
    vec![format!("drop {} overlimit", packet.name)]
}

pub(crate) struct DrrOracle {
    params: DrrParams,
    ring: Ring,
    deficit: Vec<u64>,
    in_turn: Option<u64>,
}

impl DrrOracle {
    pub(crate) fn new(params: DrrParams) -> Self {
        DrrOracle { params, ring: vec![], deficit: vec![0; params.flows as usize], in_turn: None }
    }
    fn forget_the_empty(&mut self) {
        for (flow, deficit) in self.deficit.iter_mut().enumerate() {
            if !self.ring.iter().any(|(key, _)| *key == flow as u64) {
                *deficit = 0;
                self.in_turn = self.in_turn.filter(|turn| *turn != flow as u64);
            }
        }
    }
}
impl Oracle for DrrOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        let flow = packet.flow % u64::from(self.params.flows);
        put(&mut self.ring, flow, packet, now);
        let over = held(&self.ring) as u64 > self.params.limit_packets;
        let log = if over { drop_newest(&mut self.ring, bytes) } else { vec![] };
        self.forget_the_empty();
        log
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        loop {
            let Some((flow, queue)) = self.ring.first_mut() else { return vec!["empty".into()] };
            let deficit = &mut self.deficit[*flow as usize];
            if self.in_turn != Some(*flow) {
                *deficit += self.params.quantum.get();
                self.in_turn = Some(*flow);
            }
            if queue[0].0.len.get() <= *deficit {
                let (packet, at) = queue.remove(0);
                *deficit -= packet.len.get();
                if queue.is_empty() {
                    self.ring.remove(0);
                }
                self.forget_the_empty();
                return vec![sent(&packet, now - at)];
            }
            self.in_turn = None;
            self.ring.rotate_left(1);
        }
    }
}

pub(crate) struct Rfc970Oracle(pub(crate) Rfc970Params, pub(crate) Vec<(u64, Queue)>);

impl Oracle for Rfc970Oracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        // Each flow has its own host.
        let host = packet.flow;
        put(&mut self.1, host, packet, now);
        let over = held(&self.1) as u64 > self.0.limit_packets;
        if over { drop_newest(&mut self.1, Vec::len) } else { vec![] }
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        let mut log = vec![];
        while !self.1.is_empty() {
            let (host, mut queue) = self.1.remove(0);
            let expired = |at: f64| self.0.ttl.is_some_and(|ttl| now - at > float(ttl));
            while queue.first().is_some_and(|(_, at)| expired(*at)) {
                log.push(format!("drop {} expired", queue.remove(0).0.name));
            }
            let Some((packet, at)) = crate::oracle::take(&mut queue) else { continue };
            log.push(sent(&packet, now - at));
            if !queue.is_empty() {
                self.1.push((host, queue));
            }
            return log;
        }
        log.push("empty".into());
        log
    }
}

pub(crate) struct SfqOracle {
    params: SfqParams,
    ring: Ring,
    /// For each hash value: the rest of its turn, and the step at which its length last changed.
    left: Vec<(i64, u64)>,
    step: u64,
    rehashed: f64,
}

impl SfqOracle {
    pub(crate) fn new(params: SfqParams) -> Self {
        let left = vec![(0, 0); params.divisor as usize];
        SfqOracle { params, ring: vec![], left, step: 0, rehashed: 0.0 }
    }
    fn units(bytes: u64) -> i64 {
        (bytes as i64 + 7) / 8
    }
    fn queue(&mut self, slot: u64) -> Option<&mut Queue> {
        self.ring.iter_mut().find(|(key, _)| *key == slot).map(|(_, queue)| queue)
    }
    fn remove(&mut self, slot: u64, place: usize) -> (TestPacket, f64) {
        let removed = self.queue(slot).unwrap().remove(place);
        self.ring.retain(|(_, queue)| !queue.is_empty());
        self.step += 1;
        self.left[slot as usize].1 = self.step;
        removed
    }
    fn drop_one(&mut self, slot: u64) -> Vec<String> {
        let len = self.queue(slot).unwrap().len();
        let place = if self.params.drop_from == DropFrom::Head { 0 } else { len - 1 };
        vec![format!("drop {} overlimit", self.remove(slot, place).0.name)]
    }
    /// Returns the slot's number if it had room.
    fn put(&mut self, packet: TestPacket, at: f64) -> Option<u64> {
        let slot = packet.flow % self.params.divisor;
        if self.queue(slot).is_none() {
            if self.ring.len() as u64 == self.params.flows.min(self.params.divisor) {
                return None;
            }
            self.left[slot as usize].0 = Self::units(self.params.quantum.get());
        }
        put(&mut self.ring, slot, packet, at);
        self.step += 1;
        self.left[slot as usize].1 = self.step;
        Some(slot)
    }
    /// The tests' hash has no salt, so all packets return to their slots, with new turns.
    fn rehash(&mut self, now: f64) {
        let Some(period) = self.params.perturb.map(float) else { return };
        if now < self.rehashed + period {
            return;
        }
        self.rehashed = (now / period).floor() * period;
        for (packet, at) in std::mem::take(&mut self.ring).into_iter().flat_map(|(_, queue)| queue) {
            self.step += 1;
            self.put(packet, at).unwrap();
        }
    }
}
impl Oracle for SfqOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        self.rehash(now);
        let name = packet.name.clone();
        let Some(slot) = self.put(packet, now) else { return vec![format!("drop {name} overlimit")] };
        let (depth, flows) = (self.params.depth, self.params.flows.min(self.params.divisor));
        if self.queue(slot).unwrap().len() as u64 > depth {
            return self.drop_one(slot);
        }
        if held(&self.ring) as u64 <= self.params.limit_packets.min(depth * flows) {
            return vec![];
        }
        let longest = self.ring.iter().map(|(_, queue)| queue.len()).max().unwrap();
        let all = self.ring.iter().filter(|(_, queue)| queue.len() == longest).map(|(key, _)| *key);
        let last_changed = all.max_by_key(|key| self.left[*key as usize].1).unwrap();
        self.drop_one(if longest > 1 { last_changed } else { self.ring[0].0 })
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        self.rehash(now);
        while let Some(slot) = self.ring.first().map(|(slot, _)| *slot) {
            if self.left[slot as usize].0 > 0 {
                let (packet, at) = self.remove(slot, 0);
                self.left[slot as usize].0 -= Self::units(packet.len.get());
                return vec![sent(&packet, now - at)];
            }
            self.left[slot as usize].0 += Self::units(self.params.quantum.get());
            self.ring.rotate_left(1);
        }
        vec!["empty".into()]
    }
}

/// Linux `fq` with the names in its source.
pub(crate) struct FqOracle {
    params: FqParams,
    internal: Queue,
    flows: Vec<Queue>,
    credit: Vec<i64>,
    age: Vec<f64>,
    new: Vec<usize>,
    old: Vec<usize>,
}

impl FqOracle {
    pub(crate) fn new(params: FqParams) -> Self {
        let flows = params.flows as usize;
        FqOracle {
            params,
            internal: vec![],
            flows: vec![vec![]; flows],
            credit: vec![params.initial_quantum.get() as i64; flows],
            age: vec![0.0; flows],
            new: vec![],
            old: vec![],
        }
    }
}
impl Oracle for FqOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        let qlen: usize = self.flows.iter().map(Vec::len).sum();
        let drop = vec![format!("drop {} overlimit", packet.name)];
        if qlen as u64 == self.params.limit_packets {
            return drop;
        }
        if qlen == 0 && self.internal.len() < 8 {
            self.internal.push((packet, now));
            return vec![];
        }
        let flow = packet.flow as usize % self.flows.len();
        if self.flows[flow].len() as u64 == self.params.flow_limit {
            return drop;
        }
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.new.push(flow);
            if now > self.age[flow] + float(self.params.refill_delay) {
                self.credit[flow] = self.credit[flow].max(self.params.quantum.get() as i64);
            }
        }
        self.flows[flow].push((packet, now));
        vec![]
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        if let Some((packet, at)) = crate::oracle::take(&mut self.internal) {
            return vec![sent(&packet, now - at)];
        }
        loop {
            let from_new = !self.new.is_empty();
            let head = if from_new { &mut self.new } else { &mut self.old };
            if head.is_empty() {
                return vec!["empty".into()];
            }
            let flow = head[0];
            if self.credit[flow] <= 0 {
                self.credit[flow] += self.params.quantum.get() as i64;
                head.remove(0);
                self.old.push(flow);
            } else if let Some((packet, at)) = crate::oracle::take(&mut self.flows[flow]) {
                self.credit[flow] -= packet.len.get() as i64;
                return vec![sent(&packet, now - at)];
            } else {
                head.remove(0);
                if from_new {
                    self.old.push(flow);
                } else {
                    self.age[flow] = now;
                }
            }
        }
    }
}

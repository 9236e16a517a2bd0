//! A second implementation of RED and PIE, from the papers, with the same random numbers.
use crate::common::TestPacket;
use crate::oracle::{Oracle, Queue, bytes, float, sent, take};
use fathom_qdisc::{Ecn, PieParams, RedParams, Variant};
use fathom_units::Rng;

const SECOND: f64 = 1e9;
const NEVER: f64 = f64::INFINITY;

/// `mark` if the packet is ECN-capable and marking is allowed, else `drop`.
fn signal(packet: &TestPacket, may_mark: bool) -> String {
    if may_mark && packet.ecn != Ecn::NotEct {
        format!("mark {}", packet.name)
    } else {
        format!("drop {} aqm", packet.name)
    }
}

/// Floyd and Jacobson 1993, figure 2, by its names; with `linux` in units of tc and the kernel.
pub(crate) struct RedOracle {
    pub(crate) params: RedParams,
    rng: Rng,
    queue: Queue,
    wlog: i32,
    avg: f64,
    max_p: f64,
    count: f64,
    /// Linux's random number.
    r: f64,
    q_time: f64,
    next_adapt: f64,
}

impl RedOracle {
    pub(crate) fn new(params: RedParams) -> Self {
        let (burst, min) = (f64::from(params.burst), params.min.get() as f64 / params.avpkt.get() as f64);
        let holds = |w: f64| burst + 1.0 - min <= (1.0 - (1.0 - w).powf(burst)) / w;
        let wlog = (1..32).find(|n| holds(2.0_f64.powi(-n))).unwrap();
        let linux = params.variant == Variant::Linux;
        let one = 2.0_f64.powi(32);
        RedOracle {
            rng: Rng::stream(1, "red"),
            queue: vec![],
            wlog,
            avg: 0.0,
            max_p: if linux { (params.probability.0 * one).floor() } else { params.probability.0 },
            count: -1.0,
            r: 0.0,
            q_time: 0.0,
            next_adapt: SECOND / 2.0,
            params,
        }
    }
    fn linux(&self) -> bool {
        self.params.variant == Variant::Linux
    }
    fn thresholds(&self) -> (f64, f64) {
        (self.params.min.get() as f64, self.params.max.get() as f64)
    }
    /// The average after idle time, in bytes.
    fn decayed(&self, now: f64) -> f64 {
        if self.q_time == NEVER {
            return self.avg;
        }
        let (w, len) = (2.0_f64.powi(-self.wlog), self.params.avpkt.get() as f64);
        let s = 8.0 * len / self.params.rate.as_bits_per_second() as f64 * SECOND;
        if !self.linux() {
            return self.avg * (1.0 - w).powf((now - self.q_time) / s);
        }
        let per_tick = -(1.0 - w).ln() / ((s / 1000.0).floor() * 1000.0 / 64.0).floor();
        let clog = (0..32).find(|n| 31.0 / per_tick / 2.0_f64.powi(*n) < 512.0).unwrap();
        let cell = 2.0_f64.powi(clog);
        let idle = ((now / 64.0).floor() - (self.q_time / 64.0).floor()).min(255.0 * cell);
        let index = (idle / cell).floor();
        let shift = if index == 255.0 { 31.0 } else { (index * cell * per_tick).floor().min(31.0) };
        let scale = 2.0_f64.powi(self.wlog);
        let scaled = self.avg * scale;
        let less = (scaled * idle / cell).floor();
        let half = (scaled / 2.0).floor();
        let linear = if less < half { scaled - less } else { half };
        (if shift > 0.0 { (scaled / shift.exp2()).floor() } else { linear }) / scale
    }
    fn adapt(&mut self, now: f64) {
        while self.params.adaptive && self.next_adapt <= now {
            let avg = self.decayed(self.next_adapt);
            let (min, max) = self.thresholds();
            let one = if self.linux() { 2.0_f64.powi(32) } else { 1.0 };
            let percent = if self.linux() { (one / 100.0).round() } else { 0.01 };
            let (avg, step) = if self.linux() {
                (avg.floor(), ((max - min) / 5.0).floor())
            } else {
                (avg, (max - min) * 0.2)
            };
            if avg > min + 3.0 * step && self.max_p <= 50.0 * percent {
                let quarter = self.max_p / 4.0;
                self.max_p += percent.min(if self.linux() { quarter.floor() } else { quarter });
            } else if avg < min + 2.0 * step && self.max_p >= percent {
                self.max_p = if self.linux() { (self.max_p / 10.0).floor() * 9.0 } else { self.max_p * 0.9 };
            }
            self.next_adapt += SECOND / 2.0;
        }
    }
    /// The random number divided by p, in bytes: Linux divides 2^32 by an integer slope.
    fn draw(&mut self) -> f64 {
        let (min, max) = self.thresholds();
        let slope = self.max_p / (max - min);
        // The first slope is truncated; those of the adaptive form are rounded.
        let is_adapted = self.params.adaptive && self.next_adapt > SECOND / 2.0;
        let slope = if is_adapted { (slope + 0.5).floor() } else { slope.floor() }.max(1.0);
        ((self.rng.next_u64() >> 32) as f64 / slope).floor()
    }
    /// The decision on this arrival: 0 nothing, 1 a signal, 2 a forced one.
    fn choose(&mut self) -> u8 {
        let (min, max) = self.thresholds();
        let gentle = self.params.gentle && self.avg < 2.0 * max;
        if self.avg < min {
            self.count = -1.0;
            return 0;
        }
        if self.avg >= max && !gentle {
            self.count = if self.linux() { -1.0 } else { 0.0 };
            return 2;
        }
        self.count += 1.0;
        if self.linux() {
            let due = self.count > 0.0 && (self.avg - min).floor() * self.count >= self.r;
            if due || self.count == 0.0 {
                self.count = 0.0;
                self.r = self.draw();
            }
            return u8::from(due);
        }
        let p_b = if self.avg < max {
            self.max_p * (self.avg - min) / (max - min)
        } else {
            self.max_p + (1.0 - self.max_p) * (self.avg - max) / max
        };
        let p_a = if self.count * p_b < 1.0 { p_b / (1.0 - self.count * p_b) } else { NEVER };
        let due = p_a == NEVER || self.rng.chance(p_a);
        self.count = if due { 0.0 } else { self.count };
        u8::from(due)
    }
}

impl Oracle for RedOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        self.adapt(now);
        let w = 2.0_f64.powi(-self.wlog);
        self.avg = if self.q_time == NEVER && self.linux() {
            // avg is kept in units of w, and whole bytes are subtracted from it.
            self.avg + w * (bytes(&self.queue) as f64 - self.avg.floor())
        } else if self.q_time == NEVER {
            (1.0 - w) * self.avg + w * bytes(&self.queue) as f64
        } else {
            self.decayed(now)
        };
        let chosen = self.choose();
        let may_mark = self.params.ecn && !(chosen == 2 && self.params.harddrop);
        let mut log = if chosen > 0 { vec![signal(&packet, may_mark)] } else { vec![] };
        let is_full = bytes(&self.queue) + packet.len.get() > self.params.limit.get();
        let is_dropped = log.first().is_some_and(|line| line.starts_with("drop"));
        if !is_dropped && is_full {
            log = vec![format!("drop {} overlimit", packet.name)];
        }
        if is_dropped || is_full {
            self.q_time = if self.q_time == NEVER { NEVER } else { now };
            return log;
        }
        self.q_time = NEVER;
        let ecn = if log.is_empty() { packet.ecn } else { Ecn::Ce };
        self.queue.push((TestPacket { ecn, ..packet }, now));
        log
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        self.adapt(now);
        let Some((packet, at)) = take(&mut self.queue) else {
            self.q_time = self.q_time.min(now);
            return vec!["empty".into()];
        };
        vec![sent(&packet, now - at)]
    }
}

/// RFC 8033 sections 4 and 5, with its names; times in seconds.
pub(crate) struct PieOracle {
    pub(crate) params: PieParams,
    rng: Rng,
    queue: Queue,
    drop_prob: f64,
    accu_prob: f64,
    current_qdelay: f64,
    qdelay_old: f64,
    burst_allowance: f64,
    last_dequeue: f64,
    next_update: f64,
}

impl PieOracle {
    /// Without the departure rate estimator.
    pub(crate) fn new(params: PieParams) -> Option<Self> {
        let control = &params.control;
        let first = if control.variant == Variant::Linux { SECOND / 2.0 } else { float(control.tupdate) };
        (!control.dq_rate_estimator).then(|| PieOracle {
            rng: Rng::stream(1, "pie"),
            queue: vec![],
            drop_prob: 0.0,
            accu_prob: 0.0,
            current_qdelay: 0.0,
            qdelay_old: 0.0,
            burst_allowance: float(control.max_burst),
            last_dequeue: NEVER,
            next_update: first,
            params,
        })
    }
    fn linux(&self) -> bool {
        self.params.control.variant == Variant::Linux
    }
    fn is_low(&self, qdelay: f64) -> bool {
        qdelay < float(self.params.control.target) / 2.0
    }
    fn calculate_drop_prob(&mut self) {
        let (alpha, beta) =
            (f64::from(self.params.control.alpha) / 16.0, f64::from(self.params.control.beta) / 16.0);
        let reference = float(self.params.control.target);
        let (qdelay, old) = (self.current_qdelay, self.qdelay_old);
        let mut p = (alpha * (qdelay - reference) + beta * (qdelay - old)) / SECOND;
        let (mut bound, mut factor) = (0.1, 2.0);
        let mut scale = 1.0;
        while bound > 0.5e-6 && self.drop_prob < bound {
            scale = factor;
            (bound, factor) = (bound / 10.0, factor * 4.0);
        }
        p /= scale;
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        if self.linux() && qdelay > 0.25 * SECOND {
            p += 0.02;
        }
        self.drop_prob = (self.drop_prob + p).max(0.0).min(if self.linux() { 256.0 } else { 1.0 });
        if self.linux() {
            if qdelay == 0.0 && old == 0.0 && self.queue.is_empty() {
                self.drop_prob -= self.drop_prob / 64.0;
            }
            if self.drop_prob == 0.0 && self.is_low(qdelay) && self.is_low(old) {
                self.burst_allowance = float(self.params.control.max_burst);
                self.accu_prob = 0.0;
                self.last_dequeue = NEVER;
            }
        } else {
            if self.is_low(qdelay) && self.is_low(old) {
                self.drop_prob *= 0.98;
            }
            self.burst_allowance = (self.burst_allowance - float(self.params.control.tupdate)).max(0.0);
        }
        self.qdelay_old = qdelay;
    }
    fn catch_up(&mut self, now: f64) {
        while self.next_update <= now {
            self.calculate_drop_prob();
            self.next_update += float(self.params.control.tupdate);
        }
    }
    fn drop_early(&mut self, packet: &TestPacket) -> bool {
        let backlog = bytes(&self.queue);
        let judged = if self.linux() { self.current_qdelay } else { self.qdelay_old };
        let is_short = if self.linux() { backlog < 3028 } else { backlog <= 2048 };
        if self.burst_allowance > 0.0 || is_short || self.is_low(judged) && self.drop_prob < 0.2 {
            return false;
        }
        let len = packet.len.get() as f64;
        let p = match (self.params.control.bytemode, self.linux()) {
            (false, _) => self.drop_prob,
            (true, true) => self.drop_prob * (len / 1514.0).min(1.0),
            (true, false) => (self.drop_prob * (len / 1024.0)).min(0.85),
        };
        self.accu_prob = if p == 0.0 { 0.0 } else { self.accu_prob + p };
        if self.accu_prob < 0.85 || self.accu_prob >= 8.5 {
            return self.accu_prob >= 8.5;
        }
        let due = self.rng.chance(p);
        self.accu_prob = if due { 0.0 } else { self.accu_prob };
        due
    }
}

impl Oracle for PieOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        self.catch_up(now);
        if self.queue.len() as u64 == self.params.limit_packets {
            self.accu_prob = 0.0;
            return vec![format!("drop {} overlimit", packet.name)];
        }
        let is_calm = self.is_low(self.current_qdelay) && self.is_low(self.qdelay_old);
        if !self.linux() && self.drop_prob == 0.0 && is_calm {
            self.burst_allowance = float(self.params.control.max_burst);
        }
        if !self.drop_early(&packet) {
            self.queue.push((packet, now));
            return vec![];
        }
        let control = &self.params.control;
        let line = signal(&packet, control.ecn && self.drop_prob <= control.mark_ecn_threshold.0);
        if line.starts_with("drop") {
            self.accu_prob = 0.0;
        } else {
            self.queue.push((TestPacket { ecn: Ecn::Ce, ..packet }, now));
        }
        vec![line]
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        self.catch_up(now);
        let Some((packet, at)) = take(&mut self.queue) else { return vec!["empty".into()] };
        self.current_qdelay = if self.queue.is_empty() { 0.0 } else { now - at };
        if self.linux() {
            let passed = (now - self.last_dequeue).max(0.0);
            self.burst_allowance = (self.burst_allowance - passed).max(0.0);
            self.last_dequeue = now;
        }
        vec![sent(&packet, now - at)]
    }
}

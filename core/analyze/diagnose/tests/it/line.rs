//! A simulated line with a fluid queue, and the run of a test on it. Deterministic for a seed.
#![allow(dead_code, reason = "each test binary that includes this file uses another part of it")]
use fathom_run::{
    Instrument, Load, Metric, Observation, Phase, PhaseEnd, PhaseKind, Run, Series, SeriesKey, Value,
};
use fathom_units::{Direction, Duration, Rng, Time};

#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) up_bits_per_second: f64,
    pub(crate) down_bits_per_second: f64,
    /// Added delay of a full buffer in each direction, in seconds.
    pub(crate) full_up_s: f64,
    pub(crate) full_down_s: f64,
    pub(crate) base_rtt_s: f64,
    /// An AQM keeps the queue at about 5 ms.
    pub(crate) managed: bool,
    /// Growth of the delay of a filling queue, in seconds per second.
    pub(crate) fill_rate: f64,
    pub(crate) phase_s: f64,
    pub(crate) one_way: bool,
    pub(crate) loss_ratio: f64,
    pub(crate) seed: u64,
    /// Lateness of the probe timer, and CPU usage.
    pub(crate) lateness: Duration,
    pub(crate) cpu_busy_ratio: f64,
}

/// The house in the founding texts: 3 Mbit/s up behind 375 kB, 20 Mbit/s down, 51 ms away.
pub(crate) const BLOATED: Line = Line {
    up_bits_per_second: 3e6,
    down_bits_per_second: 20e6,
    full_up_s: 1.0,
    full_down_s: 0.12,
    base_rtt_s: 0.051,
    managed: false,
    fill_rate: 0.7,
    phase_s: 10.0,
    one_way: true,
    loss_ratio: 0.0,
    seed: 7,
    lateness: Duration::from_micros(60),
    cpu_busy_ratio: 0.2,
};

/// The same line with an AQM.
pub(crate) const MANAGED: Line = Line { managed: true, seed: 8, ..BLOATED };

const PAYLOAD_PER_IP: f64 = 1448.0 / 1500.0;
const STEP_S: f64 = 0.02;
const KINDS: [(PhaseKind, f64); 5] = [
    (PhaseKind::Idle, 0.5),
    (PhaseKind::Down, 1.0),
    (PhaseKind::Up, 1.0),
    (PhaseKind::Both, 1.0),
    (PhaseKind::Drain, 0.4),
];

struct Queue {
    full_s: f64,
    delay_s: f64,
    retransmits: f64,
    slow_start: bool,
}

struct Recorder<'l> {
    line: &'l Line,
    rng: Rng,
    queues: [Queue; 2],
    series: Vec<Series>,
    probe: u64,
}

impl Line {
    pub(crate) fn run(&self) -> Run {
        let queue = |full_s| Queue { full_s, delay_s: 0.0, retransmits: 0.0, slow_start: true };
        let mut recorder = Recorder {
            line: self,
            rng: Rng::new(self.seed),
            queues: [queue(self.full_up_s), queue(self.full_down_s)],
            series: Vec::new(),
            probe: 0,
        };
        let mut phases = Vec::new();
        let mut start_s = 0.0;
        for (kind, share) in KINDS {
            let end_s = start_s + share * self.phase_s;
            phases.push(self.phase(kind, start_s, end_s));
            recorder.queues.iter_mut().for_each(|q| q.slow_start = true);
            for i in 0..((end_s - start_s) / STEP_S) as u32 {
                recorder.step(kind, start_s + f64::from(i) * STEP_S, i);
            }
            start_s = end_s;
        }
        self.assemble(phases, recorder.series)
    }

    fn phase(&self, kind: PhaseKind, start_s: f64, end_s: f64) -> Phase {
        let (up, down) = loads(kind);
        let bytes = |on: bool, rate: f64| {
            if on { (rate * PAYLOAD_PER_IP * (end_s - start_s) / 8.0) as u64 } else { 0 }
        };
        let load = Load {
            flows_up: if up { 4 } else { 0 },
            flows_down: if down { 4 } else { 0 },
            congestion_control: "cubic".into(),
            delivered_up_bytes: bytes(up, self.up_bits_per_second),
            delivered_down_bytes: bytes(down, self.down_bits_per_second),
        };
        Phase {
            kind,
            start_ns: (start_s * 1e9) as u64,
            end_ns: (end_s * 1e9) as u64,
            end: PhaseEnd::Settled,
            load: (up || down).then_some(load),
        }
    }

    fn assemble(&self, phases: Vec<Phase>, mut series: Vec<Series>) -> Run {
        series.sort_by(|a, b| a.key.cmp(&b.key));
        let mut instrument = Instrument { kernel_timestamp_ratio: 1.0, ..Instrument::default() };
        let mut rng = Rng::new(self.seed);
        for _ in 0..2000 {
            let late =
                Duration::from_nanos((self.lateness.as_nanos() as f64 * (0.5 + rng.next_f64())) as u64);
            instrument.timer_lateness.record(late);
            instrument.send_lateness.record(late / 3);
        }
        let title = if self.managed { "House with fq_codel" } else { "House with a deep buffer" };
        Run {
            schema_version: fathom_run::SCHEMA_VERSION,
            tool_version: "0.1.0".into(),
            command: "demo".into(),
            started: "2026-11-20T14:10:00Z".into(),
            title: title.into(),
            host: fathom_run::Host { kernel: "Linux 6.12".into(), cpus: 2 },
            facts: [
                ("line", "3Mbit up, 20Mbit down, 51ms".to_string()),
                ("queue", if self.managed { "fq_codel" } else { "tail drop, 375 kB" }.to_string()),
                ("flows", "4 a direction".to_string()),
            ]
            .map(|(name, value)| (fathom_run::Fact::from(name.to_string()), value))
            .into(),
            phases,
            series,
            instrument,
            partial: None,
            capture: None,
            path: None,
            history: None,
            bursts: Vec::new(),
            switch: None,
            host_traffic: Vec::new(),
            notes: Vec::new(),
        }
    }
}

const fn loads(kind: PhaseKind) -> (bool, bool) {
    match kind {
        PhaseKind::Up => (true, false),
        PhaseKind::Down => (false, true),
        PhaseKind::Both => (true, true),
        PhaseKind::Idle | PhaseKind::Drain | PhaseKind::Watch => (false, false),
    }
}

impl Recorder<'_> {
    fn step(&mut self, kind: PhaseKind, now_s: f64, i: u32) {
        let (up, down) = loads(kind);
        for (direction, on) in [(0, up), (1, down)] {
            self.fill(direction, on);
        }
        self.probe(now_s);
        if i.is_multiple_of(5) {
            self.sample_flows(now_s, [up, down], kind);
        }
        if i.is_multiple_of(10) {
            self.slow_probes(now_s);
        }
    }

    /// Fluid model: slow start to the maximum, a loss, a decrease by a third, then slow growth.
    fn fill(&mut self, direction: usize, on: bool) {
        let (line, noise) = (self.line, self.rng.next_f64());
        let queue = &mut self.queues[direction];
        if !on {
            queue.delay_s = (queue.delay_s - STEP_S).max(0.0);
            return;
        }
        if line.managed {
            let overshoot = if queue.slow_start { 0.03 } else { 0.0 };
            queue.delay_s = overshoot + 0.004 + 0.004 * noise;
            queue.slow_start = false;
            queue.retransmits += if noise > 0.97 { 1.0 } else { 0.0 };
            return;
        }
        let rate = if queue.slow_start { line.fill_rate } else { line.fill_rate * 0.15 };
        queue.delay_s += rate * queue.full_s * STEP_S;
        if queue.delay_s >= queue.full_s {
            queue.delay_s = (queue.full_s + line.base_rtt_s) * 0.75 - line.base_rtt_s;
            queue.retransmits += 6.0;
            queue.slow_start = false;
        }
    }

    fn probe(&mut self, now_s: f64) {
        self.probe += 1;
        let noise = 0.0004 * self.rng.next_f64();
        let half = self.line.base_rtt_s / 2.0;
        let [up, down] = [half + self.queues[0].delay_s + noise, half + self.queues[1].delay_s + noise / 2.0];
        let lost = self.rng.chance(self.line.loss_ratio);
        let value = |v| if lost { Value::Censored { at_least: 3.0 } } else { Value::Observed(v) };
        self.push(SeriesKey::of(Metric::UdpRtt), now_s, value(up + down));
        if self.line.one_way {
            self.push(SeriesKey::directed(Metric::OneWayDelay, Direction::Up), now_s, value(up));
            if !lost {
                self.push(
                    SeriesKey::directed(Metric::OneWayDelay, Direction::Down),
                    now_s,
                    Value::Observed(down),
                );
            }
        }
    }

    fn slow_probes(&mut self, now_s: f64) {
        let rtt = self.line.base_rtt_s + self.queues.iter().map(|q| q.delay_s).sum::<f64>();
        let noise = 0.001 * self.rng.next_f64();
        for (metric, extra) in
            [(Metric::IcmpRtt, 0.0001), (Metric::TcpConnect, 0.0002), (Metric::HttpForeign, 0.0006)]
        {
            self.push(SeriesKey::of(metric), now_s, Value::Observed(rtt + noise + extra));
        }
        self.push(SeriesKey::of(Metric::CpuBusy), now_s, Value::Observed(self.line.cpu_busy_ratio));
    }

    fn sample_flows(&mut self, now_s: f64, on: [bool; 2], kind: PhaseKind) {
        let rates = [self.line.up_bits_per_second, self.line.down_bits_per_second];
        let rtt = self.line.base_rtt_s + self.queues.iter().map(|q| q.delay_s).sum::<f64>();
        for (i, direction) in Direction::BOTH.into_iter().enumerate().filter(|(i, _)| on[*i]) {
            // Acknowledgments behind a long queue slow down the download.
            let starved = i == 1 && kind == PhaseKind::Both && self.queues[0].delay_s > 0.1;
            let share = if starved { 0.4 } else { 1.0 } * (0.97 + 0.05 * self.rng.next_f64());
            let goodput = rates[i] * PAYLOAD_PER_IP * share;
            self.push(SeriesKey::directed(Metric::Goodput, direction), now_s, Value::Observed(goodput));
            let retransmits = self.queues[i].retransmits;
            for flow in 0..4 {
                let key = |metric| SeriesKey {
                    flow: Some(flow + 10 * i as u32),
                    ..SeriesKey::directed(metric, direction)
                };
                self.push(key(Metric::FlowRtt), now_s, Value::Observed(rtt));
                self.push(key(Metric::FlowRetransmits), now_s, Value::Observed(retransmits));
                self.push(key(Metric::Goodput), now_s, Value::Observed(goodput / 4.0));
            }
        }
    }

    fn push(&mut self, key: SeriesKey, now_s: f64, value: Value) {
        let index = self.series.iter().position(|s| s.key == key).unwrap_or_else(|| {
            self.series.push(Series::new(key));
            self.series.len() - 1
        });
        self.series[index].push(Observation { at: Time::from_nanos((now_s * 1e9) as u64), value });
    }
}

//! Which tests a switch undergoes, each from the results of those before.
use crate::judge::{judge, sent_before_loss};
use crate::record::{ETHERNET_BYTES, HEADER_BYTES};
use crate::series::Collected;
use crate::{Pattern, Record, StreamPlan, Traffic};
use alloc::vec::Vec;
use core::mem;
use fathom_burst::{Buffer, BurstPlan, BurstPlanner, estimate};
use fathom_run::{Burst, Phase, PortTest, PortTestKind, Series, Spacing};
use fathom_units::{Bytes, Duration, Rate};

/// Payload of a frame of full size: 1,500 bytes of IP.
const FULL_PAYLOAD_BYTES: u32 = 1_472;
/// Payload of a small frame: a third of a full one, which most hosts can send often enough. It
/// shows what a buffer counts.
const SMALL_PAYLOAD_BYTES: u32 = 472;
/// Load of small frames, which fills the buffer sooner, and how long it is held.
const SMALL_LOAD: f64 = 1.25;
const SMALL_HOLD_S: f64 = 1.0;
/// Payload of a ping: that of ping(8), which makes a frame of 98 bytes.
const PING_PAYLOAD_BYTES: u32 = 56;
/// Preamble, checksum and gap between Ethernet frames (IEEE 802.3).
const BETWEEN_FRAMES_BYTES: u32 = 24;
/// Data of the bursts that find the buffer: those that fill 64 MB three times. It is one's own
/// network, and the largest buffer of a switch without external memory.
const BUDGET: Bytes = Bytes(400_000_000);
/// Least time between two pings, and in frames of full size: pings take places in the buffer, too.
const PINGS: (Duration, f64) = (Duration::from_millis(20), 50.0);
/// Likewise during bursts, and of pings to a port that is not overloaded.
const BURST_PINGS: (Duration, f64) = (Duration::from_millis(50), 50.0);
const OTHER_PINGS: (Duration, f64) = (Duration::from_millis(5), 10.0);
/// Duration of the test without load, and of that with pings through another port.
const IDLE: Duration = Duration::from_secs(2);
const HEAD_OF_LINE: Duration = Duration::from_secs(2);
/// A burst is sent this many times as fast as the port takes it, if the senders can.
const PACE: f64 = 10.0;
/// A burst that is to fill the buffer has so many times the frames that it holds.
const OVERFILL: f64 = 1.5;
/// An overload lasts for this many times the time that should fill the buffer, before it is held.
const FILL_MARGIN: f64 = 1.1;
/// Frames of an overload at most, for memory: nine minutes of 100 Mbit/s.
const MOST_FRAMES: f64 = 5e6;
/// A burst slightly smaller than what passed before the first loss is sent first, then ever
/// smaller ones.
const FIRST_SHARE: f64 = 0.97;
const NEXT_SHARE: f64 = 0.9;
const MOST_TRIES: u32 = 8;
/// Frames far apart before a burst, and after it until nothing waits.
const BEFORE: u32 = 5;
const APART: Duration = Duration::from_millis(20);

/// A port that sends to the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InPort {
    /// Its rate, if the driver reports one: faster frames would wait in this host.
    pub rate: Option<Rate>,
}

/// What to test. Ports that send are numbered first, then those that receive.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// The ports that send.
    pub ins: Vec<InPort>,
    /// Number of ports that receive.
    pub outs: usize,
    /// Rate of the first port that receives; `None`: as measured.
    pub rate: Option<Rate>,
    /// Load, relative to that rate.
    pub load_ratio: f64,
    /// How frames of an overload follow each other.
    pub spacing: Spacing,
    /// How long an overload holds the full buffer.
    pub hold: Duration,
}

/// A step of the tests, for progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A burst of datagrams that finds rate and buffer.
    Burst(BurstPlan),
    /// A test.
    Test(PortTestKind),
}

/// Why the tests cannot continue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trouble {
    /// Nothing waited in front of the port at the highest rate that was sent.
    NoQueue {
        /// That rate of frames, in bit/s.
        sent_bits_per_second: f64,
    },
}

/// The results.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Bursts that found rate and buffer.
    pub bursts: Vec<Burst>,
    /// The tests.
    pub tests: Vec<PortTest>,
    /// Pings and load over time.
    pub series: Vec<Series>,
    /// Times without load, with it, and after it.
    pub phases: Vec<Phase>,
}

/// Plans the tests.
#[derive(Clone, Debug)]
pub struct Planner {
    setup: Setup,
    planner: BurstPlanner,
    /// All ports send the load together, because one cannot exceed the rate.
    is_spread: bool,
    buffer: Option<Buffer>,
    stage: Stage,
    bursts: Vec<Burst>,
    tests: Vec<PortTest>,
    collected: Collected,
}

/// A load of the first port.
#[derive(Clone, Copy, Debug)]
struct Load {
    payload_bytes: u32,
    /// Frames that fill the buffer at first.
    first: u32,
    /// Relative to the rate of the port.
    ratio: f64,
    spacing: Spacing,
}

impl Load {
    const fn of_full_frames(spacing: Spacing) -> Self {
        Load { payload_bytes: FULL_PAYLOAD_BYTES, first: 0, ratio: 1.0, spacing }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Stage {
    Idle,
    Buffer,
    Overload,
    SmallFrames,
    FullBurst,
    /// Frames of the next burst, and tries so far.
    Microburst(u32, u32),
    IncastFull,
    Incast(u32, u32),
    SharedBuffer,
    HeadOfLine,
    Done,
}

impl Planner {
    /// A plan.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Planner {
            setup,
            planner: BurstPlanner::new(BUDGET),
            is_spread: false,
            buffer: None,
            stage: Stage::Idle,
            bursts: Vec::new(),
            tests: Vec::new(),
            collected: Collected::default(),
        }
    }
    /// What to send next; `None` at the end.
    ///
    /// # Errors
    /// If the ports cannot be overloaded.
    pub fn next_traffic(&mut self) -> Result<Option<(Step, Traffic)>, Trouble> {
        if self.stage == Stage::Buffer {
            if let Some(plan) = self.planner.next_burst() {
                return Ok(Some((Step::Burst(plan), self.burst(plan, self.senders()))));
            }
            self.end_of_bursts()?;
            if self.stage == Stage::Buffer {
                return self.next_traffic();
            }
        }
        Ok(self.test().map(|(kind, traffic)| (Step::Test(kind), traffic)))
    }
    /// Estimates the buffer, or starts again with all ports.
    fn end_of_bursts(&mut self) -> Result<(), Trouble> {
        self.buffer = estimate(self.planner.responses()).filter(|buffer| buffer.delay_s > 0.0);
        if self.buffer.is_some() {
            self.is_spread |= !self.one_can_overload();
            self.stage = Stage::Overload;
        } else if self.setup.ins.len() > 1 && !self.is_spread {
            (self.is_spread, self.planner) = (true, BurstPlanner::new(BUDGET));
        } else {
            let sent_bits_per_second = self.bursts.iter().filter_map(sent_rate).fold(0.0, f64::max);
            return Err(Trouble::NoQueue { sent_bits_per_second });
        }
        Ok(())
    }
    /// Takes what the last traffic showed.
    pub fn add(&mut self, record: &Record) {
        let kind = match self.stage {
            Stage::Idle => PortTestKind::Idle,
            Stage::Overload => PortTestKind::Overload,
            Stage::SmallFrames => PortTestKind::SmallFrames,
            Stage::Microburst(..) => PortTestKind::Microburst,
            Stage::Incast(..) => PortTestKind::Incast,
            Stage::SharedBuffer => PortTestKind::SharedBuffer,
            Stage::HeadOfLine => PortTestKind::HeadOfLine,
            Stage::Buffer | Stage::FullBurst | Stage::IncastFull | Stage::Done => PortTestKind::FullBurst,
        };
        self.collected.add(kind, record);
        let passed = sent_before_loss(record);
        let (has_incast, has_others) = (self.setup.ins.len() > 1, self.setup.outs > 1);
        let after_bursts = if has_others { Stage::SharedBuffer } else { Stage::Done };
        let after_microburst = if has_incast { Stage::IncastFull } else { after_bursts };
        let first = |sent: u64| (sent as f64 * FIRST_SHARE) as u32;
        let next = |count: u32| (f64::from(count) * NEXT_SHARE) as u32;
        let (is_result, stage) = match (self.stage, passed) {
            (Stage::Idle, _) => (true, Stage::Buffer),
            (Stage::Buffer, _) => (false, Stage::Buffer),
            (Stage::Overload, _) => (true, Stage::SmallFrames),
            (Stage::SmallFrames, _) => (true, Stage::FullBurst),
            (Stage::FullBurst, Some(sent)) => (true, Stage::Microburst(first(sent), 0)),
            // As many as can be sent at once pass.
            (Stage::FullBurst, None) => (true, Stage::Microburst(self.overfill(), MOST_TRIES)),
            (Stage::Microburst(..), None) => (true, after_microburst),
            (Stage::Microburst(count, tries), _) if tries < MOST_TRIES => {
                (false, Stage::Microburst(next(count), tries + 1))
            }
            (Stage::Microburst(..), _) => (false, after_microburst),
            (Stage::IncastFull, Some(sent)) => (false, Stage::Incast(first(sent), 0)),
            (Stage::IncastFull, None) => (false, Stage::Incast(self.overfill(), MOST_TRIES)),
            (Stage::Incast(..), None) => (true, after_bursts),
            (Stage::Incast(count, tries), _) if tries < MOST_TRIES => {
                (false, Stage::Incast(next(count), tries + 1))
            }
            (Stage::Incast(..), _) => (false, after_bursts),
            (Stage::SharedBuffer, _) => (true, Stage::HeadOfLine),
            (Stage::HeadOfLine, _) => (true, Stage::Done),
            (Stage::Done, _) => (false, Stage::Done),
        };
        if let Some(burst) = record.burst().filter(|_| self.stage == Stage::Buffer) {
            self.planner.add(&burst);
            self.bursts.push(burst);
        }
        if is_result {
            self.tests.push(judge(kind, record));
        }
        self.stage = stage;
    }
    /// The results so far.
    pub fn outcome(&mut self) -> Outcome {
        let Collected { series, phases } = mem::take(&mut self.collected);
        Outcome {
            bursts: mem::take(&mut self.bursts),
            tests: mem::take(&mut self.tests),
            series: series.into_iter().filter(|series| !series.values.is_empty()).collect(),
            phases,
        }
    }
    fn test(&self) -> Option<(PortTestKind, Traffic)> {
        let one = 1;
        let all = self.setup.ins.len();
        Some(match self.stage {
            Stage::Idle => (PortTestKind::Idle, self.idle()),
            Stage::Overload => (PortTestKind::Overload, self.overload()),
            Stage::SmallFrames => (PortTestKind::SmallFrames, self.small_frames()),
            Stage::FullBurst => (PortTestKind::FullBurst, self.frames(self.overfill(), self.senders())),
            Stage::Microburst(count, _) => (PortTestKind::Microburst, self.frames(count, one)),
            Stage::IncastFull => (PortTestKind::FullBurst, self.frames(self.overfill(), all)),
            Stage::Incast(count, _) => (PortTestKind::Incast, self.frames(count, all)),
            Stage::SharedBuffer => (PortTestKind::SharedBuffer, self.two_ports()),
            Stage::HeadOfLine => (PortTestKind::HeadOfLine, self.head_of_line()),
            Stage::Buffer | Stage::Done => return None,
        })
    }
    /// Number of ports that send the load.
    fn senders(&self) -> usize {
        if self.is_spread { self.setup.ins.len() } else { 1 }
    }
    /// Number of a port that receives.
    fn out(&self, number: usize) -> usize {
        self.setup.ins.len() + number
    }
    fn idle(&self) -> Traffic {
        let outs = (0..self.setup.outs).map(|out| self.pings((0, out), PINGS));
        Traffic { streams: outs.collect(), lasts: IDLE }
    }
    fn overload(&self) -> Traffic {
        let fill_s = FILL_MARGIN * self.full_s() / (self.setup.load_ratio - 1.0);
        let load = Load { ratio: self.setup.load_ratio, ..Load::of_full_frames(self.setup.spacing) };
        let mut streams = self.load(load, fill_s + self.setup.hold.as_secs_f64());
        streams.push(self.pings((0, 0), PINGS));
        Traffic { streams, lasts: Duration::ZERO }
    }
    fn small_frames(&self) -> Traffic {
        let fill_s = FILL_MARGIN * self.full_s() / (SMALL_LOAD - 1.0);
        let spacing = self.setup.spacing;
        let load = Load { payload_bytes: SMALL_PAYLOAD_BYTES, first: 0, ratio: SMALL_LOAD, spacing };
        let mut streams = self.load(load, fill_s + SMALL_HOLD_S);
        streams.push(self.pings((0, 0), PINGS));
        Traffic { streams, lasts: Duration::ZERO }
    }
    /// An overload of the first port with an almost full buffer at first, and pings through all.
    fn head_of_line(&self) -> Traffic {
        let (first, ratio) = (self.overfill(), self.setup.load_ratio);
        let load = Load { first, ratio, ..Load::of_full_frames(self.setup.spacing) };
        let mut streams = self.load(load, HEAD_OF_LINE.as_secs_f64());
        let others = (0..self.setup.ins.len()).map(|from| self.pings((from, 1), OTHER_PINGS));
        streams.extend([self.pings((0, 0), PINGS)].into_iter().chain(others));
        Traffic { streams, lasts: Duration::ZERO }
    }
    /// Bursts that fill the buffers of the first two ports, from one port or from two.
    fn two_ports(&self) -> Traffic {
        let senders = self.setup.ins.len().min(2);
        let plan = self.plan(self.overfill(), self.fast_s(1) * 2.0 / senders as f64);
        let stream = |number: usize| StreamPlan {
            from: number % senders,
            to: self.out(number),
            payload_bytes: FULL_PAYLOAD_BYTES,
            pattern: Pattern::Burst { plan, part: 0, of: 1 },
        };
        Traffic { streams: (0..2).map(stream).collect(), lasts: Duration::ZERO }
    }
    /// A burst of frames of full size from the first ports.
    fn frames(&self, count: u32, senders: usize) -> Traffic {
        self.burst(self.plan(count, self.fast_s(senders)), senders)
    }
    /// A burst of frames of full size.
    fn plan(&self, count: u32, interval_s: f64) -> BurstPlan {
        BurstPlan {
            payload_bytes: FULL_PAYLOAD_BYTES,
            before: BEFORE,
            count,
            apart: APART.max(Duration::from_secs_f64(10.0 * self.packet_s())),
            interval: Duration::from_secs_f64(interval_s),
            ..BurstPlan::default()
        }
    }
    /// A burst that the first ports send together, and pings.
    fn burst(&self, plan: BurstPlan, senders: usize) -> Traffic {
        let slowest_s = self.host_s(plan.payload_bytes, senders);
        let plan = BurstPlan { interval: plan.interval.max(Duration::from_secs_f64(slowest_s)), ..plan };
        let part = |from: usize| StreamPlan {
            from,
            to: self.out(0),
            payload_bytes: plan.payload_bytes,
            pattern: Pattern::Burst { plan, part: from as u32, of: senders as u32 },
        };
        let mut streams: Vec<StreamPlan> = (0..senders).map(part).collect();
        streams.push(self.pings((0, 0), BURST_PINGS));
        Traffic { streams, lasts: Duration::ZERO }
    }
    /// Pings from a port that sends to one that receives, at least this far apart.
    fn pings(&self, (from, out): (usize, usize), (least, frames): (Duration, f64)) -> StreamPlan {
        let interval = least.max(Duration::from_secs_f64(frames * self.packet_s()));
        let pattern = Pattern::Pings { interval };
        StreamPlan { from, to: self.out(out), payload_bytes: PING_PAYLOAD_BYTES, pattern }
    }
    /// A load of the first port by all senders together.
    fn load(&self, load: Load, lasts_s: f64) -> Vec<StreamPlan> {
        let senders = self.senders();
        let interval_s = self.frame_s(load.payload_bytes) / load.ratio;
        let count = (lasts_s / interval_s).min(MOST_FRAMES) / senders as f64;
        let stream = |from: usize| StreamPlan {
            from,
            to: self.out(0),
            payload_bytes: load.payload_bytes,
            pattern: Pattern::Load {
                start: Duration::from_secs_f64(interval_s * from as f64),
                first: load.first / senders as u32,
                fast: Duration::from_secs_f64(self.fast_s(senders) * senders as f64),
                count: count as u32,
                interval: Duration::from_secs_f64(interval_s * senders as f64),
                spacing: load.spacing,
            },
        };
        (0..senders).map(stream).collect()
    }
    /// Frames of full size that overfill the buffer, with those that leave it meanwhile.
    fn overfill(&self) -> u32 {
        let pace = (self.packet_s() / self.fast_s(self.senders())).max(self.setup.load_ratio);
        let held = self.full_s() / self.packet_s().max(f64::MIN_POSITIVE);
        (OVERFILL * held * pace / (pace - 1.0)).clamp(32.0, MOST_FRAMES) as u32
    }
    /// Delay of frames of full size when the buffer is full, as far as the bursts filled it.
    fn full_s(&self) -> f64 {
        self.buffer.as_ref().map_or(0.0, |buffer| match buffer.packets {
            Some(packets) => packets.value * self.packet_s(),
            None => buffer.delay_s,
        })
    }
    /// Time of the port for a frame of full size; zero as long as it is unknown.
    fn packet_s(&self) -> f64 {
        self.frame_s(FULL_PAYLOAD_BYTES)
    }
    /// Time of the port for a frame.
    fn frame_s(&self, payload_bytes: u32) -> f64 {
        let Some(buffer) = &self.buffer else { return 0.0 };
        let rate = self.setup.rate.map(|rate| rate.as_bits_per_second() as f64);
        let bytes = f64::from(payload_bytes + HEADER_BYTES) + buffer.overhead_bytes;
        8.0 * bytes / rate.unwrap_or(buffer.rate_bits_per_second.value)
    }
    /// Time between two frames of full size of a burst that is sent by the first ports together.
    fn fast_s(&self, senders: usize) -> f64 {
        (self.packet_s() / PACE).max(self.host_s(FULL_PAYLOAD_BYTES, senders))
    }
    /// Least time between two frames that the first ports send together; zero if unknown.
    fn host_s(&self, payload_bytes: u32, senders: usize) -> f64 {
        let rates = self.setup.ins.iter().take(senders).map(|port| port.rate);
        let slowest = rates.map(|rate| rate.map_or(f64::INFINITY, |rate| rate.as_bits_per_second() as f64));
        let slowest = slowest.fold(f64::INFINITY, f64::min);
        let bytes = payload_bytes + HEADER_BYTES + ETHERNET_BYTES + BETWEEN_FRAMES_BYTES;
        8.0 * f64::from(bytes) / slowest / senders as f64
    }
    /// Whether the first port can send the load alone.
    fn one_can_overload(&self) -> bool {
        self.setup.ins.len() < 2
            || self.host_s(FULL_PAYLOAD_BYTES, 1) * self.setup.load_ratio <= self.packet_s()
    }
}

/// Rate at which the frames of a burst were sent, in bit/s.
fn sent_rate(burst: &Burst) -> Option<f64> {
    let of_burst = burst.sent_ns.get(burst.before as usize..(burst.before + burst.count) as usize)?;
    let took_ns = of_burst.last()?.saturating_sub(*of_burst.first()?);
    let bytes =
        u64::from(burst.payload_bytes + burst.header_bytes + ETHERNET_BYTES) * (of_burst.len() as u64 - 1);
    (took_ns > 0).then(|| 8e9 * bytes as f64 / took_ns as f64)
}

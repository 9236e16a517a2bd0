//! Which bursts to send, from the responses to those before.
use crate::Response;
use crate::codel::follow_codel;
use crate::echo::{ECHO_EVERY, is_ambiguous};
use crate::response::add_response;
use crate::series;
use alloc::vec::Vec;
use fathom_run::Burst;
use fathom_units::{Bytes, Duration, Ecn, Rate};

/// Payloads of the bursts that fill the buffer: they differ by a factor of seven, which
/// distinguishes a buffer that counts packets from one that counts bytes. The largest fits most
/// tunnels.
pub const PAYLOAD_BYTES: [u32; 3] = [1400, 700, 200];
/// Datagrams in the first burst, which measures the rate of the link.
const FIRST_COUNT: u32 = 32;
/// Datagrams in the first burst that is to fill the buffer.
const FILL_COUNT: u32 = 64;
/// Data of the first burst: with less, nothing is measured.
pub const LEAST_BUDGET: Bytes = Bytes((PAYLOAD_BYTES[0] * (BEFORE + FIRST_COUNT)) as u64);
/// Most datagrams in a burst.
pub const MOST_DATAGRAMS: u32 = 16_384;
/// Datagrams far apart before a burst: the shortest of their delays is that of an empty queue.
const BEFORE: u32 = 5;
/// Time without a queue after which an AQM begins as at first: CoDel of Linux forgets its drops
/// after 16 intervals of 100 ms; the drop probability of PIE decays by 2 % every 15 ms (RFC 8033
/// section 4.2).
const FORGET: Duration = Duration::from_secs(6);
/// Interval of datagrams far apart: shorter than most timers, and for a slow link ten times what it
/// needs for one.
const APART: Duration = Duration::from_millis(20);
const APART_PACKETS: f64 = 10.0;
/// A burst is sent this many times as fast as the link takes it, so that hardly anything leaves the
/// buffer while it fills.
const PACE: f64 = 10.0;
/// Least rate of a burst that fills the buffer: that of a slow line would take so long that an AQM
/// begins to drop before the buffer is full.
const FILL_RATE: Rate = Rate::from_bits_per_second(20_000_000);
/// Longest time in which a burst is sent: it fills a buffer of 36 s.
const LONGEST_S: f64 = 4.0;
/// Duration of a burst that shows the rate of a policer, and its highest rate relative to
/// [`FILL_RATE`]: that of gigabit Ethernet.
const POLICED_S: f64 = 0.3;
const MOST_TIMES: u32 = 64;
/// A burst occupies the link for at most this time, and one that only checks a size for this one.
const LONGEST_WAIT_S: f64 = 60.0;
const LONGEST_CHECK_S: f64 = 2.0;
/// Least duration of a burst that is hardly faster than the link: an AQM needs 100 to 200 ms, and
/// [`FILL_S`] and [`FULL_S`] are needed anyway.
const SUSTAINED_S: f64 = 0.7;
/// Time for which it shows a full buffer.
const FULL_S: f64 = 0.3;
/// Time in which it fills the buffer, and its limits relative to the rate of the link.
const FILL_S: f64 = 0.4;
const SUSTAINED_PACE: [f64; 2] = [1.05, 1.5];
/// Room for what the limit of a buffer differs between sizes.
const MARGIN: f64 = 1.3;

/// A burst to send.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BurstPlan {
    /// Size of each datagram without the headers of UDP and IP.
    pub payload_bytes: u32,
    /// Number of datagrams before those of the burst.
    pub before: u32,
    /// Number of datagrams of the burst.
    pub count: u32,
    /// Time between two datagrams before and after it.
    pub apart: Duration,
    /// Time between two datagrams of the burst; zero: as fast as possible.
    pub interval: Duration,
    /// Each so many datagrams of the burst are one echo request, and the receiver discards the
    /// others. Zero: the receiver records arrivals.
    pub echo_every: u32,
    /// ECN codepoint of the datagrams before those after the burst.
    pub ecn: Ecn,
}

impl BurstPlan {
    /// When a datagram is sent, after the first. Those after the burst have no end.
    #[must_use]
    pub fn offset(&self, number: u32) -> Duration {
        let times = |interval: Duration, n: u32| Duration::from_nanos(interval.as_nanos() * u64::from(n));
        let dense = number.saturating_sub(self.before).min(self.count.saturating_sub(1));
        let after = (number + 1).saturating_sub(self.before + self.count);
        times(self.apart, number.min(self.before) + after) + times(self.interval, dense)
    }
    /// Whether the receiver sends a datagram back, if it sends any.
    #[must_use]
    pub fn is_echoed(&self, number: u32) -> bool {
        let in_burst = number.checked_sub(self.before).filter(|n| *n < self.count);
        in_burst.is_none_or(|n| n.is_multiple_of(self.echo_every.max(1)))
    }
    /// ECN codepoint of a datagram. Every second one after the burst can be marked: that shows
    /// whether a queue marks packets that it would not drop.
    #[must_use]
    pub fn ecn_of(&self, number: u32) -> Ecn {
        match number.checked_sub(self.before + self.count) {
            Some(after) if self.echo_every == 0 && after.is_multiple_of(2) && self.ecn == Ecn::NotEct => {
                Ecn::Ect0
            }
            _ => self.ecn,
        }
    }
    /// Bytes of all datagrams but those after the burst.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.payload_bytes) * u64::from(self.before + self.count))
    }
}

/// Plans the bursts of one direction.
#[derive(Clone, Debug)]
pub struct BurstPlanner {
    left: Bytes,
    /// The receiver returns each datagram, and records nothing.
    is_echo: bool,
    /// Only the size of a buffer that is full within [`LONGEST_CHECK_S`] is of interest.
    is_check: bool,
    /// The largest size that passes, as a place in [`PAYLOAD_BYTES`].
    largest: usize,
    stage: Stage,
    /// Number of datagrams of the last plan before it was limited.
    planned: u32,
    /// Packets were marked, and some of those after the last burst.
    has_marks: bool,
    marks_some: bool,
    responses: Vec<Response>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Stage {
    /// Measures the rate.
    First {
        size: usize,
        count: u32,
    },
    /// Shows whether echo requests wait, or their replies.
    Direction {
        size: usize,
        count: u32,
        echo_every: u32,
    },
    /// Fills the buffer with datagrams of one size.
    Fill {
        size: usize,
        count: u32,
    },
    /// Shows the rate of a policer: at most this many times as fast as [`FILL_RATE`].
    Police {
        times: u32,
    },
    /// Shows an AQM that drops, and with ECT one that marks.
    Sustained {
        size: usize,
        ecn: Ecn,
    },
    Done,
}

impl BurstPlanner {
    /// Bursts of at most so many bytes together.
    #[must_use]
    pub const fn new(budget: Bytes) -> Self {
        let stage = Stage::First { size: 0, count: FIRST_COUNT };
        BurstPlanner {
            left: budget,
            is_echo: false,
            is_check: false,
            largest: 0,
            stage,
            planned: 0,
            has_marks: false,
            marks_some: false,
            responses: Vec::new(),
        }
    }
    /// Bursts that only fill the buffer, of at most so many bytes together.
    #[must_use]
    pub fn check(budget: Bytes) -> Self {
        BurstPlanner { is_check: true, ..Self::new(budget) }
    }
    /// Bursts of echo requests, of at most so many bytes together.
    #[must_use]
    pub fn echo(budget: Bytes) -> Self {
        BurstPlanner { is_echo: true, ..Self::new(budget) }
    }
    /// The next burst; `None` at the end.
    pub fn next_burst(&mut self) -> Option<BurstPlan> {
        let mut plan = self.plan()?;
        let affordable = self.left.get() / u64::from(plan.payload_bytes);
        let longest_s = if self.is_check { LONGEST_CHECK_S } else { LONGEST_WAIT_S };
        let patient = self.packet_s(plan.payload_bytes).map_or(f64::INFINITY, |s| longest_s / s) as u64;
        let limit = affordable.saturating_sub(u64::from(plan.before)).min(u64::from(MOST_DATAGRAMS));
        let limit = limit.min(patient) as u32;
        if limit < FIRST_COUNT {
            return None;
        }
        self.planned = plan.count;
        plan.count = plan.count.min(limit);
        self.left = self.left.saturating_sub(plan.bytes());
        Some(plan)
    }
    fn plan(&self) -> Option<BurstPlan> {
        let of = |payload_bytes: u32, count: u32, pace: f64| {
            let packet_s = self.packet_s(payload_bytes);
            let interval = packet_s.map_or(Duration::ZERO, |s| Duration::from_secs_f64(s / pace));
            let interval = if pace >= PACE {
                interval.min(FILL_RATE.serialization_time(Bytes(payload_bytes.into())))
            } else {
                interval
            };
            let apart = packet_s.map_or(APART, |s| APART.max(Duration::from_secs_f64(APART_PACKETS * s)));
            let (before, echo_every) = (self.before(apart), self.is_echo.into());
            BurstPlan { payload_bytes, before, count, apart, interval, echo_every, ecn: Ecn::NotEct }
        };
        match self.stage {
            Stage::First { size, count } => Some(of(*PAYLOAD_BYTES.get(size)?, count, 1.0)),
            Stage::Direction { size, count, echo_every } => {
                Some(BurstPlan { echo_every, ..of(*PAYLOAD_BYTES.get(size)?, count, PACE) })
            }
            Stage::Fill { size, count } => Some(of(*PAYLOAD_BYTES.get(size)?, count, PACE)),
            Stage::Police { times } => {
                let large = *PAYLOAD_BYTES.get(self.largest)?;
                let interval = FILL_RATE.serialization_time(Bytes(u64::from(large))) / u64::from(times);
                let count = (POLICED_S / interval.as_secs_f64()).min(f64::from(MOST_DATAGRAMS)) as u32;
                Some(BurstPlan { interval, ..of(large, count, 1.0) })
            }
            Stage::Sustained { size, ecn } => {
                let longest_s = self.responses.iter().map(|r| r.longest_s).fold(0.0, f64::max);
                let [least, most] = SUSTAINED_PACE;
                let pace = (1.0 + longest_s / FILL_S).clamp(least, most);
                let filled_s = longest_s / (pace - 1.0) + FULL_S;
                let payload_bytes = *PAYLOAD_BYTES.get(size)?;
                let count = filled_s.clamp(SUSTAINED_S, LONGEST_S) * pace / self.packet_s(payload_bytes)?;
                let count = count.clamp(FIRST_COUNT.into(), MOST_DATAGRAMS.into()) as u32;
                Some(BurstPlan { ecn, ..of(payload_bytes, count, pace) })
            }
            Stage::Done => None,
        }
    }
    /// Number of datagrams before a burst: more if an AQM may still drop for what was before.
    fn before(&self, apart: Duration) -> u32 {
        let is_managed = self.responses.last().is_some_and(|last| {
            last.lost_after > 0 || last.is_policed() || last.early_losses().next().is_some()
        });
        let pause = if is_managed || self.marks_some { FORGET.as_nanos() / apart.as_nanos() } else { 0 };
        BEFORE + pause as u32
    }
    /// Time of the link for a datagram, from the last burst whose size was nearest.
    fn packet_s(&self, payload_bytes: u32) -> Option<f64> {
        let queued = self.responses.iter().filter(|response| response.has_queue());
        let wanted = f64::from(payload_bytes);
        let apart = |r: &&Response| libm::fabs(r.ip_bytes - wanted) as u64;
        let nearest = queued.rev().min_by_key(apart)?;
        Some(nearest.packet_s * wanted.min(nearest.ip_bytes) / nearest.ip_bytes)
    }
    /// Takes the burst of the last plan.
    pub fn add(&mut self, burst: &Burst) {
        let known = self.responses.len();
        add_response(&mut self.responses, burst);
        let response = self.responses.get(known);
        let has_queue = response.is_some_and(Response::has_queue);
        let is_policed = response.is_some_and(Response::is_policed);
        let is_full = response.is_some_and(|r| {
            r.was_full()
                || r.is_managed()
                || follow_codel(core::iter::once(r))
                || r.waited_no_longer(&self.responses)
        });
        let is_short = response.is_none_or(|response| response.sending_s() < LONGEST_S / 2.0);
        let can_grow = burst.count < MOST_DATAGRAMS && is_short && burst.count == self.planned;
        let has_lost = burst.arrivals().any(|received| received.is_none());
        // Those after the burst were not in the plan.
        let after = burst.sent_ns.len().saturating_sub((burst.before + burst.count) as usize) as u64;
        self.left = self.left.saturating_sub(Bytes(after * u64::from(burst.payload_bytes)));
        let is_managed = is_policed || response.is_some_and(|response| !response.has_few_early());
        let is_unknown = is_managed || (matches!(self.stage, Stage::Fill { .. }) && !is_full && !can_grow);
        // Even those far apart are lost if the path has a smaller MTU, and no ICMP error says so.
        let has_passed = burst.received_ns.iter().any(Option::is_some);
        if let (Stage::First { size, .. }, false) = (self.stage, has_passed) {
            self.largest = size + 1;
        }
        let largest = self.largest;
        self.has_marks |= !burst.ce.is_empty();
        self.marks_some = marks_some(burst);
        // A queue that marks others would have dropped some of these, or marked some after a burst.
        let is_tail_drop =
            response.is_some_and(|r| r.was_full() && r.early_losses().next().is_none() && r.lost_after == 0);
        let may_mark = self.has_marks || !is_tail_drop;
        self.stage = match self.stage {
            _ if self.is_check && is_unknown => Stage::Done,
            Stage::First { size, count } if has_queue && self.is_echo => {
                Stage::Direction { size, count: 2 * count, echo_every: ECHO_EVERY[0] }
            }
            Stage::Direction { size, count, .. } if is_ambiguous(burst, &self.responses) => {
                Stage::Direction { size, count, echo_every: ECHO_EVERY[1] }
            }
            Stage::First { .. } if has_queue => Stage::Fill { size: largest, count: FILL_COUNT },
            Stage::Direction { .. } => Stage::Fill { size: largest, count: FILL_COUNT },
            // A receiver that limits its replies drops what exceeds a rate as well.
            Stage::First { .. } if is_policed && self.is_echo => Stage::Done,
            Stage::First { .. } if is_policed => Stage::Police { times: 1 },
            Stage::Police { times } if !is_policed && times < MOST_TIMES => {
                Stage::Police { times: 4 * times }
            }
            // A slow line drops most of them.
            Stage::First { size, count } if !has_passed || (response.is_none() && has_lost) => {
                Stage::First { size: size + 1, count }
            }
            Stage::First { size, count } if can_grow && !is_full => Stage::First { size, count: 2 * count },
            Stage::Fill { size, count } if !is_full && can_grow => Stage::Fill { size, count: 2 * count },
            Stage::Fill { size, .. } if size + 1 < PAYLOAD_BYTES.len() => {
                let ratio = f64::from(PAYLOAD_BYTES[size]) / f64::from(PAYLOAD_BYTES[size + 1]);
                let count = (f64::from(burst.count) * ratio.min(MARGIN)) as u32;
                Stage::Fill { size: size + 1, count: count.min(MOST_DATAGRAMS) }
            }
            Stage::Fill { .. } if self.is_check => Stage::Done,
            Stage::Fill { .. } => Stage::Sustained { size: largest, ecn: Ecn::NotEct },
            Stage::Sustained { size, ecn: Ecn::NotEct }
                if size + 1 < PAYLOAD_BYTES.len() && self.has_two_queues() =>
            {
                Stage::Sustained { size: size + 1, ecn: Ecn::NotEct }
            }
            Stage::Sustained { ecn: Ecn::NotEct, .. } if may_mark && !self.is_echo => {
                Stage::Sustained { size: largest, ecn: Ecn::Ect0 }
            }
            // L4S marks nothing else differently.
            Stage::Sustained { ecn: Ecn::Ect0, .. } if !burst.ce.is_empty() => {
                Stage::Sustained { size: largest, ecn: Ecn::Ect1 }
            }
            Stage::First { .. } | Stage::Police { .. } | Stage::Sustained { .. } | Stage::Done => Stage::Done,
        };
    }
    /// Whether a fast burst waited in front of another link, too.
    fn has_two_queues(&self) -> bool {
        let seen: Vec<&Response> = self.responses.iter().filter(|response| response.has_queue()).collect();
        series::is_full(&seen, &series::slow(&seen))
    }
    /// What is left of the budget after the bursts so far.
    #[must_use]
    pub const fn left(&self) -> Bytes {
        self.left
    }
    /// The responses so far.
    #[must_use]
    pub fn responses(&self) -> &[Response] {
        &self.responses
    }
    /// Rate of the link for IP packets, as far as it is known.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        let last = self.responses.iter().rfind(|response| response.has_queue())?;
        Some(Rate::from_bits_per_second((8.0 * last.ip_bytes / last.packet_s) as u64))
    }
}

/// Whether some packets after the burst were marked, but not all until the last of these: by an
/// AQM, and not by a threshold.
fn marks_some(burst: &Burst) -> bool {
    let first = burst.before + burst.count;
    let last = burst.ce.iter().copied().max().unwrap_or(0);
    (first..last).step_by(2).any(|number| !burst.ce.contains(&number))
}

//! What goes into the machine and what comes out.
use super::{Failure, Isolation, Outcome};
use crate::knee::{Found, Knee, Trial};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, PhaseKind, ShaperBypass, ShaperCheck};
use fathom_stats::Bounded;
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};

/// What comes out, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Output {
    /// Something for the driver to do.
    Action(Action),
    /// Progress, to be reported.
    Event(Event),
    /// The fix is over. Nothing follows.
    Ended(Result<Outcome, Failure>),
}

/// Something for the driver to do. Any action on the shaper may be answered by [`Input::ShaperFailed`] instead.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Plan a shaper of these rates and this overhead, and check that it can be undone; change nothing. An interrupted fix is rolled back
    /// first. Answer: [`Input::Prepared`].
    Prepare {
        /// Rate of each direction that is shaped.
        rates: PerDirection<Option<Rate>>,
        /// Bytes of each packet beyond IP, where that was measured.
        overhead: Option<u16>,
    },
    /// Forget the prepared plan. No answer.
    Discard,
    /// Put the prepared shaper on. Answer: [`Input::Applied`]. If this fails, the interface is as before.
    Apply,
    /// Change the rates of the shaper that is on. No answer.
    SetRates(PerDirection<Option<Rate>>),
    /// Read the counters of the shaper and of the interface. Answer: [`Input::Counters`].
    ReadCounters,
    /// Take the shaper off. Answer: [`Input::RolledBack`].
    RollBack(RollBackReason),
    /// Keep the shaper. Answer: [`Input::Committed`]. If this fails, the interface is as before.
    Commit,
    /// Run a test. Answer, after the inputs of its phases: [`Input::Measured`], [`Input::MeasurementIncomplete`] or
    /// [`Input::MeasurementFailed`].
    Measure(Measurement),
    /// End the running test: what it was for is known. No answer but the test's.
    EndMeasurement,
    /// Look up the trials of a search of this direction that was interrupted. Answer: [`Input::Recalled`].
    RecallTrials(Direction),
    /// Keep the trials of the running search ([`super::Fix::search`]). No answer.
    StoreTrials(Direction),
    /// Delete the stored trials. No answer.
    ForgetTrials(Direction),
}

/// Why a shaper is taken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RollBackReason {
    /// The search has ended.
    SearchEnded,
    /// A check failed.
    NotVerified,
    /// The fix failed or was stopped.
    Failed,
}

/// A test of some phases.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// What it is for.
    pub purpose: Purpose,
    /// Its phases, in order. Between two loads the test waits until the queue has drained.
    pub phases: Vec<Phase>,
    /// Interval of the probes.
    pub probe_interval: Duration,
    /// Largest TCP segment of the load as announced: payload and options. `None` leaves it to the path.
    pub segment_bytes: Option<u16>,
}

/// What a test is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The line without a shaper.
    Baseline,
    /// Overhead of packets, by loads of two packet sizes: one of them.
    Overhead,
    /// The knee of a direction.
    Search(Direction),
    /// The line through the shaper.
    Verification,
}

/// A phase of a test. It lasts at least `min`, and until its latency is stable, but no longer than `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phase {
    /// Its load.
    pub kind: PhaseKind,
    /// Shortest duration.
    pub min: Duration,
    /// Longest duration.
    pub max: Duration,
}

/// What the driver reports.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// The shaper was planned. Its queue isolates flows or not.
    Prepared(Isolation),
    /// The shaper is on.
    Applied,
    /// Counters.
    Counters(Counters),
    /// The interface is as before.
    RolledBack,
    /// The shaper stays.
    Committed,
    /// The last action on the shaper failed.
    ShaperFailed,
    /// The test reached its server by this version of IP.
    Connected(IpVersion),
    /// A phase of the test began at this time.
    PhaseStarted {
        /// Its load.
        kind: PhaseKind,
        /// When.
        at: Time,
    },
    /// The test observed a value. Those that the machine uses are [`Metric::UdpRtt`], [`Metric::IcmpRtt`] and [`Metric::Goodput`].
    Observed {
        /// What of.
        metric: Metric,
        /// The direction, for metrics that have one.
        direction: Option<Direction>,
        /// The value. A probe's time is when it was sent.
        observation: Observation,
    },
    /// A phase of the test ended.
    PhaseEnded {
        /// Its load.
        kind: PhaseKind,
        /// Its duration.
        duration: Duration,
        /// It lasted as long as it should.
        is_complete: bool,
    },
    /// The test ended, with this of each phase.
    Measured(Vec<LoadSummary>),
    /// The test ended early, by no wish of the machine.
    MeasurementIncomplete,
    /// There was no test.
    MeasurementFailed,
    /// Trials of an earlier search, if there are any that still count.
    Recalled(Option<Knee>),
    /// The user wants an end.
    Stop,
}

/// Version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What a test showed in one phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadSummary {
    /// The load.
    pub kind: PhaseKind,
    /// Median latency above that of the idle phase, in s; `None` if no probe was answered.
    pub increase_s: Option<Bounded>,
    /// Goodput of each direction in bit/s.
    pub goodput_bits_per_second: PerDirection<Option<f64>>,
}

/// Counters at one time, since the shaper was made.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// The interface.
    pub interface: InterfaceCounters,
    /// The shaper of each direction that is shaped.
    pub shapers: PerDirection<Option<ShaperCounters>>,
    /// Packets that went through the shaper's qdisc outside of all its classes.
    pub unclassified_packets: u64,
    /// Each processor, where the system says.
    pub processors: Vec<ProcessorTime>,
}

/// Counters of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct InterfaceCounters {
    /// Bytes of each direction, with the headers that the interface sees.
    pub bytes: PerDirection<u64>,
    /// Size of a full frame with those headers, in bytes.
    pub full_frame_bytes: u64,
}

/// Counters of a shaper.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ShaperCounters {
    /// Bytes that left it, with the headers that the interface sees.
    pub sent_bytes: u64,
    /// Packets that left it.
    pub sent_packets: u64,
    /// Packets that it dropped.
    pub dropped_packets: u64,
    /// Packets that it marked with CE.
    pub marked_packets: u64,
    /// Times that it made a packet wait.
    pub overlimits: u64,
    /// Bytes in its queue.
    pub backlog_bytes: u64,
}

/// Time of one processor, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ProcessorTime {
    /// In interrupts and soft interrupts, where packets are processed.
    pub packets: u64,
    /// In all.
    pub total: u64,
}

/// Progress.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A test begins.
    Measuring(Purpose),
    /// Bytes of each packet beyond IP; `None` if they could not be measured.
    Overhead(Option<MeasuredOverhead>),
    /// A search begins.
    SearchStarted {
        /// Of this direction.
        direction: Direction,
        /// Trials of an earlier search that are reused.
        reused_trials: usize,
    },
    /// A trial begins.
    TrialStarted {
        /// Of the load.
        direction: Direction,
        /// The shaper's rate.
        rate: Rate,
    },
    /// A trial ended.
    TrialEnded {
        /// Of the load.
        direction: Direction,
        /// Its result.
        trial: Trial,
    },
    /// A knee was found.
    KneeFound {
        /// Of this direction.
        direction: Direction,
        /// Where it is.
        knee: Found,
    },
    /// A shaper of these rates is planned, to be verified.
    AttemptPrepared(PerDirection<Option<Rate>>),
    /// The checks of an attempt.
    Verified(Vec<ShaperCheck>),
    /// The shaper of a failed attempt was taken off.
    AttemptRolledBack,
}

/// Bytes of each packet on the line beyond IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasuredOverhead {
    /// The bytes.
    pub bytes: u16,
    /// How they are known.
    pub source: OverheadSource,
}

/// How the overhead is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverheadSource {
    /// Loads of two packet sizes.
    PacketSizes,
    /// The type of the interface.
    LinkType,
}

impl Counters {
    /// The largest share of its time that a processor spent on packets since `before`, 0 to 1.
    pub(super) fn busiest_processor(&self, before: &Counters) -> Option<f64> {
        let shares = before.processors.iter().zip(&self.processors).filter_map(|(first, last)| {
            let total = last.total.checked_sub(first.total).filter(|ticks| *ticks > 0)?;
            Some(last.packets.saturating_sub(first.packets) as f64 / total as f64)
        });
        shares.max_by(f64::total_cmp)
    }
    /// What went past the shaper since `before`.
    #[must_use]
    pub fn bypass(&self, before: &Counters) -> Vec<ShaperBypass> {
        super::detect_bypass(before, self)
    }
}

//! Inputs and outputs of the state machine.
use super::{Failure, Isolation, Outcome};
use crate::knee::{Found, Knee, Trial};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, PhaseKind, ShaperBypass, ShaperCheck};
use fathom_stats::Bounded;
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};

/// An output; outputs are ordered.
#[derive(Clone, PartialEq, Debug)]
pub enum Output {
    /// An action for the driver.
    Action(Action),
    /// Progress to report.
    Event(Event),
    /// The fix has ended; no output follows.
    Ended(Result<Outcome, Failure>),
}

/// An action for the driver. [`Input::ShaperFailed`] may answer any action on the shaper.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Plan a shaper with these rates and overhead and check that it can be undone, without
    /// changing anything. An interrupted fix is rolled back first. Answer: [`Input::Prepared`].
    Prepare {
        /// Rate of each shaped direction.
        rates: PerDirection<Option<Rate>>,
        /// Packet overhead beyond IP in bytes, if it was measured.
        overhead: Option<u16>,
    },
    /// Discard the prepared plan. No answer.
    Discard,
    /// Apply the prepared shaper. Answer: [`Input::Applied`]. On failure, the previous
    /// configuration is restored.
    Apply,
    /// Change the rates of the active shaper. No answer.
    SetRates(PerDirection<Option<Rate>>),
    /// Read the counters of the shaper and of the interface. Answer: [`Input::Counters`].
    ReadCounters,
    /// Remove the shaper. Answer: [`Input::RolledBack`].
    RollBack(RollBackReason),
    /// Keep the shaper, or restore the interface on failure. Answer: [`Input::Committed`].
    Commit,
    /// Run a test. Answer, after the inputs of its phases: [`Input::Measured`],
    /// [`Input::MeasurementIncomplete`] or [`Input::MeasurementFailed`].
    Measure(Measurement),
    /// End the running test early, because its result is known. No answer except that of the test.
    EndMeasurement,
    /// Load the trials of an interrupted search of this direction. Answer: [`Input::Recalled`].
    RecallTrials(Direction),
    /// Save the trials of the running search ([`super::Fix::search`]). No answer.
    StoreTrials(Direction),
    /// Delete the saved trials. No answer.
    ForgetTrials(Direction),
}

/// Why a shaper is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RollBackReason {
    /// The search has ended.
    SearchEnded,
    /// A check failed.
    NotVerified,
    /// The fix failed or was stopped.
    Failed,
}

/// A test with several phases.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// Purpose.
    pub purpose: Purpose,
    /// Phases in order. Between two loads the test waits until the queue has drained.
    pub phases: Vec<Phase>,
    /// Probe interval.
    pub probe_interval: Duration,
    /// Announced maximum segment size: payload and options. `None` leaves it to the path.
    pub segment_bytes: Option<u16>,
}

/// Purpose of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Measure the line without a shaper.
    Baseline,
    /// Measure packet overhead, with one of two packet sizes.
    Overhead,
    /// Search the knee of a direction.
    Search(Direction),
    /// Verify the shaper.
    Verification,
}

/// A phase of a test. It lasts at least `min`, then until latency is stable, and at most `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phase {
    /// Kind of load.
    pub kind: PhaseKind,
    /// Minimum duration.
    pub min: Duration,
    /// Maximum duration.
    pub max: Duration,
}

/// A report of the driver.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// The shaper was planned, with this isolation.
    Prepared(Isolation),
    /// The shaper is active.
    Applied,
    /// Current counters.
    Counters(Counters),
    /// The previous configuration was restored.
    RolledBack,
    /// The shaper stays active.
    Committed,
    /// The last action on the shaper failed.
    ShaperFailed,
    /// The test reached its server with this IP version.
    Connected(IpVersion),
    /// A phase of the test started.
    PhaseStarted {
        /// Kind of load.
        kind: PhaseKind,
        /// Start time.
        at: Time,
    },
    /// The test observed a value. The state machine uses [`Metric::UdpRtt`], [`Metric::IcmpRtt`]
    /// and [`Metric::Goodput`].
    Observed {
        /// The metric.
        metric: Metric,
        /// The direction, if the metric has one.
        direction: Option<Direction>,
        /// The value. For a probe, the time is its send time.
        observation: Observation,
    },
    /// A phase of the test ended.
    PhaseEnded {
        /// Kind of load.
        kind: PhaseKind,
        /// Its duration.
        duration: Duration,
        /// It reached its intended duration.
        is_complete: bool,
    },
    /// The test ended, with a summary of each phase.
    Measured(Vec<LoadSummary>),
    /// The test ended early, not because the state machine requested it.
    MeasurementIncomplete,
    /// The test could not be made.
    MeasurementFailed,
    /// Trials of an earlier search, if there are valid ones.
    Recalled(Option<Knee>),
    /// The user stops the fix.
    Stop,
}

/// IP version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// Summary of one phase of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadSummary {
    /// Kind of load.
    pub kind: PhaseKind,
    /// Median latency minus that of the idle phase, in s; `None` if no probe was answered.
    pub increase_s: Option<Bounded>,
    /// Goodput of each direction in bit/s.
    pub goodput_bits_per_second: PerDirection<Option<f64>>,
}

/// Counters since the shaper was created.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// Counters of the interface.
    pub interface: InterfaceCounters,
    /// Counters of the shaper in each shaped direction.
    pub shapers: PerDirection<Option<ShaperCounters>>,
    /// Packets that passed through the shaper's qdisc but none of its classes.
    pub unclassified_packets: u64,
    /// Time of each CPU, if available.
    pub processors: Vec<ProcessorTime>,
}

/// Counters of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct InterfaceCounters {
    /// Bytes in each direction, with the headers that the interface sees.
    pub bytes: PerDirection<u64>,
    /// Size of a full-size frame with those headers, in bytes.
    pub full_frame_bytes: u64,
}

/// Counters of a shaper.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ShaperCounters {
    /// Bytes sent, with the headers that the interface sees.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Packets marked CE.
    pub marked_packets: u64,
    /// Number of times that it delayed a packet.
    pub overlimits: u64,
    /// Bytes in its queue.
    pub backlog_bytes: u64,
}

/// Time of one CPU, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ProcessorTime {
    /// Time in interrupts and soft interrupts, where packets are processed.
    pub packets: u64,
    /// Total time.
    pub total: u64,
}

/// Progress.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A test starts.
    Measuring(Purpose),
    /// Packet overhead beyond IP in bytes; `None` if it could not be measured.
    Overhead(Option<MeasuredOverhead>),
    /// A search starts.
    SearchStarted {
        /// Direction of the search.
        direction: Direction,
        /// Number of reused trials of an earlier search.
        reused_trials: usize,
    },
    /// A trial starts.
    TrialStarted {
        /// Direction of the load.
        direction: Direction,
        /// Rate of the shaper.
        rate: Rate,
    },
    /// A trial ended.
    TrialEnded {
        /// Direction of the load.
        direction: Direction,
        /// Result.
        trial: Trial,
    },
    /// A knee was found.
    KneeFound {
        /// Direction of the search.
        direction: Direction,
        /// The knee.
        knee: Found,
    },
    /// A shaper with these rates was planned and will be verified.
    AttemptPrepared(PerDirection<Option<Rate>>),
    /// The checks of an attempt are complete.
    Verified(Vec<ShaperCheck>),
    /// The shaper of a failed attempt was removed.
    AttemptRolledBack,
}

/// Packet overhead of the line beyond IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasuredOverhead {
    /// Overhead in bytes.
    pub bytes: u16,
    /// How it was determined.
    pub source: OverheadSource,
}

/// How the overhead was determined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverheadSource {
    /// By loads with two packet sizes.
    PacketSizes,
    /// From the interface type.
    LinkType,
}

impl Counters {
    /// Largest share of its time that any CPU spent processing packets since `before`, 0 to 1.
    pub(super) fn busiest_processor(&self, before: &Counters) -> Option<f64> {
        let shares = before.processors.iter().zip(&self.processors).filter_map(|(first, last)| {
            let total = last.total.checked_sub(first.total).filter(|ticks| *ticks > 0)?;
            Some(last.packets.saturating_sub(first.packets) as f64 / total as f64)
        });
        shares.max_by(f64::total_cmp)
    }
    /// Traffic that bypassed the shaper since `before`.
    #[must_use]
    pub fn bypass(&self, before: &Counters) -> Vec<ShaperBypass> {
        super::detect_bypass(before, self)
    }
}

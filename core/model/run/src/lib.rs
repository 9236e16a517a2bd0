//! Data model of measurements and conclusions: the metric registry, [`Observation`]s, the [`Run`]
//! that every source produces, scores, and [`Finding`]s.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod bounded;
mod burst;
mod capture;
mod check;
mod datagrams;
mod finding;
mod host_traffic;
mod local;
mod measure;
mod note;
mod path;
mod protocol_timer;
mod registry;
mod run;
mod score;
mod switch;
pub mod threshold;
mod timing;
mod variation;

pub use burst::Burst;
pub use capture::{
    Capture, CaptureDefect, CaptureSource, CapturedAnswers, CapturedFlow, CapturedHop, CapturedProbes,
    CapturedQueue, CapturedSide, DatagramFlow, DatagramLoad, DelayAtLoss, DelayPercentiles, DelayedFlows,
    DelayedParty, Estimate, FlowShare, FrameCount, HopDelay, IpMarking, Limits, ManagementEstimate,
    PartDelay, PartDirection, PathPart, ProbeKind, ProbedDelay, QueueAlternative, QueueManagement,
    QueuePlace, Remarking, Retransmissions, RoundTrips, Swing, UnknownQueue, UnknownReason, VlanCount,
};
pub use check::RunError;
pub use datagrams::DatagramLog;
pub use finding::*;
pub use host_traffic::{HostTraffic, Process, ProgramTraffic};
pub use local::{is_local_address, is_local_host};
pub use measure::{Measure, MeasureError, Statistic};
pub use note::{Fact, Interruption, NotSent, Note, Unrecorded};
pub use path::{AutonomousSystem, FirstLink, Hop, Path};
pub use protocol_timer::{ProtocolTimer, TimerScope};
pub use registry::{Metric, MetricInfo};
pub use run::{
    History, Host, Instrument, Load, OLDEST_SCHEMA_VERSION, Observation, Phase, PhaseEnd, PhaseKind, Run,
    SCHEMA_VERSION, Series, SeriesKey, UtcOffset, Value,
};
pub use score::{
    Aim, BUFFER_DELAY, Call, Game, Grade, Missing, PAGE_BYTES, PAGE_ROUND_TRIPS, Requirement, Rpm, SCORES,
    Score, ScoreInfo, TCP_EFFICIENCY, buffer_delay_percent, page_load_s, reference_page,
    tcp_efficiency_percent,
};
pub use switch::{PauseCounts, PortStream, PortTest, PortTestKind, Spacing, Switch, SwitchPort};
pub use timing::Timings;
pub use variation::{delay_variation_s, interarrival_jitter_s, variation_series};

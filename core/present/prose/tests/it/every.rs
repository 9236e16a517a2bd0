//! Examples of every variant of the types that prose puts into words.
use fathom_run::{
    Alternative, BoundCause, CaptureDefect, Caution, ConflictCause, CpuCause, Criterion, DayGroup,
    DelayedParty, Game, InstrumentEffect, InstrumentPart, Interruption, LinkUse, LocationProblem,
    ManagementRule, Metric, NotSent, Note, PartDirection, PathPart, PhaseEnd, PhaseKind, ProbeKind,
    QueueAlternative, QueueManagement, QueuePlace, Reason, Remedy, ShaperBypass, ShaperLimit, TrafficSource,
    UnknownQueue, UnknownReason, Unrecorded,
};
use fathom_units::Direction;

/// A function that returns one or more examples of each variant. Its match has no wildcard: a new
/// variant does not compile until it has an example here.
macro_rules! every {
    ($($name:ident: $type:ty { $($pattern:pat => $($example:expr),+;)+ })+) => {$(
        pub(crate) fn $name() -> Vec<$type> {
            let _covered = |one: &$type| match one { $($pattern => ()),+ };
            vec![$($($example),+),+]
        }
    )+};
}

const BUSY: CpuCause = CpuCause::Busy;
const STOLEN: CpuCause = CpuCause::Stolen;

fn captures() -> [String; 2] {
    ["snd.pcap", "rcv.pcap"].map(String::from)
}

fn message() -> String {
    "EPERM".into()
}

fn unknown() -> UnknownQueue {
    UnknownQueue { flow: 7, reason: UnknownReason::TooFewRoundTrips }
}

fn other_traffic(source: Option<TrafficSource>) -> Reason {
    Reason::OtherTraffic { increase_p50_s: 0.41, increase_p90_s: 0.98, source }
}

fn line_in_use(program: Option<&str>, direction: Direction) -> Reason {
    Reason::LineInUse { program: program.map(String::from), direction, bits_per_second: 2.9e6 }
}

every! {
    phases: PhaseKind {
        PhaseKind::Idle => PhaseKind::Idle;
        PhaseKind::Down => PhaseKind::Down;
        PhaseKind::Up => PhaseKind::Up;
        PhaseKind::Both => PhaseKind::Both;
        PhaseKind::Drain => PhaseKind::Drain;
        PhaseKind::Watch => PhaseKind::Watch;
    }
    location_problems: LocationProblem {
        LocationProblem::SilentHops => LocationProblem::SilentHops;
        LocationProblem::PathChanged => LocationProblem::PathChanged;
        LocationProblem::Inconsistent => LocationProblem::Inconsistent;
    }
    games: Game {
        Game::All => Game::All;
        Game::ThirdPerson => Game::ThirdPerson;
        Game::FromAbove => Game::FromAbove;
        Game::ByTurns => Game::ByTurns;
    }
    traffic_sources: Option<TrafficSource> {
        None => None;
        Some(TrafficSource::OtherDevices) => Some(TrafficSource::OtherDevices);
        Some(TrafficSource::Program { .. }) => Some(TrafficSource::Program { name: "rsync".into() });
    }
    reasons: Reason {
        Reason::NoAnswers => Reason::NoAnswers;
        Reason::NotMeasured => Reason::NotMeasured;
        Reason::NoIdleLatency => Reason::NoIdleLatency;
        Reason::NotLoaded => Reason::NotLoaded;
        Reason::BelowCapacity => Reason::BelowCapacity;
        Reason::NothingDelivered => Reason::NothingDelivered;
        Reason::NoQueueFilled => Reason::NoQueueFilled;
        Reason::UnknownDirection => Reason::UnknownDirection;
        Reason::RepliesLimited => Reason::RepliesLimited;
        Reason::ConnectionBroken { .. } => Reason::ConnectionBroken { phase: PhaseKind::Down, loss_ratio: 0.62 };
        Reason::Late { .. } =>
            Reason::Late { part: InstrumentPart::ProbeTimer, lateness_p95_s: 0.06, increase_s: 0.08 },
            Reason::Late { part: InstrumentPart::ProbeSending, lateness_p95_s: 0.06, increase_s: 0.08 },
            Reason::Late { part: InstrumentPart::EmulatedLine, lateness_p95_s: 0.06, increase_s: 0.08 };
        Reason::CpuExplains { .. } =>
            Reason::CpuExplains { cause: BUSY, cpu_ratio: 0.97, increase_s: 0.08 },
            Reason::CpuExplains { cause: STOLEN, cpu_ratio: 0.97, increase_s: 0.08 };
        Reason::CpuLimited { .. } =>
            Reason::CpuLimited { cause: BUSY, cpu_ratio: 0.97, phase: PhaseKind::Down },
            Reason::CpuLimited { cause: STOLEN, cpu_ratio: 0.97, phase: PhaseKind::Down };
        Reason::ReceiverLimited { .. } =>
            Reason::ReceiverLimited { direction: Direction::Up, limited_ratio: 0.93 },
            Reason::ReceiverLimited { direction: Direction::Down, limited_ratio: 0.93 };
        Reason::SenderLimited => Reason::SenderLimited;
        Reason::SenderIdle => Reason::SenderIdle;
        Reason::ProbesLeftOut { .. } => Reason::ProbesLeftOut { left_out_ratio: 0.3 };
        Reason::UnknownLoad { .. } => Reason::UnknownLoad { increase_p50_s: 0.07, increase_p90_s: 0.4 };
        Reason::OtherTraffic { .. } => other_traffic(None), other_traffic(Some(TrafficSource::OtherDevices));
        Reason::LineInUse { .. } => line_in_use(None, Direction::Down),
            line_in_use(Some("rsync"), Direction::Up);
        Reason::NoTcp => Reason::NoTcp;
        Reason::NoProbes { .. } => Reason::NoProbes {
            from: "10.7.0.1:40000".into(), to: "10.7.0.2:5001".into(), bits_per_second: 3.3e6 };
        Reason::NeverIdle { .. } => Reason::NeverIdle {
            from: "10.7.0.1:40000".into(), to: "10.7.0.2".into(), rtt_p50_s: 0.932 };
        Reason::NoQueueSeen { .. } => Reason::NoQueueSeen { flows: 1 }, Reason::NoQueueSeen { flows: 3 };
    }
    parts: InstrumentPart {
        InstrumentPart::ProbeTimer => InstrumentPart::ProbeTimer;
        InstrumentPart::ProbeSending => InstrumentPart::ProbeSending;
        InstrumentPart::EmulatedLine => InstrumentPart::EmulatedLine;
    }
    alternatives: Alternative {
        Alternative::OtherDirection => Alternative::OtherDirection;
        Alternative::PacketLimit => Alternative::PacketLimit;
        Alternative::ManagedLargerBuffer => Alternative::ManagedLargerBuffer;
        Alternative::SmallBuffer => Alternative::SmallBuffer;
        Alternative::LossWithoutCongestion => Alternative::LossWithoutCongestion;
        Alternative::ManagedAtThisLength => Alternative::ManagedAtThisLength;
        Alternative::WindowLimited => Alternative::WindowLimited;
        Alternative::EcnMarking => Alternative::EcnMarking;
        Alternative::LoadLimitedElsewhere => Alternative::LoadLimitedElsewhere;
        Alternative::SharedMedium => Alternative::SharedMedium;
        Alternative::LongPath => Alternative::LongPath;
        Alternative::Outage => Alternative::Outage;
        Alternative::LackOfCpu => Alternative::LackOfCpu;
        Alternative::LateProbes => Alternative::LateProbes;
        Alternative::PathNeverEmpty => Alternative::PathNeverEmpty;
        Alternative::NeverFull => Alternative::NeverFull;
        Alternative::SlowResolver => Alternative::SlowResolver;
        Alternative::SpinBitUnreliable => Alternative::SpinBitUnreliable;
        Alternative::Captured(_) => Alternative::Captured(QueueAlternative::ArrivedElsewhere);
    }
    queue_alternatives: QueueAlternative {
        QueueAlternative::UnsteadyClock { .. } => QueueAlternative::UnsteadyClock {
            host: "10.7.0.1".into(),
            hertz: 1000.0,
            packets: 43_141,
            error_s: 0.0012,
        };
        QueueAlternative::AcknowledgedElsewhere => QueueAlternative::AcknowledgedElsewhere;
        QueueAlternative::ArrivedElsewhere => QueueAlternative::ArrivedElsewhere;
        QueueAlternative::SenderOrNextHop => QueueAlternative::SenderOrNextHop;
        QueueAlternative::Text { .. } => QueueAlternative::Text { text: "{text of an old file}".into() };
    }
    unknowns: UnknownReason {
        UnknownReason::NoQueue { .. } => UnknownReason::NoQueue { p95_s: 0.0042, error_s: 0.0013 };
        UnknownReason::SeveralParts { .. } => UnknownReason::SeveralParts {
            parts: [PartDirection::FromCapture, PartDirection::ToCapture]
                .map(|direction| PathPart { host: "10.7.0.2".into(), direction }),
        };
        UnknownReason::TooFewRoundTrips => UnknownReason::TooFewRoundTrips;
        UnknownReason::NoTimestamps => UnknownReason::NoTimestamps;
        UnknownReason::TooFewTicks { .. } => UnknownReason::TooFewTicks { ticks: 7.0, duration_s: 0.3 };
        UnknownReason::RestartedClock { .. } => UnknownReason::RestartedClock { frame: 1234 };
        UnknownReason::AmbiguousClock { .. } => UnknownReason::AmbiguousClock { min_hertz: 250.0, max_hertz: 1000.0 };
        UnknownReason::UncertainClock { .. } => UnknownReason::UncertainClock { error_s: 0.004, variation_s: 0.012 };
        UnknownReason::AcksQueued => UnknownReason::AcksQueued;
        UnknownReason::NothingSeen => UnknownReason::NothingSeen;
        UnknownReason::Text { .. } => UnknownReason::Text { text: "{text of an old file}".into() };
    }
    effects: InstrumentEffect {
        InstrumentEffect::Incomplete { .. } => InstrumentEffect::Incomplete { why: Interruption::Stopped };
        InstrumentEffect::Late { .. } =>
            InstrumentEffect::Late { part: InstrumentPart::ProbeTimer, lateness_p95_s: 0.012 };
        InstrumentEffect::LackOfCpu { .. } =>
            InstrumentEffect::LackOfCpu { cause: BUSY, cpu_ratio: 0.97 },
            InstrumentEffect::LackOfCpu { cause: STOLEN, cpu_ratio: 0.12 };
        InstrumentEffect::FewKernelTimestamps { .. } =>
            InstrumentEffect::FewKernelTimestamps { kernel_timestamp_ratio: 0.4 };
        InstrumentEffect::ClockStepped { .. } => InstrumentEffect::ClockStepped { largest_s: 3.5 };
        InstrumentEffect::ProbesNotSent { .. } => InstrumentEffect::ProbesNotSent {
            not_sent_packets: 17,
            due_packets: 1_200,
            why: NotSent::BufferFull,
        };
        InstrumentEffect::CaptureDefect { .. } =>
            InstrumentEffect::CaptureDefect { source: "snd.pcap".into(), defect: CaptureDefect::Empty };
        InstrumentEffect::Undetermined { .. } => InstrumentEffect::Undetermined { unknown: unknown() };
        InstrumentEffect::CaptureClockSet { .. } => InstrumentEffect::CaptureClockSet { captures: captures() };
        InstrumentEffect::CaptureMissed { .. } =>
            InstrumentEffect::CaptureMissed { captures: captures(), missed_packets: 3 };
        InstrumentEffect::CaptureAppeared { .. } =>
            InstrumentEffect::CaptureAppeared { captures: captures(), appeared_packets: 3 };
        InstrumentEffect::CaptureUnjudged { .. } =>
            InstrumentEffect::CaptureUnjudged { captures: captures(), unjudged_packets: 3 };
        InstrumentEffect::Translated { .. } => InstrumentEffect::Translated { captures: captures(), flow_count: 2 };
    }
    interruptions: Interruption {
        Interruption::Stopped => Interruption::Stopped;
        Interruption::ServerSilent { .. } =>
            Interruption::ServerSilent { server: "far.example".into(), waited_s: 5.0 };
        Interruption::NoReports { .. } =>
            Interruption::NoReports { server: "far.example".into(), waited_s: 5.0 };
        Interruption::SessionEnded { .. } =>
            Interruption::SessionEnded { server: "far.example".into(), message: message() };
        Interruption::NoFlowLeft { .. } =>
            Interruption::NoFlowLeft { direction: Direction::Up, message: message() };
        Interruption::ProbingFailed => Interruption::ProbingFailed;
        Interruption::CaptureUnreadable { .. } =>
            Interruption::CaptureUnreadable { capture: "up.pcap".into(), message: message() };
        Interruption::Text { .. } => Interruption::Text { text: "{text of an old file}".into() };
    }
    not_sent: NotSent {
        NotSent::NotRunInTime => NotSent::NotRunInTime;
        NotSent::TooManyConnections => NotSent::TooManyConnections;
        NotSent::NotConnected => NotSent::NotConnected;
        NotSent::BufferFull => NotSent::BufferFull;
        NotSent::NoRoute => NotSent::NoRoute;
        NotSent::System(_) => NotSent::System("ENOBUFS".into());
    }
    notes: Note {
        Note::CoarseTimers { .. } => Note::CoarseTimers { message: message() };
        Note::ProbesUnavailable { .. } =>
            Note::ProbesUnavailable { metric: Metric::IcmpRtt, message: message() },
            Note::ProbesUnavailable { metric: Metric::HttpForeign, message: message() };
        Note::ProbesUnanswered { .. } =>
            Note::ProbesUnanswered { metric: Metric::UdpRtt, sent_packets: 1_200 },
            Note::ProbesUnanswered { metric: Metric::TcpConnect, sent_packets: 1_200 },
            Note::ProbesUnanswered { metric: Metric::HttpKept, sent_packets: 1_200 };
        Note::ProbeConnectionFailed { .. } => Note::ProbeConnectionFailed { message: message() };
        Note::PersistentConnectionBroke { .. } => Note::PersistentConnectionBroke { message: message() };
        Note::PhaseLeftOut { .. } => Note::PhaseLeftOut { phase: PhaseKind::Both };
        Note::LongPacketsLost { .. } => Note::LongPacketsLost { ip_bytes: 1_428, passed_ip_bytes: 728 };
        Note::QueueNotEmpty { .. } => Note::QueueNotEmpty { phase: PhaseKind::Both, waited_s: 24.6 };
        Note::ServerByteLimit { .. } => Note::ServerByteLimit { limit_ratio: 0.98, payload_bytes: 980_000_000 };
        Note::ServerTimeLimit { .. } => Note::ServerTimeLimit { limit_s: 60.0, needed_s: 130.0 };
        Note::ServerShared { .. } => Note::ServerShared { sessions: 2 };
        Note::OtherServer { .. } =>
            Note::OtherServer { protocol: "HTTP".into(), takes_uploads: true },
            Note::OtherServer { protocol: "HTTP".into(), takes_uploads: false };
        Note::NotRecorded { .. } => Note::NotRecorded {
            tool: "ping".into(),
            what: Vec::from([
                Unrecorded::Load,
                Unrecorded::Probes,
                Unrecorded::OneWayDelays,
                Unrecorded::SendTimes,
                Unrecorded::SingleRoundTrips,
                Unrecorded::ReceivedRates,
            ]),
        };
        Note::NoLoad { .. } => Note::NoLoad { protocol: "irtt".into() };
        Note::NoUploads => Note::NoUploads;
        Note::ThroughNat64 => Note::ThroughNat64;
        Note::ServerInterval { .. } => Note::ServerInterval { interval_s: 0.1 };
        Note::SecondHello => Note::SecondHello;
        Note::CongestionControlUnavailable { .. } =>
            Note::CongestionControlUnavailable { requested: "bbr".into() };
        Note::CongestionControlReplaced { .. } =>
            Note::CongestionControlReplaced { requested: "bbr".into(), used: "cubic".into() };
        Note::CongestionControlNotSimulated { .. } =>
            Note::CongestionControlNotSimulated { requested: "vegas".into() };
        Note::FlowFailed { .. } => Note::FlowFailed { direction: Direction::Up, message: message() };
        Note::ClockStepped { .. } => Note::ClockStepped { step_s: -3.5 };
        Note::MalformedPackets { .. } => Note::MalformedPackets { packets: 1 };
        Note::RefusedPackets { .. } => Note::RefusedPackets { packets: 12 };
        Note::LostWhileDown { .. } => Note::LostWhileDown { packets: 12 };
        Note::DroppedBeforeLine { .. } => Note::DroppedBeforeLine { packets: 12 };
        Note::LineBursts { .. } => Note::LineBursts { paced_bits_per_second: 1_000_000_000 };
        Note::LinePriority { .. } => Note::LinePriority { priority: "nice -20".into() };
        Note::NoIpv6 { .. } => Note::NoIpv6 { message: message() };
        Note::SettingRefused { .. } => Note::SettingRefused {
            setting: "net.ipv4.tcp_ecn".into(),
            value: "1".into(),
            message: message(),
        };
        Note::WorkloadEndedEarly { .. } =>
            Note::WorkloadEndedEarly { workload: "web".into(), message: message() };
        Note::WorkloadLacksFlow { .. } => Note::WorkloadLacksFlow { workload: "web".into(), message: message() };
        Note::ConnectionRefused { .. } => Note::ConnectionRefused { message: message() };
        Note::DatagramsCutShort { .. } => Note::DatagramsCutShort { message: message() };
        Note::Text { .. } => Note::Text { text: "{text of an old file}".into() };
    }
    defects: CaptureDefect {
        CaptureDefect::Empty => CaptureDefect::Empty;
        CaptureDefect::NoIp { .. } => CaptureDefect::NoIp { frames: 12 };
        CaptureDefect::DroppedFrames { .. } => CaptureDefect::DroppedFrames { dropped_frames: 3, frames: 12 };
        CaptureDefect::CutHeaders { .. } => CaptureDefect::CutHeaders { frames: 1, stored_bytes: 85 };
        CaptureDefect::ClockStepsBack { .. } =>
            CaptureDefect::ClockStepsBack { count: 2, max_ns: 1_000_000_000, frame: 2 };
        CaptureDefect::ClockSet { .. } =>
            CaptureDefect::ClockSet { count: 3, max_ns: 1_800_000_002_000_000_000, frame: 6 };
        CaptureDefect::CoarseClock { .. } => CaptureDefect::CoarseClock { step_ns: 1_500_000 };
        CaptureDefect::Gaps { .. } => CaptureDefect::Gaps { count: 1, max_ns: 196_010_999_998, frame: 6 };
        CaptureDefect::SuperPackets { .. } => CaptureDefect::SuperPackets { packets: 9, max_bytes: 64_000 };
        CaptureDefect::Duplicates { .. } =>
            CaptureDefect::Duplicates { packets: 9, is_estimate: true },
            CaptureDefect::Duplicates { packets: 1, is_estimate: false };
        CaptureDefect::Encrypted { .. } => CaptureDefect::Encrypted { frames: 12 };
        CaptureDefect::UnknownLinkType { .. } => CaptureDefect::UnknownLinkType { link_type: 147, frames: 12 };
        CaptureDefect::Untimed { .. } => CaptureDefect::Untimed { frames: 1 };
        CaptureDefect::OneDirection { .. } =>
            CaptureDefect::OneDirection { flows: 4, all_flows: 4, from: Some("10.7.0.1".into()), to: Some("10.7.0.2".into()) },
            CaptureDefect::OneDirection { flows: 1, all_flows: 1, from: Some("10.7.0.1".into()), to: None },
            CaptureDefect::OneDirection { flows: 2, all_flows: 3, from: None, to: None };
        CaptureDefect::MissedData { .. } =>
            CaptureDefect::MissedData { bytes: 2_000_000, ratio: 0.2, flows: 2, all_flows: 3 };
        CaptureDefect::Unreadable { .. } => CaptureDefect::Unreadable { message: "{error}".into() };
        CaptureDefect::Text { .. } => CaptureDefect::Text { text: "{text of an old file}".into() };
    }
    rules: ManagementRule {
        ManagementRule::TailDrop => ManagementRule::TailDrop;
        ManagementRule::HeadDrop => ManagementRule::HeadDrop;
        ManagementRule::Red => ManagementRule::Red;
        ManagementRule::Codel => ManagementRule::Codel;
        ManagementRule::Pie => ManagementRule::Pie;
        ManagementRule::FairQueueing => ManagementRule::FairQueueing;
        ManagementRule::Policer => ManagementRule::Policer;
        ManagementRule::KeptShort => ManagementRule::KeptShort;
        ManagementRule::NeverDropped => ManagementRule::NeverDropped;
        ManagementRule::NoneSeen => ManagementRule::NoneSeen;
    }
    managements: QueueManagement {
        QueueManagement::TailDrop => QueueManagement::TailDrop;
        QueueManagement::Red => QueueManagement::Red;
        QueueManagement::Codel => QueueManagement::Codel;
        QueueManagement::FairQueueing => QueueManagement::FairQueueing;
        QueueManagement::NoneSeen => QueueManagement::NoneSeen;
    }
    places: QueuePlace {
        QueuePlace::InSender => QueuePlace::InSender;
        QueuePlace::BeforeCapture => QueuePlace::BeforeCapture;
        QueuePlace::AfterCapture => QueuePlace::AfterCapture;
        QueuePlace::RoundTrip => QueuePlace::RoundTrip;
    }
    probe_kinds: ProbeKind {
        ProbeKind::Echo => ProbeKind::Echo;
        ProbeKind::Dns => ProbeKind::Dns;
        ProbeKind::QuicHandshake => ProbeKind::QuicHandshake;
        ProbeKind::QuicSpin => ProbeKind::QuicSpin;
    }
    parties: DelayedParty {
        DelayedParty::Flow { .. } =>
            DelayedParty::Flow { number: 3, ends: Some(["10.7.0.1:50222", "10.7.0.2:22"].map(String::from)) },
            DelayedParty::Flow { number: 3, ends: None };
        DelayedParty::Datagrams { .. } =>
            DelayedParty::Datagrams { from: "10.7.0.1:4000".into(), to: "10.7.0.2:4000".into() };
        DelayedParty::ShortFlows { .. } =>
            DelayedParty::ShortFlows { count: 1 }, DelayedParty::ShortFlows { count: 12 };
    }
    bounds: BoundCause {
        BoundCause::StillGrowing { .. } =>
            BoundCause::StillGrowing { end: PhaseEnd::TimeLimit, middle_p50_s: 0.4, last_p50_s: 0.7 },
            BoundCause::StillGrowing { end: PhaseEnd::ByteLimit, middle_p50_s: 0.4, last_p50_s: 0.7 },
            BoundCause::StillGrowing { end: PhaseEnd::Aborted, middle_p50_s: 0.4, last_p50_s: 0.7 };
        BoundCause::NotReached { .. } => BoundCause::NotReached { increase_p90_s: 0.002 };
    }
    day_groups: DayGroup {
        DayGroup::All => DayGroup::All;
        DayGroup::Working => DayGroup::Working;
        DayGroup::Weekend => DayGroup::Weekend;
        DayGroup::Weekday(_) => DayGroup::Weekday(0);
    }
    link_uses: LinkUse {
        LinkUse::Idle => LinkUse::Idle;
        LinkUse::Busy => LinkUse::Busy;
        LinkUse::Unknown => LinkUse::Unknown;
    }
    bypasses: ShaperBypass {
        ShaperBypass::Unshaped { .. } =>
            ShaperBypass::Unshaped { direction: Direction::Down, interface_bytes: 51_000_000, shaped_bytes: 12_000_000 };
        ShaperBypass::Unclassified { .. } => ShaperBypass::Unclassified { unclassified_packets: 17 };
    }
    criteria: Criterion {
        Criterion::Latency { .. } =>
            Criterion::Latency { increase_p50_s: Some(0.0038), limit_s: 0.0074 },
            Criterion::Latency { increase_p50_s: None, limit_s: 0.0074 };
        Criterion::Goodput { .. } => Criterion::Goodput {
            before_bits_per_second: 9.4e6,
            after_bits_per_second: 9.1e6,
            required_ratio: 0.75,
        };
        Criterion::Bottleneck { .. } => Criterion::Bottleneck {
            direction: Direction::Down,
            throughput_ratio: 0.98,
            min_ratio: 0.5,
            max_ratio: 1.03,
            held_packets: 412,
        };
        Criterion::Bypass { .. } =>
            Criterion::Bypass { shaped_ratio: None, min_ratio: 0.95, bypasses: Vec::new() },
            Criterion::Bypass { shaped_ratio: Some(0.235), min_ratio: 0.95, bypasses: Vec::new() };
        Criterion::Processor { .. } => Criterion::Processor { busy_ratio: 0.97, max_ratio: 0.9 };
    }
    conflicts: ConflictCause {
        ConflictCause::NoDefaultRoute { .. } =>
            ConflictCause::NoDefaultRoute { default_routes: vec!["wan".into(), "ppp0".into()] };
        ConflictCause::Offload { .. } => ConflictCause::Offload { connection_count: 2 };
        ConflictCause::HardwareOffload => ConflictCause::HardwareOffload;
        ConflictCause::NetworkManager { .. } =>
            ConflictCause::NetworkManager { file: "/etc/NetworkManager/home.nmconnection".into() };
        ConflictCause::Networkd { .. } =>
            ConflictCause::Networkd { file: "/etc/systemd/network/10.network".into() };
        ConflictCause::SqmScripts => ConflictCause::SqmScripts;
        ConflictCause::Bypass { .. } =>
            ConflictCause::Bypass { bypass: bypasses().remove(0) },
            ConflictCause::Bypass { bypass: bypasses().remove(1) };
        ConflictCause::NoTraffic => ConflictCause::NoTraffic;
    }
    cautions: Option<Caution> {
        None => None;
        Some(Caution::LinkGoesDown) => Some(Caution::LinkGoesDown);
        Some(Caution::OnlyLinkOfHost) => Some(Caution::OnlyLinkOfHost);
    }
    limits: ShaperLimit {
        ShaperLimit::SlowLink { .. } => ShaperLimit::SlowLink { rate_bits_per_second: 98e3, packet_s: 0.122 };
        ShaperLimit::ManyFlows { .. } =>
            ShaperLimit::ManyFlows { flow_count: 35, rate_bits_per_second: 704e3, windows_s: 1.19 };
        ShaperLimit::VaryingRate { .. } =>
            ShaperLimit::VaryingRate { low_bits_per_second: 1.3e6, mean_bits_per_second: 4.2e6 };
    }
    remedies: Remedy {
        Remedy::Shape { .. } =>
            Remedy::shape_at_unknown_rate(None),
            Remedy::shape(None, 10e6);
        Remedy::DoNotShape { .. } =>
            Remedy::DoNotShape { direction: Direction::Up, cause: limits().remove(0) },
            Remedy::DoNotShape { direction: Direction::Down, cause: limits().remove(1) },
            Remedy::DoNotShape { direction: Direction::Down, cause: limits().remove(2) };
        Remedy::UseQuietMachine => Remedy::UseQuietMachine;
        Remedy::LoadLonger => Remedy::LoadLonger;
        Remedy::Run { .. } =>
            Remedy::Run { command: "COMMAND".into(), undo: "UNDO".into(), caution: cautions()[1] },
            Remedy::Run { command: "COMMAND".into(), undo: "UNDO".into(), caution: cautions()[2] };
        Remedy::ReplaceLeafQdiscs { .. } =>
            Remedy::ReplaceLeafQdiscs { interface: "eth0".into(), qdisc: "pfifo".into() };
        Remedy::DeleteFlowTables => Remedy::DeleteFlowTables;
        Remedy::SpreadReceiveWork => Remedy::SpreadReceiveWork;
        Remedy::ReplaceWifiCard => Remedy::ReplaceWifiCard;
    }
}

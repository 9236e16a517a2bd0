//! The rows of the tables, for text and HTML alike.
use crate::Style;
use crate::curve::phase_name;
use crate::quantity::{Quantity, Unit, at_least};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{
    ApplicationMeasure, ApplicationStatistics, ClassSummary, Diagnosis, PhaseProbes, PhaseSummary,
    ProbeStatistics, load_loss_ratio,
};
use fathom_run::{Fact, Metric, Missing, Phase, PhaseKind, Run, Score, SeriesKey};
use fathom_stats::Bounded;
use fathom_text::{milliseconds_bare, percent, thousands};
use fathom_units::{Direction, Ecn};

/// Headings of [`phase_cells`].
pub(crate) const PHASE_HEADINGS: [&str; 10] =
    ["phase", "down", "up", "p50", "p90", "p99", "max", "loss", "RPM", "grade"];
/// Their units.
pub(crate) const PHASE_UNITS: [&str; 10] = ["", "Mbit/s", "Mbit/s", "ms", "ms", "ms", "ms", "", "1/min", ""];

/// `0.30`, `2.87`, `19.1`, `940`, `2,340`.
fn three_digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => thousands(v),
    }
}

/// A cell of milliseconds that may be a lower bound.
fn bounded(value: Bounded, style: Style) -> String {
    format!("{}{}", if value.at_least { at_least(style) } else { "" }, milliseconds_bare(value.value))
}

/// One row of the table of phases; a dash where nothing was measured.
pub(crate) fn phase_cells(phase: &PhaseSummary, style: Style) -> [String; 10] {
    let dash = || String::from("-");
    let megabits = |g: Option<f64>| g.map_or_else(dash, |g| three_digits(g / 1e6));
    let latency = |pick: fn(&fathom_stats::Summary) -> Bounded| {
        phase.latency.as_ref().map_or_else(dash, |l| bounded(pick(l), style))
    };
    [
        phase_name(phase.kind).to_string(),
        megabits(phase.goodput_down_bits_per_second),
        megabits(phase.goodput_up_bits_per_second),
        latency(|l| l.p50),
        latency(|l| l.p90),
        latency(|l| l.p99),
        latency(|l| l.max),
        phase.loss_ratio.map_or_else(dash, percent),
        phase.rpm.as_ref().map_or_else(dash, |r| thousands(r.per_minute)),
        phase.grade.map_or_else(dash, |g| g.letter().to_string()),
    ]
}

/// Headings of [`probe_cells`].
pub(crate) const PROBE_HEADINGS: [&str; 11] =
    ["probe", "sent", "lost", "dup.", "reord.", "idle", "down", "up", "both", "jitter", "PDV"];
/// Their units.
pub(crate) const PROBE_UNITS: [&str; 11] = ["", "", "", "", "", "ms", "ms", "ms", "ms", "ms", "ms"];
/// What the table of probes shows.
pub(crate) const PROBE_LEGEND: &str = "probes: median delays; jitter: of consecutive delays, one way as in RFC 3550, otherwise their mean difference; PDV: 99th percentile less minimum (RFC 5481); both of the phase with the most";

/// One row of the table of probes. Jitter and PDV are those of the phase with the most.
pub(crate) fn probe_cells(probes: &ProbeStatistics, style: Style) -> [String; 11] {
    let dash = || String::from("-");
    let sent: usize = probes.phases.iter().map(|phase| phase.sent).sum();
    let lost_in = |phase: &PhaseProbes| phase.loss_ratio.unwrap_or(0.0) * phase.sent as f64;
    let lost: f64 = probes.phases.iter().map(lost_in).sum();
    let median = |kind| {
        let phase = probes.phases.iter().find(|phase| phase.kind == kind);
        phase.and_then(|phase| phase.delay).map_or_else(dash, |delay| bounded(delay.p50, style))
    };
    let most = |of: fn(&PhaseProbes) -> Option<f64>| {
        probes.phases.iter().filter_map(of).max_by(f64::total_cmp).map_or_else(dash, milliseconds_bare)
    };
    let name = match probes.direction {
        Some(direction) => format!("one way, {}", direction.name()),
        None => probe_name(probes.metric).to_string(),
    };
    [
        name,
        thousands(sent as f64),
        percent(if sent > 0 { lost / sent as f64 } else { 0.0 }),
        thousands(f64::from(probes.duplicates)),
        thousands(f64::from(probes.reordered)),
        median(PhaseKind::Idle),
        median(PhaseKind::Down),
        median(PhaseKind::Up),
        median(PhaseKind::Both),
        most(|phase| phase.jitter_s),
        most(|phase| phase.delay_variation_s),
    ]
}

/// Short name of the probes of a metric.
const fn probe_name(metric: Metric) -> &'static str {
    match metric {
        Metric::UdpRtt => "UDP",
        Metric::UdpBackgroundRtt => "UDP, BK",
        Metric::UdpExpeditedRtt => "UDP, EF",
        Metric::IcmpRtt => "ICMP",
        Metric::TcpConnect => "TCP",
        Metric::TlsConnect => "TCP and TLS",
        Metric::QuicHandshake => "QUIC",
        Metric::Http3Foreign => "HTTP/3, new",
        Metric::Http3Loaded => "HTTP/3, loaded",
        Metric::HttpForeign => "HTTP, new",
        Metric::HttpLoaded => "HTTP, loaded",
        Metric::HttpKept => "HTTP, kept",
        Metric::HttpFirstByte => "first byte",
        Metric::DnsRtt => "DNS",
        Metric::GatewayRtt => "gateway",
        _ => "round trip",
    }
}

/// Headings of [`application_cells`].
pub(crate) const APPLICATION_HEADINGS: [&str; 5] = ["application", "idle", "down", "up", "both"];

/// One row of the table of applications.
pub(crate) fn application_cells(row: &ApplicationStatistics, style: Style) -> [String; 5] {
    let (name, number): (&str, fn(f64) -> String) = match row.measure {
        ApplicationMeasure::PageLoadP50 => ("page, p50, s", |s| format!("{s:.2}")),
        ApplicationMeasure::PageLoadP95 => ("page, p95, s", |s| format!("{s:.2}")),
        ApplicationMeasure::VideoRate => ("bitrate, Mbit/s", |bits| three_digits(bits / 1e6)),
        ApplicationMeasure::VideoStalls => ("stalls", |count| format!("{count:.0}")),
        ApplicationMeasure::VideoStalled => ("stalled, s", |s| format!("{s:.1}")),
        ApplicationMeasure::CallMos => ("MOS", |mos| format!("{mos:.1}")),
        ApplicationMeasure::DeadlineMisses => ("too late", percent),
    };
    let cell = |kind| {
        let found = row.phases.iter().find(|of| of.phase == kind);
        found.map_or_else(
            || "-".into(),
            |of| {
                format!(
                    "{}{}",
                    if of.measured.at_least { at_least(style) } else { "" },
                    number(of.measured.value)
                )
            },
        )
    };
    let [idle, down, up, both] = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both].map(cell);
    [format!("{}: {name}", row.application), idle, down, up, both]
}

/// What the table of applications shows.
pub(crate) const APPLICATION_LEGEND: &str = "applications: MOS of a call from 1 (bad) to 4.4, in the worse direction; too late: updates of a game that were lost or missed their deadline; of two idle phases, the second has the applications";

/// What is known of the packets of the load, and of their ECN codepoints.
pub(crate) fn load_lines(run: &Run) -> Vec<String> {
    load_losses(run).into_iter().chain(ecn_line(run)).collect()
}

/// The share of a load of datagrams that was lost, by phase and direction.
fn load_losses(run: &Run) -> Option<String> {
    let of = |(phase, direction): (&Phase, &Direction)| {
        let lost = load_loss_ratio(run, *direction, phase)?;
        Some(format!("{} {direction} {}", phase_name(phase.kind), percent(lost)))
    };
    let all = run.phases.iter().flat_map(|phase| phase.kind.loads().iter().map(move |d| (phase, d)));
    let all: Vec<String> = all.filter_map(of).collect();
    (!all.is_empty()).then(|| format!("datagrams of the load that were lost: {}", all.join(", ")))
}

/// With which ECN codepoints packets were sent and arrived, if that was recorded.
fn ecn_line(run: &Run) -> Option<String> {
    let count = |metric, direction, codepoint: Ecn| {
        let scope = Some(codepoint.name().to_string());
        let series = run.series(&SeriesKey { scope, ..SeriesKey::directed(metric, direction) })?;
        let sum: f64 = series.values.iter().sum();
        (sum > 0.0).then(|| format!("{} {}", thousands(sum), codepoint.name()))
    };
    let of = |(name, metric): (&str, Metric), direction: Direction| {
        let counts: Vec<String> =
            Ecn::ALL.into_iter().filter_map(|codepoint| count(metric, direction, codepoint)).collect();
        (!counts.is_empty()).then(|| format!("{name} {direction} {}", counts.join(", ")))
    };
    let arrived = [("probes", Metric::EcnProbes), ("load", Metric::EcnLoad)]
        .into_iter()
        .flat_map(|what| Direction::BOTH.into_iter().filter_map(move |direction| of(what, direction)));
    let tcp = run.facts.get(&Fact::TcpEcn).map(|flows| format!("TCP uses ECN in {flows}"));
    let parts: Vec<String> = arrived.chain(tcp).collect();
    let sent = run.facts.get(&Fact::Ecn).filter(|_| !parts.is_empty())?;
    Some(format!("ECN, sent as {sent}, arrived: {}", parts.join("; ")))
}

/// Headings of [`class_cells`].
pub(crate) const CLASS_HEADINGS: [&str; 5] = ["class", "down", "up", "p50", "p90"];
/// Their units.
pub(crate) const CLASS_UNITS: [&str; 5] = ["", "Mbit/s", "Mbit/s", "ms", "ms"];

/// One row of the table of classes of RRUL.
pub(crate) fn class_cells(class: &ClassSummary, style: Style) -> [String; 5] {
    let dash = || String::from("-");
    let megabits = |g: Option<f64>| g.map_or_else(dash, |g| three_digits(g / 1e6));
    let latency = |pick: fn(&fathom_stats::Summary) -> Bounded| {
        class.latency.as_ref().map_or_else(dash, |l| bounded(pick(l), style))
    };
    [
        class.name.clone(),
        megabits(class.goodput_down_bits_per_second),
        megabits(class.goodput_up_bits_per_second),
        latency(|l| l.p50),
        latency(|l| l.p90),
    ]
}

/// Headings of [`score_rows`].
pub(crate) const SCORE_HEADINGS: [&str; 6] = ["score", "idle", "down", "up", "both", "test"];
/// Scores with their names for people.
const SCORE_NAMES: [(&str, &str); 8] = [
    ("responsiveness_rpm", "RPM, confidence"),
    ("qoo_video_call_percent", "video call (QoO)"),
    ("qoo_game_percent", "game (QoO)"),
    ("buffer_delay_percent", "buffer delay"),
    ("tcp_efficiency_percent", "TCP efficiency"),
    ("aim_streaming_points", "streaming (AIM)"),
    ("aim_gaming_points", "gaming (AIM)"),
    ("aim_rtc_points", "calls (AIM)"),
];

/// A row for each score that has a value in any phase or for the whole test.
pub(crate) fn score_rows(diagnosis: &Diagnosis) -> Vec<[String; 6]> {
    let row = |(name, text): &(&str, &str)| {
        let of = |phase| diagnosis.scores.iter().find(|score| score.name == *name && score.phase == phase);
        let cell = |phase| match of(phase) {
            Some(&Score { value: Some(value), class: Some(class), .. }) => {
                format!("{} {class}", thousands(value))
            }
            Some(&Score { value: Some(percent), .. }) if percent < 99.95 => format!("{percent:.1} %"),
            Some(&Score { value: Some(percent), .. }) => format!("{} %", thousands(percent)),
            _ => "-".into(),
        };
        let kinds = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both].map(Some);
        let [idle, down, up, both] = kinds.map(cell);
        [text.to_string(), idle, down, up, both, cell(None)]
    };
    let is_known = |cells: &[String; 6]| cells[1..].iter().any(|cell| cell != "-");
    SCORE_NAMES.iter().map(row).filter(is_known).collect()
}

/// The definitions of the scores, and why some have no value. That of RPM is below the phases.
pub(crate) fn score_legend(diagnosis: &Diagnosis) -> String {
    let named =
        |score: &Score| SCORE_NAMES.iter().find(|(name, _)| *name == score.name).map(|(_, text)| *text);
    let is_below = |score: &&Score| score.name != "responsiveness_rpm" && score.value.is_some();
    let mut parts: Vec<String> =
        diagnosis.scores.iter().filter(is_below).map(|score| score.definition.to_string()).collect();
    let reason = |score: &Score| Some(format!("{}: {}", named(score)?, missing_name(score.missing?)));
    let mut missing: Vec<String> = diagnosis.scores.iter().filter_map(reason).collect();
    for list in [&mut parts, &mut missing] {
        list.sort_unstable();
        list.dedup();
    }
    if !missing.is_empty() {
        parts.push(format!("not computed: {}", missing.join(", ")));
    }
    format!("scores: {}", parts.join("; "))
}

/// What a score lacks.
const fn missing_name(missing: Missing) -> &'static str {
    match missing {
        Missing::IdleLatency => "no idle latency",
        Missing::Probes => "too few probes",
        Missing::Responses => "last probes not answered",
        Missing::Loss => "packet loss unknown",
        Missing::Rates => "no load in one direction",
        Missing::Retransmissions => "retransmissions unknown",
    }
}

type Pick = fn(&PhaseSummary) -> Option<f64>;

/// Name, unit, whether less is better, and where it is found.
const QUANTITIES: [(&str, Unit, bool, Pick); 10] = [
    ("goodput down", Unit::Rate, false, |p| p.goodput_down_bits_per_second),
    ("goodput up", Unit::Rate, false, |p| p.goodput_up_bits_per_second),
    ("latency, median", Unit::Milliseconds, true, |p| Some(p.latency?.p50.value)),
    ("latency, p90", Unit::Milliseconds, true, |p| Some(p.latency?.p90.value)),
    ("latency, p99", Unit::Milliseconds, true, |p| Some(p.latency?.p99.value)),
    ("latency, max", Unit::Milliseconds, true, |p| Some(p.latency?.max.value)),
    ("probes lost", Unit::Ratio, true, |p| p.loss_ratio),
    ("RPM", Unit::Count, false, |p| Some(p.rpm.as_ref()?.per_minute)),
    ("call quality (1 to 4.4)", Unit::Score, false, |p| Some(p.impact?.call.mos)),
    ("web page", Unit::Seconds, true, |p| p.impact?.page_load_s),
];

/// Every quantity that at least one of the runs has, by phase, then by workload.
pub(crate) fn comparison(runs: &[(&Run, &Diagnosis)]) -> Vec<Quantity> {
    let kinds = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both, PhaseKind::Watch];
    let quantities = kinds.into_iter().flat_map(|phase| {
        QUANTITIES.iter().map(move |(name, unit, less_is_better, pick)| Quantity {
            group: phase_name(phase).to_string(),
            name: name.to_string(),
            unit: *unit,
            less_is_better: *less_is_better,
            values: runs.iter().map(|(_, d)| d.phase(phase).and_then(pick)).collect(),
        })
    });
    let recorded: Vec<&Run> = runs.iter().map(|(run, _)| *run).collect();
    let known = quantities.filter(|q| q.values.iter().any(Option::is_some));
    let captured = crate::flows::quantities(&recorded);
    known.chain(captured).chain(crate::workloads::quantities(&recorded)).collect()
}

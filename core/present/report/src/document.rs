//! The JSON document of a result: the run or other data, and what it shows. Described by
//! `docs/schema/result.schema.json`.
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use fathom_diagnose::{
    ApplicationStatistics, ClassSummary, Diagnosis, Health, PhaseProbes, PhaseSummary, ProbeStatistics,
};
use fathom_prose::Level;
use fathom_run::{
    Conclusion, Finding, Game, Grade, Metric, PhaseEnd, PhaseKind, Reason, Remedy, Run, SCHEMA_VERSION, Score,
};
use fathom_stats::{Bounded, Summary as Statistics};
use fathom_units::Direction;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A run as a program reads it. Numbers have their unit as the last word of their name.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Document<'a> {
    /// How bad it is.
    pub verdict: Verdict<'a>,
    /// The few numbers that matter.
    pub summary: Summary,
    /// All findings, the weightiest first.
    pub findings: &'a [Finding],
    /// What to do.
    pub advice: &'a [Remedy],
    /// The run, with its version.
    #[serde(flatten)]
    pub run: &'a Run,
}

/// How bad it is: what people notice, and whether the line is bloated.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict<'a> {
    /// What people notice, in one word; absent for commands that judge no line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<&'static str>,
    /// One or two sentences for a person.
    pub headline: String,
    /// What calls, games and web pages are like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<String>,
    /// Whether the line is bloated.
    pub health: Health,
    /// Why the run is invalid or inconclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a Reason>,
    /// The phase with the largest increase of latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseKind>,
}

/// The few numbers that matter.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// Lag when busy of an upload: 90th percentile under load less the idle median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_up_s: Option<f64>,
    /// Lag when busy of a download.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_down_s: Option<f64>,
    /// Lag when busy of both at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_both_s: Option<f64>,
    /// Idle latency, median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_p50_s: Option<f64>,
    /// Goodput up, of the upload alone if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_up_bits_per_second: Option<f64>,
    /// Goodput down, of the download alone if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_down_bits_per_second: Option<f64>,
    /// Lowest responsiveness of the phases with load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsiveness_rpm: Option<f64>,
    /// Worst grade of the phases with load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// The metric that latencies are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_metric: Option<Metric>,
    /// Rate of the line as IP packets, where a queue showed it; in front of a captured link with
    /// Ethernet headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// Each phase, in order of time.
    pub phases: Vec<Phase>,
    /// Each kind of probe of a test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probes>,
    /// Each measure of the applications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<ApplicationStatistics>,
    /// Each class of traffic of RRUL.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Scores of a test by other documents and tools, each with its definition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
}

/// One kind of probe, or one direction of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Probes {
    /// The metric of its delays.
    pub metric: Metric,
    /// The direction of one-way delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Duplicate responses.
    pub duplicates: u32,
    /// Responses after that to a later probe.
    pub reordered: u32,
    /// Each phase, in order of time.
    pub phases: Vec<ProbesOfPhase>,
}

/// One kind of probe in one phase.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProbesOfPhase {
    /// What the load did.
    pub phase: PhaseKind,
    /// Delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Variation of consecutive delays: one way as in RFC 3550, otherwise the mean difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_s: Option<f64>,
    /// Packet delay variation (RFC 5481): 99th percentile less minimum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_variation_p99_s: Option<f64>,
}

/// A class of traffic of RRUL, in the phase with load in both directions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Class {
    /// Its name.
    pub class: String,
    /// Mean upload goodput of its flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_up_bits_per_second: Option<f64>,
    /// Mean download goodput of its flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_down_bits_per_second: Option<f64>,
    /// Median round trip of its UDP probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p50_s: Option<f64>,
    /// 90th percentile of these round trips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p90_s: Option<f64>,
}

/// Rates of the line.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Capacity {
    /// From the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_bits_per_second: Option<f64>,
    /// To the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down_bits_per_second: Option<f64>,
    /// Behind a captured queue, whose direction is that of its packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bits_per_second: Option<f64>,
}

/// A phase in numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Phase {
    /// What the load did.
    pub phase: PhaseKind,
    /// Its start.
    pub start_s: f64,
    /// Its length.
    pub duration_s: f64,
    /// Why it ended.
    pub end: PhaseEnd,
    /// Round-trip latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// 95 % confidence interval of the median; `null` above if it has no upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p50_interval_s: Option<(f64, Option<f64>)>,
    /// Likewise of the 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p90_interval_s: Option<(f64, Option<f64>)>,
    /// Median less the idle median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase_p50_s: Option<f64>,
    /// Median one-way delay up, less that of the idle phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase_up_p50_s: Option<f64>,
    /// Median one-way delay down, less that of the idle phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase_down_p50_s: Option<f64>,
    /// Mean goodput up, without the start of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_up_bits_per_second: Option<f64>,
    /// Mean goodput down, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_down_bits_per_second: Option<f64>,
    /// Jain's index of the flows' goodputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness_ratio: Option<f64>,
    /// Responsiveness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsiveness_rpm: Option<f64>,
    /// Grade of the mean increase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// Predicted mean opinion score of a voice call, 1 to 4.41.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_mos: Option<f64>,
    /// Games that are playable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub games: Option<Game>,
    /// Time that the model page takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_load_s: Option<f64>,
}

/// Percentiles of latency; those named in `lower_bounds` fall on a lost probe, and are at least so
/// much.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Latency {
    /// Probes.
    pub probes: usize,
    /// Share of the probes without an answer.
    pub loss_ratio: f64,
    /// Smallest.
    pub min_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 90th percentile.
    pub p90_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// Largest.
    pub max_s: f64,
    /// Names of the statistics above that are lower bounds.
    pub lower_bounds: Vec<&'static str>,
}

/// The document of a run.
pub fn document<'a>(run: &'a Run, diagnosis: &'a Diagnosis) -> Document<'a> {
    let words = fathom_prose::verdict(run, diagnosis);
    let level = Some(words.level.name());
    Document {
        verdict: Verdict { consequence: words.consequence, ..verdict(level, words.headline, diagnosis) },
        summary: summary(diagnosis),
        findings: &diagnosis.findings,
        advice: &diagnosis.advice,
        run,
    }
}

/// What a page shows of a test: the members of [`Document`] without series and findings, and how
/// late the browser was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Brief<'a> {
    /// How bad it is.
    pub verdict: Verdict<'a>,
    /// The few numbers that matter, without those of single probes and of other tools.
    pub summary: Summary,
    /// What to do.
    pub advice: &'a [Remedy],
    /// Start time, RFC 3339.
    pub started: &'a str,
    /// Whether the test ended early.
    pub is_partial: bool,
    /// Lateness of the timers, median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_p50_s: Option<f64>,
    /// The same, 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_p99_s: Option<f64>,
}

/// What a page shows of a run.
pub fn brief<'a>(run: &'a Run, diagnosis: &'a Diagnosis) -> Brief<'a> {
    let Document { verdict, summary, advice, .. } = document(run, diagnosis);
    let late = |p| run.instrument.timer_lateness.percentile(p).map(|late| late.as_secs_f64());
    Brief {
        verdict,
        summary: Summary { probes: Vec::new(), scores: Vec::new(), ..summary },
        advice,
        started: &run.started,
        is_partial: run.partial.is_some(),
        late_p50_s: late(0.5),
        late_p99_s: late(0.99),
    }
}

/// The document of a command whose result is no run: the members of [`Document`] in their order,
/// and the data of the command.
#[derive(Clone, PartialEq, Debug)]
pub struct CommandDocument {
    members: [(&'static str, Value); 8],
}

impl CommandDocument {
    /// A member by its name; null if there is none.
    pub fn get(&self, name: &str) -> &Value {
        self.members.iter().find(|(member, _)| *member == name).map_or(&Value::Null, |(_, value)| value)
    }
}

impl Serialize for CommandDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.members.iter().map(|(name, value)| (name, value)))
    }
}

/// As JSON; `{:#}` on many lines.
impl fmt::Display for CommandDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            if f.alternate() { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

/// The document of a command, with `data` as the member `name`.
pub fn command_document(
    command: &str,
    headline: String,
    diagnosis: &Diagnosis,
    data: (&'static str, impl Serialize),
) -> CommandDocument {
    let level = matches!(diagnosis.health, Health::Healthy | Health::Bloated)
        .then(|| Level::of(diagnosis.health).name());
    with_level(command, (level, headline), diagnosis, data)
}

/// The document of a command that has its own verdict.
pub fn judged_document(
    command: &str,
    verdict: &fathom_prose::Verdict,
    diagnosis: &Diagnosis,
    data: (&'static str, impl Serialize),
) -> CommandDocument {
    with_level(command, (Some(verdict.level.name()), verdict.headline.clone()), diagnosis, data)
}

fn with_level(
    command: &str,
    (level, headline): (Option<&'static str>, String),
    diagnosis: &Diagnosis,
    (name, data): (&'static str, impl Serialize),
) -> CommandDocument {
    CommandDocument {
        members: [
            ("schema_version", json!(SCHEMA_VERSION)),
            ("tool_version", json!(env!("CARGO_PKG_VERSION"))),
            ("command", json!(command)),
            ("verdict", json!(verdict(level, headline, diagnosis))),
            ("summary", json!(summary(diagnosis))),
            ("findings", json!(diagnosis.findings)),
            ("advice", json!(diagnosis.advice)),
            (name, json!(data)),
        ],
    }
}

fn verdict<'a>(level: Option<&'static str>, headline: String, diagnosis: &'a Diagnosis) -> Verdict<'a> {
    Verdict {
        level,
        headline,
        consequence: None,
        health: diagnosis.health,
        reason: diagnosis.reason.as_ref(),
        phase: diagnosis.headline_phase,
    }
}

fn summary(diagnosis: &Diagnosis) -> Summary {
    let rpm = diagnosis.loaded().filter_map(|phase| phase.rpm.as_ref());
    let lag = |phase| {
        diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
            Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase)
                if increase.phase == phase =>
            {
                Some(increase.lag_s())
            }
            _ => None,
        })
    };
    let goodput = |kind, of: fn(&PhaseSummary) -> Option<f64>| {
        let alone = diagnosis.phase(kind).and_then(of);
        alone.or_else(|| diagnosis.phase(PhaseKind::Both).and_then(of))
    };
    Summary {
        lag_up_s: lag(PhaseKind::Up),
        lag_down_s: lag(PhaseKind::Down),
        lag_both_s: lag(PhaseKind::Both),
        idle_p50_s: diagnosis.phase(PhaseKind::Idle).and_then(|phase| Some(phase.latency?.p50.value)),
        goodput_up_bits_per_second: goodput(PhaseKind::Up, |phase| phase.goodput_up_bits_per_second),
        goodput_down_bits_per_second: goodput(PhaseKind::Down, |phase| phase.goodput_down_bits_per_second),
        responsiveness_rpm: rpm.map(|rpm| rpm.per_minute).min_by(f64::total_cmp),
        grade: diagnosis.grade,
        latency_metric: diagnosis.latency_source,
        capacity: capacity(&diagnosis.findings),
        phases: diagnosis.phases.iter().map(phase).collect(),
        probes: diagnosis.probes.iter().map(probes).collect(),
        applications: diagnosis.applications.clone(),
        classes: diagnosis.classes.iter().map(class).collect(),
        scores: diagnosis.scores.clone(),
    }
}

/// What the findings say of the line's rate; `None` if nothing.
fn capacity(findings: &[Finding]) -> Option<Capacity> {
    let mut capacity = Capacity::default();
    for finding in findings {
        match (&finding.conclusion, finding.direction) {
            (Conclusion::BufferSize(size), Some(Direction::Up)) => {
                capacity.up_bits_per_second = Some(size.rate_bits_per_second);
            }
            (Conclusion::BufferSize(size), Some(Direction::Down)) => {
                capacity.down_bits_per_second = Some(size.rate_bits_per_second);
            }
            (Conclusion::QueueManagement(management), Some(direction)) => {
                let known = match direction {
                    Direction::Up => &mut capacity.up_bits_per_second,
                    Direction::Down => &mut capacity.down_bits_per_second,
                };
                *known = known.or(management.least_bits_per_second);
            }
            (Conclusion::Bottleneck(link), _) if capacity.link_bits_per_second.is_none() => {
                capacity.link_bits_per_second = Some(link.rate_bits_per_second.value);
            }
            _ => {}
        }
    }
    (capacity != Capacity::default()).then_some(capacity)
}

pub(crate) fn phase(phase: &PhaseSummary) -> Phase {
    Phase {
        phase: phase.kind,
        start_s: phase.start_s,
        duration_s: phase.duration_s,
        end: phase.end,
        latency: phase.latency.as_ref().map(|l| latency(l, phase.loss_ratio.unwrap_or(0.0))),
        latency_p50_interval_s: phase.intervals_s.map(|[p50, _]| p50),
        latency_p90_interval_s: phase.intervals_s.map(|[_, p90]| p90),
        increase_p50_s: phase.increase_p50_s.map(|increase| increase.value),
        increase_up_p50_s: phase.increase_up_s,
        increase_down_p50_s: phase.increase_down_s,
        goodput_up_bits_per_second: phase.goodput_up_bits_per_second,
        goodput_down_bits_per_second: phase.goodput_down_bits_per_second,
        fairness_ratio: phase.fairness_index,
        responsiveness_rpm: phase.rpm.as_ref().map(|rpm| rpm.per_minute),
        grade: phase.grade,
        call_mos: phase.impact.map(|impact| impact.call.mos),
        games: phase.impact.map(|impact| impact.game),
        page_load_s: phase.impact.and_then(|impact| impact.page_load_s),
    }
}

fn class(class: &ClassSummary) -> Class {
    Class {
        class: class.name.clone(),
        goodput_up_bits_per_second: class.goodput_up_bits_per_second,
        goodput_down_bits_per_second: class.goodput_down_bits_per_second,
        latency_p50_s: class.latency.map(|latency| latency.p50.value),
        latency_p90_s: class.latency.map(|latency| latency.p90.value),
    }
}

fn probes(statistics: &ProbeStatistics) -> Probes {
    let ProbeStatistics { metric, direction, duplicates, reordered, .. } = *statistics;
    let of_phase = |phase: &PhaseProbes| ProbesOfPhase {
        phase: phase.kind,
        latency: phase.delay.as_ref().map(|delay| latency(delay, phase.loss_ratio.unwrap_or(0.0))),
        jitter_s: phase.jitter_s,
        delay_variation_p99_s: phase.delay_variation_s,
    };
    Probes {
        metric,
        direction,
        duplicates,
        reordered,
        phases: statistics.phases.iter().map(of_phase).collect(),
    }
}

fn latency(latency: &Statistics, loss_ratio: f64) -> Latency {
    let Statistics { min, p50, p90, p95, p99, max, .. } = latency;
    let named: [(&'static str, &Bounded); 6] =
        [("min_s", min), ("p50_s", p50), ("p90_s", p90), ("p95_s", p95), ("p99_s", p99), ("max_s", max)];
    Latency {
        probes: latency.count,
        loss_ratio,
        min_s: min.value,
        p50_s: p50.value,
        p90_s: p90.value,
        p95_s: p95.value,
        p99_s: p99.value,
        max_s: max.value,
        lower_bounds: named.into_iter().filter(|(_, bound)| bound.at_least).map(|(name, _)| name).collect(),
    }
}

//! A run as seen by the rules.
use crate::latency::{answered, longest, shortest, start_up};
use crate::sample::{alone, loss_events, records_losses, sample};
use crate::{PhaseSummary, rules, summarize};
use alloc::vec::Vec;
use fathom_run::{
    Evidence, Fact, Metric, Note, Observation, OtherTraffic, Phase, PhaseKind, Run, Series, SeriesKey, Span,
    Statistic, Unrecorded, Value, threshold,
};
use fathom_stats::{Sample, Summary};
use fathom_units::{Direction, Time};

/// Round-trip metrics usable as working latency, best first. UDP probes have kernel timestamps at
/// both ends and no own queue; ICMP may be answered by another processor or rate-limited;
/// a TCP connection takes seconds longer if its SYN is lost; requests on a persistent connection
/// wait for each other.
pub(crate) const SOURCES: [Metric; 8] = [
    Metric::UdpRtt,
    Metric::IcmpRtt,
    Metric::TcpConnect,
    Metric::HttpForeign,
    Metric::HttpKept,
    Metric::TlsConnect,
    Metric::HttpFirstByte,
    Metric::DnsRtt,
];
/// Minimum number of responses in a phase for a median.
const MIN_ANSWERS: usize = 5;
/// Loss ratio of probes from which a phase gives no information about latency.
pub(crate) const MOSTLY_LOST: f64 = 0.5;
/// Smaller increases are too small to analyze over time or to indicate a full buffer.
pub(crate) const REPORTED_INCREASE_S: f64 = 0.030;
/// Below this delay not even a single packet was waited for, at up to 12 Mbit/s.
const NOT_QUEUED_S: f64 = 0.001;

/// A run with the series chosen as working latency, and summaries of its phases.
pub(crate) struct View<'a> {
    pub(crate) run: &'a Run,
    pub(crate) source: Option<&'a Series>,
    pub(crate) phases: Vec<PhaseSummary>,
    /// Latency before the load, if others filled a queue then.
    pub(crate) other_traffic: Option<OtherTraffic>,
}

/// A phase with load compared with the idle phase. Lost probes count with the latency around them:
/// loss has separate findings.
#[derive(Clone, Copy)]
pub(crate) struct Rise<'a> {
    pub(crate) phase: &'a Phase,
    pub(crate) summary: &'a PhaseSummary,
    /// The start of the phase, if latency was much higher than in the rest.
    pub(crate) start_up: Option<Span>,
    pub(crate) idle: Summary,
    /// Latency after the start-up.
    pub(crate) loaded: Summary,
    /// Others filled a queue before the load, so `idle` is not the latency of an empty line, and
    /// their queue may shrink or move under load.
    pub(crate) has_other_traffic: bool,
}

impl Rise<'_> {
    /// Median under load minus idle median, in seconds.
    pub(crate) fn p50(&self) -> f64 {
        self.loaded.p50.value - self.idle.p50.value
    }
    /// 90th percentile under load minus idle median, in seconds.
    pub(crate) fn p90(&self) -> f64 {
        self.loaded.p90.value - self.idle.p50.value
    }
    /// 95th percentile under load minus idle median, s: height of the queue without outliers.
    pub(crate) fn height(&self) -> f64 {
        self.loaded.p95.value - self.idle.p50.value
    }
    /// The phase after the start-up.
    pub(crate) fn steady(&self) -> Span {
        after(self.start_up, Span::of(self.phase))
    }
    /// Whether most probes were answered. Otherwise the connection broke, and latency is unknown.
    fn is_known(&self) -> bool {
        self.summary.loss_ratio.is_some_and(|loss| loss < MOSTLY_LOST)
    }
}

fn after(start_up: Option<Span>, phase: Span) -> Span {
    Span { start_ns: start_up.map_or(phase.start_ns, |start| start.end_ns), ..phase }
}

impl<'a> View<'a> {
    pub(crate) fn new(run: &'a Run) -> Self {
        let source = choose_source(run);
        let mut view = View { run, source, phases: summarize::phases(run, source), other_traffic: None };
        view.other_traffic = view.before_load();
        view
    }
    /// Latency of the idle phase, if it has enough responses.
    pub(crate) fn idle(&self) -> Option<Summary> {
        let idle = Span::of(self.run.phase(PhaseKind::Idle)?);
        answered(self.source?, idle).filter(|s| s.count >= MIN_ANSWERS)
    }
    /// Latency of the idle phase, if it exceeds the shortest latency of the run by so much that a
    /// load would be said to make the line slow.
    fn before_load(&self) -> Option<OtherTraffic> {
        let idle = self.idle()?;
        let min_s = shortest(self.source?)?;
        let (p50_s, p90_s) = (idle.p50.value, idle.p90.value);
        threshold::is_bloated(p50_s - min_s, p90_s - min_s).then(|| OtherTraffic {
            min_s,
            p50_s,
            p90_s,
            source: rules::traffic_source(self),
        })
    }
    /// Phases with load and with a latency comparable to the idle one, in time order. A phase that
    /// started on a queue would show the queue of others or of the phase before it.
    pub(crate) fn rises(&self) -> impl Iterator<Item = Rise<'_>> {
        self.all_rises().filter(|rise| !self.started_on_a_queue(rise.phase.kind))
    }
    /// Phases with load that started on a queue.
    pub(crate) fn rises_on_a_queue(&self) -> impl Iterator<Item = Rise<'_>> {
        self.all_rises().filter(|rise| self.started_on_a_queue(rise.phase.kind))
    }
    fn all_rises(&self) -> impl Iterator<Item = Rise<'_>> {
        let idle = self.idle();
        let loaded = self.run.phases.iter().zip(&self.phases).filter(|(phase, _)| phase.kind.is_loaded());
        loaded.filter_map(move |(phase, summary)| self.rise(phase, summary, idle?)).filter(Rise::is_known)
    }
    fn rise(&'a self, phase: &'a Phase, summary: &'a PhaseSummary, idle: Summary) -> Option<Rise<'a>> {
        let whole = Span::of(phase);
        let start_up = start_up(self.source?, whole, idle.p50.value).filter(|_| self.has_times());
        let loaded = answered(self.source?, after(start_up, whole))?;
        let has_other_traffic = self.other_traffic.is_some();
        Some(Rise { phase, summary, start_up, idle, loaded, has_other_traffic })
    }
    /// Whether the load was paced, or consisted of datagrams at a chosen rate.
    pub(crate) fn has_chosen_rate(&self) -> bool {
        [Fact::Pace, Fact::Udp].iter().any(|fact| self.run.facts.contains_key(fact))
    }
    /// Whether the load consisted of datagrams: it has no acknowledgments, and does not yield.
    pub(crate) fn has_datagrams(&self) -> bool {
        self.run.facts.contains_key(&Fact::Udp)
    }
    /// Whether it is known when the probes were sent: otherwise nothing is said about changes.
    pub(crate) fn has_times(&self) -> bool {
        let lacks = |what: &Vec<Unrecorded>| what.contains(&Unrecorded::SendTimes);
        !self.run.notes.iter().any(|note| matches!(note, Note::NotRecorded { what, .. } if lacks(what)))
    }
    fn started_on_a_queue(&self, kind: PhaseKind) -> bool {
        self.run.notes.iter().any(|n| matches!(n, Note::QueueNotEmpty { phase, .. } if *phase == kind))
    }
    /// The phase in which only `direction` is loaded, or otherwise both.
    pub(crate) fn rise_of(&self, direction: Direction) -> Option<Rise<'_>> {
        let alone = self.rises().find(|r| r.phase.kind == alone(direction));
        alone.or_else(|| self.rises().find(|r| r.phase.kind == PhaseKind::Both))
    }
    pub(crate) fn latency_in(&self, phase: &'a Phase) -> impl Iterator<Item = Observation> + use<'a> {
        self.source.into_iter().flat_map(|s| s.within(phase))
    }
    pub(crate) fn one_way(&self, direction: Direction, phase: &Phase) -> Sample {
        sample(self.run, &SeriesKey::directed(Metric::OneWayDelay, direction), phase)
    }
    /// Values of a metric without direction in a phase.
    pub(crate) fn values(&self, metric: Metric, phase: &Phase) -> Sample {
        sample(self.run, &SeriesKey::of(metric), phase)
    }
    /// Longest latency within a span, in seconds, without outliers.
    pub(crate) fn longest_in(&self, span: &Span) -> Option<f64> {
        let (start, end) = (Time::from_nanos(span.start_ns), Time::from_nanos(span.end_ns));
        Some(longest(self.source?.between(start, end))?.1)
    }
    /// Whether losses of the load were recorded, and there were none in any loaded direction.
    pub(crate) fn is_lossless(&self, phase: &Phase) -> bool {
        phase.kind.loads().iter().all(|d| records_losses(self.run, *d)) && self.shows_no_loss(phase)
    }
    /// Whether no loss of the load was recorded, in directions where losses are.
    pub(crate) fn shows_no_loss(&self, phase: &Phase) -> bool {
        phase.kind.loads().iter().all(|d| loss_events(self.run, *d, phase).is_empty())
    }
    /// Whether nothing indicates that the load met a queue: latency did not rise, or nothing was
    /// lost although losses were recorded. One condition suffices, because a busy sender makes
    /// spurious retransmissions.
    pub(crate) fn met_no_queue(&self, rise: &Rise<'_>) -> bool {
        rise.p90() < NOT_QUEUED_S || self.is_lossless(rise.phase)
    }
    /// A statistic of a series in a phase as evidence; `None` without observations.
    pub(crate) fn evidence(&self, key: &SeriesKey, phase: &Phase, statistic: Statistic) -> Option<Evidence> {
        let all = sample(self.run, key, phase);
        let value = match statistic {
            Statistic::Percentile(p) => all.percentile(p)?.value,
            Statistic::Max => *all.observed().last()?,
            Statistic::Mean => all.mean_of_observed()?,
            Statistic::Count => all.summary()?.count as f64,
            Statistic::Lost => all.summary()?.censored_ratio(),
            _ => return None,
        };
        let span = Span { start_ns: phase.start_ns, end_ns: phase.end_ns };
        Some(Evidence { series: key.clone(), statistic, span, value })
    }
    /// A statistic of the working latency in a phase as evidence.
    pub(crate) fn latency_evidence(&self, phase: &Phase, statistic: Statistic) -> Option<Evidence> {
        self.evidence(&self.source?.key, phase, statistic)
    }
}

/// The best series that was answered during most of the idle phase, or of the whole run if there is
/// none.
fn choose_source(run: &Run) -> Option<&Series> {
    let candidates = SOURCES.iter().filter_map(|metric| run.series(&SeriesKey::of(*metric)));
    let answered = |series: &&Series| match run.phase(PhaseKind::Idle) {
        Some(idle) => mostly_observed(series.within(idle)),
        None => mostly_observed(series.iter()),
    };
    candidates.clone().find(answered)
}

fn mostly_observed(observations: impl Iterator<Item = Observation>) -> bool {
    let (count, censored) = observations
        .fold((0, 0), |(n, c), o| (n + 1, c + usize::from(matches!(o.value, Value::Censored { .. }))));
    count - censored >= MIN_ANSWERS && 2 * censored < count
}

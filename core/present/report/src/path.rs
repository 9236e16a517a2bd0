//! The tables of a path: the delay of each hop in each phase, or over the whole time.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::clean;
use fathom_run::{Fact, Hop, Metric, PhaseKind, Run, Series, SeriesKey};
use fathom_stats::{median, percentile_of_sorted, sorted};
use fathom_text::{milliseconds_bare, percent, rate};
use fathom_units::Direction;

/// What the table of the path shows.
pub(crate) const HOP_LEGEND: &str = "path: median delays; replies: of a hop, to probes that expire there, which routers limit to one a second";

/// What the table of the way back shows.
pub(crate) const RETURN_LEGEND: &str = "back: from the server to this computer, by probes in the flow of the download, or without one in the control connection";

/// What the driver knew of this host's Wi-Fi, if that is the first link.
pub(crate) fn wifi_line(run: &Run) -> Option<String> {
    let middle = |key: SeriesKey| median(run.series(&key)?.values.iter().copied());
    let bitrate = |direction| middle(SeriesKey::directed(Metric::WifiBitrate, direction));
    let parts: Vec<String> = [
        middle(SeriesKey::of(Metric::WifiSignal)).map(|dbm| format!("signal {dbm:.0} dBm")),
        bitrate(Direction::Up).map(|bits| format!("sends at {}", rate(bits))),
        bitrate(Direction::Down).map(|bits| format!("receives at {}", rate(bits))),
        middle(SeriesKey::of(Metric::WifiRetries)).map(|ratio| format!("{} retransmissions", percent(ratio))),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("Wi-Fi (medians): {}", parts.join(", ")))
}

/// Phases that may have a column.
const PHASES: [(PhaseKind, &str); 4] =
    [(PhaseKind::Idle, "idle"), (PhaseKind::Down, "down"), (PhaseKind::Up, "up"), (PhaseKind::Both, "both")];

/// A table of hops.
pub(crate) struct HopTable {
    pub(crate) headings: Vec<&'static str>,
    pub(crate) units: Vec<&'static str>,
    /// A row for each hop, and for the server.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The hops of a run, if it has any.
pub(crate) fn hop_table(run: &Run, diagnosis: &Diagnosis) -> Option<HopTable> {
    let path = run.path.as_ref()?;
    let hops = path.hops.iter().map(|hop| {
        let series = hop_series(run, hop);
        TableRow {
            number: hop.number,
            address: &hop.address,
            replies: replies(&series),
            series,
            hop: Some(hop),
        }
    });
    let end = end_of(run, diagnosis).map(|(number, address, series)| TableRow {
        number,
        address,
        replies: replies(&series),
        series,
        hop: None,
    });
    table(run, "hop", &hops.chain(end).collect::<Vec<_>>())
}

/// The hops from the server, if it probed them. It reports replies only, so that their share is
/// unknown.
pub(crate) fn return_table(run: &Run) -> Option<HopTable> {
    let path = run.path.as_ref()?;
    let hops = path.return_path.iter().map(|hop| {
        let of = |metric| run.series(&key(metric, hop.number));
        let series = [Metric::HopReturnRtt, Metric::HopReturnFlowRtt].into_iter().filter_map(of).collect();
        TableRow { number: hop.number, address: &hop.address, replies: None, series, hop: Some(hop) }
    });
    table(run, "back", &hops.collect::<Vec<_>>())
}

/// What a row shows.
struct TableRow<'a> {
    number: u8,
    address: &'a str,
    /// Share of the probes.
    replies: Option<f64>,
    series: Vec<&'a Series>,
    /// `None` for the end of the path.
    hop: Option<&'a Hop>,
}

/// A table of these hops; `None` without any. Figures that no hop has are left out. Names are last,
/// so that a narrow terminal leaves them out.
fn table(run: &Run, heading: &'static str, hops: &[TableRow<'_>]) -> Option<HopTable> {
    let columns = columns(run);
    let known = || hops.iter().filter_map(|row| row.hop);
    let has_replies = hops.iter().any(|row| row.replies.is_some());
    let has_name = known().any(|hop| hop.name.is_some());
    let has_system = known().any(|hop| hop.autonomous_system.is_some());
    let named = |hop: Option<&Hop>| {
        let name = hop.and_then(|one| one.name.as_ref());
        let system = hop.and_then(|one| one.autonomous_system.as_ref()).map(ToString::to_string);
        let cells = [(has_name, name.cloned()), (has_system, system)];
        cells.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, text)| clean(&text.unwrap_or_default()))
    };
    let rows = hops.iter().map(|row| {
        let share = has_replies.then(|| row.replies.map_or_else(dash, percent));
        let of_hop = [row.number.to_string(), clean(row.address)].into_iter().chain(share);
        of_hop.chain(delays(run, &columns, &row.series)).chain(named(row.hop)).collect()
    });
    let first = [heading, "address"].into_iter().chain(has_replies.then_some("replies"));
    let names = [(has_name, "name"), (has_system, "AS")].into_iter().filter(|(is_shown, _)| *is_shown);
    let names: Vec<&str> = names.map(|(_, name)| name).collect();
    let blank = names.iter().map(|_| "");
    let units = first.clone().map(|_| "").chain(columns.iter().map(|_| "ms")).chain(blank).collect();
    let headings = first.chain(columns.iter().map(|column| column.name())).chain(names.clone()).collect();
    (!hops.is_empty()).then(|| HopTable { headings, units, rows: rows.collect() })
}

/// The series of a hop: of the requests that expire there, then of those to its address.
pub(crate) fn hop_series<'a>(run: &'a Run, hop: &Hop) -> Vec<&'a Series> {
    let of = |metric| run.series(&key(metric, hop.number));
    [Metric::HopRtt, Metric::HopEcho].into_iter().filter_map(of).collect()
}

/// The hop that is the end of the path: its number, its name, and the series by which the run is
/// judged, or that of the probes that reach it.
pub(crate) fn end_of<'a>(run: &'a Run, diagnosis: &Diagnosis) -> Option<(u8, &'a str, Vec<&'a Series>)> {
    let number = run.path.as_ref()?.server_hop?;
    let of_probes = || run.series(&key(Metric::HopRtt, number));
    let judged = diagnosis.latency_source.and_then(|metric| run.series(&SeriesKey::of(metric)));
    // A test has probes of its server, whose name is in the headline.
    let name = match run.command.as_str() {
        "path" => run.facts.get(&Fact::Address).map_or("host", String::as_str),
        _ => "server",
    };
    judged.or_else(of_probes).map(|series| (number, name, Vec::from([series])))
}

fn key(metric: Metric, hop: u8) -> SeriesKey {
    SeriesKey { scope: Some(hop.to_string()), ..SeriesKey::of(metric) }
}

/// A column of delays.
#[derive(Clone, Copy)]
enum Column {
    /// The median of a phase.
    Phase(PhaseKind, &'static str),
    /// A percentile of all.
    Percentile(f64, &'static str),
}

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Column::Phase(_, name) | Column::Percentile(_, name) => name,
        }
    }
}

/// The phases of a test, or percentiles of a period without phases.
fn columns(run: &Run) -> Vec<Column> {
    let has = |kind| run.phases.iter().any(|phase| phase.kind == kind);
    let phases = PHASES.into_iter().filter(|(kind, _)| has(*kind));
    let mut columns: Vec<_> = phases.map(|(kind, name)| Column::Phase(kind, name)).collect();
    if columns.is_empty() {
        columns.extend([(0.0, "min"), (0.5, "median"), (0.95, "p95")].map(|(p, n)| Column::Percentile(p, n)));
    }
    columns.push(Column::Percentile(1.0, "max"));
    columns
}

/// The share of the probes of the first series that have a reply.
fn replies(series: &[&Series]) -> Option<f64> {
    let first = series.first().filter(|one| !one.values.is_empty())?;
    Some(1.0 - first.censored.len() as f64 / first.values.len() as f64)
}

fn dash() -> String {
    String::from("-")
}

/// The delays of all series.
fn delays(run: &Run, columns: &[Column], series: &[&Series]) -> Vec<String> {
    let of_phase = |kind| {
        let phase = run.phases.iter().find(|phase| phase.kind == kind)?;
        median(series.iter().flat_map(|s| s.within(phase)).filter_map(|o| o.value.observed()))
    };
    let all = sorted(series.iter().flat_map(|s| s.iter()).filter_map(|o| o.value.observed()));
    let delay = |column: &Column| match *column {
        Column::Phase(kind, _) => of_phase(kind),
        Column::Percentile(p, _) => percentile_of_sorted(&all, p),
    };
    columns.iter().map(|column| delay(column).map_or_else(dash, milliseconds_bare)).collect()
}

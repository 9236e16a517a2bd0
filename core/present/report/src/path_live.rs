//! The picture while the hops of a path are probed, in the form of mtr(8): numbers of each hop, and
//! its queueing delay over time.
use crate::Style;
use crate::curve::{Curve, Span, phase_name};
use crate::path_chart::{HopRow, cells, legend, phase_line, text_of};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_layout::{Ink, clean, clip, left, right};
use fathom_run::{Metric, Observation, PhaseKind, SeriesKey, Value};
use fathom_stats::DelayHistogram;
use fathom_text::{milliseconds_bare, percent};
use fathom_units::{Duration, Time};

/// Time that a column shows: each has a reply of every hop that answers once a second.
const COLUMN_S: f64 = 1.0;
/// Columns that are remembered: the widest terminal.
const MOST_COLUMNS: f64 = 400.0;
/// Widths of the number of a hop, of its name on terminals of 80 and of many columns, and of each
/// figure.
const NUMBER: usize = 3;
const NAME: [usize; 2] = [18, 40];
const FIGURE: usize = 7;
/// Columns of the chart, from which a name has more room.
const CHART: usize = 60;
const HEADINGS: [&str; 5] = ["loss", "last", "min", "median", "max"];

/// What is known of a hop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathHop {
    /// Number from 1.
    pub number: u8,
    /// Name or address of who answered.
    pub name: Option<String>,
    /// Probes that expire there and were answered or can be considered lost.
    pub sent: u32,
    /// Those of them without a reply.
    pub lost: u32,
}

/// Gathers what the picture needs.
#[derive(Clone, Debug)]
pub struct PathView {
    title: String,
    note: String,
    column_s: f64,
    hops: Vec<PathHop>,
    delays: BTreeMap<u8, Delays>,
    phases: Vec<Span>,
}

#[derive(Clone, Debug, Default)]
struct Delays {
    curve: Curve,
    all: DelayHistogram,
    /// The last, the smallest and the largest delay.
    last_s: f64,
    min_s: f64,
    max_s: f64,
}

impl PathView {
    /// An empty picture of a path whose hops are probed at this interval.
    pub fn new(title: &str, interval: Duration) -> Self {
        PathView {
            title: clean(title),
            note: String::new(),
            column_s: interval.as_secs_f64().max(COLUMN_S),
            hops: Vec::new(),
            delays: BTreeMap::new(),
            phases: Vec::new(),
        }
    }
    /// The hops so far.
    pub fn path(&mut self, hops: Vec<PathHop>) {
        self.hops = hops;
    }
    /// A delay; those of anything but hops are ignored.
    pub fn observe(&mut self, key: &SeriesKey, observation: Observation) {
        let number = key.scope.as_ref().and_then(|scope| scope.parse().ok());
        let (Metric::HopRtt | Metric::HopEcho, Some(number), Value::Observed(delay_s)) =
            (key.metric, number, observation.value)
        else {
            return;
        };
        let delays = self.delays.entry(number).or_default();
        let is_first = delays.all.count() == 0;
        delays.last_s = delay_s;
        delays.min_s = if is_first { delay_s } else { delays.min_s.min(delay_s) };
        delays.max_s = delays.max_s.max(delay_s);
        delays.all.record(Duration::from_secs_f64(delay_s));
        let (points, at) = (&mut delays.curve.points, observation.at.as_secs_f64());
        // Late replies arrive after those of later probes.
        let place = points.partition_point(|point| point.0 <= at);
        points.insert(place, (at, delay_s));
        let oldest = at - MOST_COLUMNS * self.column_s;
        // The first points are kept while the idle phase, which is their base, is known by them.
        let is_old = points.first().is_some_and(|point| point.0 < oldest) && self.phases.is_empty();
        if is_old {
            points.remove(0);
        }
    }
    /// A phase began.
    pub fn phase_started(&mut self, kind: PhaseKind, at: Time) {
        let start = at.as_secs_f64();
        self.phases.last_mut().into_iter().for_each(|phase| phase.end = start);
        self.phases.push(Span { kind, start, end: f64::INFINITY });
    }
    /// A line for the person, shown below the chart until the next one.
    pub fn note(&mut self, text: &str) {
        self.note = clean(text);
    }

    /// The picture at `now`: at most as many lines and cells as the terminal has.
    pub fn render(&self, now: Time, (columns, rows): (u16, u16), style: Style) -> String {
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let figures = HEADINGS.len() * FIGURE;
        let fixed = NUMBER + 1 + figures + 1;
        let name_width = columns.saturating_sub(fixed + CHART).clamp(NAME[0], NAME[1]);
        let before = fixed + name_width;
        let width = columns.saturating_sub(before);
        let end = (libm::floor(now.as_secs_f64() / self.column_s) + 1.0) * self.column_s;
        let range = (end - width as f64 * self.column_s, end);
        let heading = HEADINGS
            .iter()
            .fold(left("hop", NUMBER + 1 + name_width), |text, one| text + &right(one, FIGURE));
        let mut lines =
            Vec::from([self.title_line(now, columns, style), style.ink(Ink::Bold, &clip(&heading, columns))]);
        let room = rows.saturating_sub(lines.len() + 3);
        let idle = self.phases.iter().copied().find(|span| span.kind == PhaseKind::Idle);
        let row = |hop: &PathHop| {
            let curve = self.delays.get(&hop.number).map_or_else(Curve::default, |one| one.curve.clone());
            HopRow::new(String::new(), curve, idle)
        };
        let charts = cells(&self.hops.iter().map(row).collect::<Vec<_>>(), range, width);
        lines.extend(self.hops.iter().zip(charts).take(room).map(|(hop, chart)| {
            let name = hop.name.as_ref().map_or_else(|| "no reply".to_string(), |text| clean(text));
            let number = right(&hop.number.to_string(), NUMBER);
            format!("{number} {}{} {}", left(&name, name_width), self.figures(hop), text_of(&chart, style))
        }));
        let hidden = self.hops.len().saturating_sub(room);
        let more = if hidden > 0 { format!("    and {hidden} more") } else { String::new() };
        let phases = phase_line(&self.phases, range, width, style);
        lines.push(style.ink(Ink::Dim, &format!("{} {phases}", left(&more, before - 1))));
        lines.push(style.ink(Ink::Dim, &clip(&legend(style), columns)));
        lines.push(style.ink(Ink::Dim, &clip(&self.note, columns)));
        lines.truncate(rows);
        lines.join("\n")
    }
    fn title_line(&self, now: Time, columns: usize, style: Style) -> String {
        let seconds = now.as_secs_f64();
        let phase = self.phases.last().map_or("", |phase| phase_name(phase.kind));
        let clock = format!(" {phase} {:02}:{:02}", (seconds / 60.0) as u64, (seconds % 60.0) as u64);
        let room = columns.saturating_sub(clock.len());
        format!("{}{}", style.ink(Ink::Bold, &left(&self.title, room)), style.ink(Ink::Dim, &clock))
    }
    fn figures(&self, hop: &PathHop) -> String {
        let delays = self.delays.get(&hop.number).filter(|one| one.all.count() > 0);
        let ms = |value: Option<f64>| value.map_or_else(|| "-".to_string(), milliseconds_bare);
        let median = delays.and_then(|one| one.all.percentile(0.5)).map(Duration::as_secs_f64);
        let loss = (hop.sent > 0).then(|| percent(f64::from(hop.lost) / f64::from(hop.sent)));
        [
            loss.unwrap_or_else(|| "-".to_string()),
            ms(delays.map(|one| one.last_s)),
            ms(delays.map(|one| one.min_s)),
            ms(median),
            ms(delays.map(|one| one.max_s)),
        ]
        .iter()
        .fold(String::new(), |text, one| text + &right(one, FIGURE))
    }
}

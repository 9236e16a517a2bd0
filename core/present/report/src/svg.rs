//! Charts as SVG: inside the HTML page, and as separate pictures.
use crate::axis::{Axis, label};
use crate::curve::{Column, Curve, Span, phase_name, source_name, spans, time_range, widest_bridge};
use crate::flows::{self, FlowCurve, highest};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::{Metric, PhaseKind, Run, SeriesKey};
use fathom_stats::{DelayHistogram, Sample};
use fathom_units::Direction;

/// Size of a chart in user units.
pub(crate) const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 250.0;
/// Width and height of a chart.
pub(crate) const SIZE: [f64; 2] = [WIDTH, HEIGHT];
/// Space around the plotted area: left, top, right, bottom.
const MARGIN: [f64; 4] = [52.0, 46.0, 20.0, 28.0];
/// Columns of values: one for each unit of width would show no more.
const COLUMNS: usize = 480;
/// A true queue that never holds a packet this long is not drawn.
const SHORTEST_QUEUE_MS: f64 = 1.0;
/// A gap of this share of the width is not bridged by a line.
const GAP: usize = COLUMNS / 24;

/// Shared axes of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Length of the time axis in seconds.
    pub(crate) seconds: f64,
    /// Smallest and largest latency in ms.
    pub(crate) latency: (f64, f64),
    /// Largest one-way delay in ms.
    pub(crate) one_way: f64,
    /// Longest round trip of a captured flow in ms.
    pub(crate) round_trip: f64,
    /// Most outstanding data of a captured flow in kB.
    pub(crate) outstanding: f64,
    /// Largest goodput in Mbit/s.
    pub(crate) goodput: f64,
}

impl Extent {
    /// That of one run.
    pub(crate) fn of(run: &Run, diagnosis: &Diagnosis) -> Extent {
        let (start, end) = time_range(run);
        let high = |c: &Curve| c.range().map_or(0.0, |r| r.1);
        Extent {
            seconds: end - start,
            latency: Curve::latency(run, diagnosis.latency_source).range().unwrap_or((1.0, 1.0)),
            one_way: Direction::BOTH.map(|d| high(&Curve::one_way(run, d))).into_iter().fold(0.0, f64::max),
            round_trip: highest(&flows::round_trips(run), high),
            outstanding: highest(&flows::outstanding(run), high),
            goodput: Direction::BOTH
                .map(|d| Curve::goodput(run, d).high_without_spikes())
                .into_iter()
                .fold(highest(&flows::goodput(run), Curve::high_without_spikes), f64::max),
        }
    }
    /// What holds both.
    pub(crate) fn union(self, other: Extent) -> Extent {
        Extent {
            seconds: self.seconds.max(other.seconds),
            latency: (self.latency.0.min(other.latency.0), self.latency.1.max(other.latency.1)),
            one_way: self.one_way.max(other.one_way),
            round_trip: self.round_trip.max(other.round_trip),
            outstanding: self.outstanding.max(other.outstanding),
            goodput: self.goodput.max(other.goodput),
        }
    }
}

/// Text made safe inside SVG and HTML, attributes included. Names from right to left are isolated.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::new();
    for c in fathom_layout::isolated(&fathom_layout::clean(text)).chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            other => safe.push(other),
        }
    }
    safe
}

/// A plotted area with its axes.
pub(crate) struct Panel {
    x: Axis,
    y: Axis,
    body: String,
    /// Class and name of each curve.
    legend: Vec<(&'static str, String)>,
}

impl Panel {
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        Panel { x, y, body: String::new(), legend: Vec::new() }
    }
    fn px(&self, value: f64) -> f64 {
        MARGIN[0] + self.x.position(value) * (WIDTH - MARGIN[0] - MARGIN[2])
    }
    fn py(&self, value: f64) -> f64 {
        HEIGHT - MARGIN[3] - self.y.position(value) * (HEIGHT - MARGIN[1] - MARGIN[3])
    }
    fn bottom() -> f64 {
        HEIGHT - MARGIN[3]
    }
    fn phases(&mut self, spans: &[Span], origin: f64) {
        for span in spans {
            let (x, end) = (self.px(span.start - origin), self.px(span.end - origin));
            let class = span.kind.name();
            let (top, height) = (MARGIN[1], Panel::bottom() - MARGIN[1]);
            let width = end - x;
            self.body += &format!(
                "<rect class=\"phase {class}\" x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height}\"/>"
            );
            if width > 40.0 {
                let name = phase_name(span.kind);
                self.body += &format!(
                    "<text class=\"phase-name\" x=\"{:.1}\" y=\"{}\">{name}</text>",
                    x + 1.0,
                    top - 5.0
                );
            }
        }
    }
    pub(crate) fn grid(&mut self, x_unit: &str) {
        let (left, right) = (MARGIN[0], WIDTH - MARGIN[2]);
        for tick in self.y.ticks().to_vec() {
            let y = self.py(tick);
            self.body +=
                &format!("<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            let text = label(tick);
            self.body += &format!(
                "<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{text}</text>",
                left - 8.0,
                y + 3.5
            );
        }
        for tick in self.x.ticks().to_vec() {
            let (x, bottom) = (self.px(tick), Panel::bottom());
            self.body += &format!(
                "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom}\" y2=\"{}\"/>",
                bottom + 4.0
            );
            let text = label(tick);
            self.body += &format!(
                "<text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{text}{x_unit}</text>",
                bottom + 18.0
            );
        }
        let bottom = Panel::bottom();
        self.body +=
            &format!("<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>");
    }
    fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let steps: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        self.body += &format!("<path class=\"{class}\" d=\"M{}\"/>", steps.join("L"));
    }
    /// A curve: its medians as a line, and what lies between its smallest and largest values as a
    /// band.
    fn curve(&mut self, class: &'static str, name: &str, curve: &Curve, time: (f64, f64), fill: Fill) {
        if curve.is_empty() {
            return;
        }
        let (start, end) = time;
        let x = |c: &Column| (c.index as f64 + 0.5) / COLUMNS as f64 * (end - start);
        let columns = curve.columns(start, end, COLUMNS);
        let bridge = widest_bridge(&columns, GAP);
        for part in columns.chunk_by(|a, b| b.index - a.index <= bridge) {
            let line: Vec<(f64, f64)> = part.iter().map(|c| (self.px(x(c)), self.py(c.mid))).collect();
            let mut area: Vec<(f64, f64)> = part.iter().map(|c| (self.px(x(c)), self.py(c.high))).collect();
            match fill {
                Fill::Band => area.extend(part.iter().rev().map(|c| (self.px(x(c)), self.py(c.low)))),
                Fill::Ground => {
                    area.clone_from(&line);
                    let ends = line.first().zip(line.last());
                    area.extend(
                        ends.into_iter().flat_map(|(a, b)| [(b.0, Panel::bottom()), (a.0, Panel::bottom())]),
                    );
                }
            }
            self.path(&format!("fill {class}"), &area);
            self.path(&format!("line {class}"), &line);
        }
        self.legend.push((class, name.into()));
    }
    /// Marks at the top for probes that were lost; one for each column that has any.
    fn lost(&mut self, times: &[f64], origin: f64) {
        let mut columns: Vec<i64> = times.iter().map(|t| self.px(t - origin) as i64).collect();
        columns.dedup();
        if columns.is_empty() {
            return;
        }
        let (top, low) = (MARGIN[1] - 1.0, MARGIN[1] + 5.0);
        let marks: Vec<String> = columns.iter().map(|x| format!("M{x} {top}V{low}")).collect();
        self.body += &format!("<path class=\"lost\" d=\"{}\"/>", marks.join(""));
        self.legend.push(("lost-key", format!("{} lost", times.len())));
    }
    /// A curve for each flow.
    fn flows(&mut self, flows: &[FlowCurve], time: (f64, f64)) {
        for (flow, class) in flows.iter().zip(["down", "up", "latency", "both"]) {
            self.curve(class, &flow.name, &flow.curve, time, Fill::Band);
        }
    }
    fn reference(&mut self, value: f64, name: String) {
        let (y, left, right) = (self.py(value), MARGIN[0], WIDTH - MARGIN[2]);
        self.body +=
            &format!("<line class=\"reference\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        self.legend.push(("reference-key", name));
    }
    /// The line on which y is `slope` times x, as far as it is within the axes; its name is at its
    /// upper end.
    pub(crate) fn diagonal(&mut self, slope: f64, name: &str) {
        let (x, y) = (self.x.range(), self.y.range());
        let (low, high) = (x.0.max(y.0 / slope), x.1.min(y.1 / slope));
        if low >= high {
            return;
        }
        let ends = [low, high].map(|at| (self.px(at), self.py(slope * at)));
        self.path("reference", &ends);
        let (at_x, at_y) = (ends[1].0, ends[1].1 - 4.0);
        self.body += &format!(
            "<text class=\"tick\" text-anchor=\"end\" x=\"{at_x:.1}\" y=\"{at_y:.1}\">{name}</text>"
        );
    }
    /// A point, or a triangle for a lower bound.
    pub(crate) fn mark(&mut self, class: &str, (x, y): (f64, f64), is_lower_bound: bool) {
        let (x, y) = (self.px(x), self.py(y));
        self.body += &if is_lower_bound {
            format!("<path class=\"dot {class}\" d=\"M{x:.1} {:.1}l4 7h-8z\"/>", y - 4.0)
        } else {
            format!("<circle class=\"dot {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>")
        };
    }
    /// Explains a class of marks.
    pub(crate) fn key(&mut self, class: &'static str, name: String) {
        self.legend.push((class, name));
    }
    /// The upper corners of an octave's bar.
    fn bar(&self, (octave, share): (i32, f64)) -> [(f64, f64); 2] {
        let y = self.py(share * 100.0);
        [octave, octave + 1].map(|edge| (self.px(libm::exp2(f64::from(edge))), y))
    }
    /// The chart with its title and legend; `None` if nothing is drawn in it.
    pub(crate) fn finish(self, title: &str) -> Option<String> {
        if self.legend.is_empty() {
            return None;
        }
        let (left, right) = (MARGIN[0] - 38.0, WIDTH - MARGIN[2]);
        let keys: Vec<String> = self
            .legend
            .iter()
            .map(|(class, name)| format!("<tspan class=\"dot {class}\">●</tspan> {}", escape(name)))
            .collect();
        let head = format!(
            "<text class=\"title\" x=\"{left}\" y=\"18\">{}</text><text class=\"key\" text-anchor=\"end\" \
             x=\"{right}\" y=\"18\">{}</text>",
            escape(title),
            keys.join("\u{2003}"),
        );
        let label = escape(title);
        Some(format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">{head}{}</svg>",
            self.body
        ))
    }
}

/// What lies under a curve's line.
#[derive(Clone, Copy)]
enum Fill {
    /// The space between smallest and largest values.
    Band,
    /// All down to the axis.
    Ground,
}

fn time_panel(run: &Run, extent: &Extent, y: Axis) -> Panel {
    let mut panel = Panel::new(Axis::exact(0.0, extent.seconds, 10), y);
    panel.phases(&spans(run), time_range(run).0);
    panel.grid(" s");
    panel
}

fn window(run: &Run, extent: &Extent) -> (f64, f64) {
    let start = time_range(run).0;
    (start, start + extent.seconds)
}

/// Latency over time, with the true queue where the run knows it.
pub(crate) fn latency_chart(run: &Run, diagnosis: &Diagnosis, extent: &Extent) -> Option<String> {
    let (low, high) = extent.latency;
    let mut panel = time_panel(run, extent, Axis::fitting(low, high, 6));
    let time = window(run, extent);
    for (direction, class, name) in
        [(Direction::Down, "truth-down", "true queue down"), (Direction::Up, "truth-up", "true queue up")]
    {
        if let Some(curve) = longest_queue(run, direction) {
            panel.curve(class, name, &curve, time, Fill::Band);
        }
    }
    let latency = Curve::latency(run, diagnosis.latency_source);
    panel.curve("latency", source_name(diagnosis.latency_source), &latency, time, Fill::Band);
    panel.lost(&latency.lost, time.0);
    if let Some(idle) = diagnosis.phase(PhaseKind::Idle).and_then(|p| p.latency) {
        let name = format!("idle {}", fathom_text::milliseconds(idle.p50.value));
        panel.reference(idle.p50.value * 1e3, name);
    }
    panel.finish(if run.capture.is_some() { "Delay of the queue, ms" } else { "Latency, ms" })
}

/// True sojourn times in ms of the direction's hop with the longest queue; the others would only be
/// lines at zero.
fn longest_queue(run: &Run, direction: Direction) -> Option<Curve> {
    let is_truth =
        |s: &&fathom_run::Series| s.key.metric == Metric::Sojourn && s.key.direction == Some(direction);
    let curves = run.series.iter().filter(is_truth).map(|s| Curve::of(run, &s.key).scaled(1e3));
    let highest = |c: &Curve| c.range().map_or(0.0, |r| r.1);
    curves.max_by(|a, b| highest(a).total_cmp(&highest(b))).filter(|c| highest(c) >= SHORTEST_QUEUE_MS)
}

/// Goodput over time.
pub(crate) fn goodput_chart(run: &Run, extent: &Extent) -> Option<String> {
    let mut panel = time_panel(run, extent, Axis::linear(extent.goodput, 6));
    for direction in [Direction::Down, Direction::Up] {
        let name = direction.name();
        panel.curve(name, name, &Curve::goodput(run, direction), window(run, extent), Fill::Ground);
    }
    panel.flows(&flows::goodput(run), window(run, extent));
    panel.finish("Goodput, Mbit/s")
}

/// Round trips of a capture's flows over time.
pub(crate) fn round_trip_chart(run: &Run, extent: &Extent) -> Option<String> {
    let mut panel = time_panel(run, extent, Axis::linear(extent.round_trip, 6));
    panel.flows(&flows::round_trips(run), window(run, extent));
    panel.finish("Round trips, ms")
}

/// What a capture's flows had outstanding over time.
pub(crate) fn outstanding_chart(run: &Run, extent: &Extent) -> Option<String> {
    let mut panel = time_panel(run, extent, Axis::linear(extent.outstanding, 6));
    panel.flows(&flows::outstanding(run), window(run, extent));
    panel.finish("Outstanding data, kB")
}

/// One-way delays over time; `None` if there are none.
pub(crate) fn one_way_chart(run: &Run, extent: &Extent) -> Option<String> {
    let [up, down] = Direction::BOTH.map(|d| Curve::one_way(run, d));
    let mut panel = time_panel(run, extent, Axis::linear(extent.one_way, 6));
    panel.curve("down", "on the way down", &down, window(run, extent), Fill::Band);
    panel.curve("up", "on the way up", &up, window(run, extent), Fill::Band);
    panel.finish("One-way delay, ms: where the queue is")
}

/// Share of probes with at most a latency, for each phase. Lost probes keep a curve from reaching
/// the top.
pub(crate) fn distribution_chart(run: &Run, diagnosis: &Diagnosis, extent: &Extent) -> Option<String> {
    let (low, high) = extent.latency;
    let mut panel = Panel::new(Axis::log(low.max(1e-3), high, 12), Axis::linear(100.0, 6));
    panel.grid("");
    let series = diagnosis.latency_source.and_then(|m| run.series(&SeriesKey::of(m)));
    for phase in run.phases.iter().filter(|p| p.kind != PhaseKind::Drain) {
        let pairs = series.into_iter().flat_map(|s| s.within(phase)).map(|o| match o.value {
            fathom_run::Value::Observed(v) => (v, false),
            fathom_run::Value::Censored { at_least } => (at_least, true),
        });
        let sample = Sample::new(pairs);
        let points: Vec<(f64, f64)> = (0..=200)
            .filter_map(|i| {
                let share = f64::from(i) / 200.0;
                let at = sample.percentile(share).filter(|v| !v.at_least)?;
                Some((panel.px(at.value * 1e3), panel.py(share * 100.0)))
            })
            .collect();
        if points.len() > 1 {
            panel.path(&format!("line {}", phase.kind.name()), &points);
            panel.legend.push((phase.kind.name(), phase_name(phase.kind).into()));
        }
    }
    panel.finish("Share of probes (%) answered within … ms")
}

/// A histogram as bars.
struct Bars {
    class: &'static str,
    name: &'static str,
    /// Number of the octave of microseconds, and its share of the counts.
    octaves: Vec<(i32, f64)>,
}

/// How late the instrument was: share of wake-ups for each factor of two.
pub(crate) fn lateness_chart(run: &Run) -> Option<String> {
    let instrument = &run.instrument;
    let named = [
        ("timer", "probe timer", Some(&instrument.timer_lateness)),
        ("send", "sending", Some(&instrument.send_lateness)),
        ("line-late", "emulated line", instrument.line_lateness.as_ref()),
    ];
    let known =
        named.into_iter().filter_map(|(class, name, h)| Some(Bars { class, name, octaves: octaves(h?) }));
    let bars: Vec<Bars> = known.filter(|b| !b.octaves.is_empty()).collect();
    let all = || bars.iter().flat_map(|b| &b.octaves);
    let top = all().map(|b| b.1).fold(0.0, f64::max);
    let (low, high) = all().fold((0, 0), |(low, high), b| (low.min(b.0), high.max(b.0 + 1)));
    let axis = Axis::log(libm::exp2(f64::from(low)), libm::exp2(f64::from(high)), 10);
    let mut panel = Panel::new(axis, Axis::linear(top * 100.0, 5));
    panel.grid("");
    for Bars { class, name, octaves } in bars {
        let outline: Vec<(f64, f64)> = octaves.iter().flat_map(|bar| panel.bar(*bar)).collect();
        let mut area = outline.clone();
        let ends = outline.first().zip(outline.last());
        area.extend(ends.into_iter().flat_map(|(a, b)| [(b.0, Panel::bottom()), (a.0, Panel::bottom())]));
        panel.path(&format!("fill {class}"), &area);
        panel.path(&format!("line {class}"), &outline);
        panel.legend.push((class, name.into()));
    }
    panel.finish("Lateness of the instrument, % of events by µs")
}

/// Shares of a histogram's counts in octaves of microseconds, gaps filled with zero.
fn octaves(histogram: &DelayHistogram) -> Vec<(i32, f64)> {
    let total = histogram.count().max(1) as f64;
    let octave = |ns: u64| libm::floor(libm::log2((ns.max(1)) as f64 / 1e3)) as i32;
    let mut shares = alloc::collections::BTreeMap::new();
    for (edge, count) in histogram.bins() {
        // Below an eighth of a microsecond is no lateness.
        *shares.entry(octave(edge.as_nanos()).max(-3)).or_insert(0.0) += count as f64 / total;
    }
    let Some((first, last)) = shares.keys().next().copied().zip(shares.keys().last().copied()) else {
        return Vec::new();
    };
    (first..=last).map(|o| (o, shares.get(&o).copied().unwrap_or(0.0))).collect()
}

/// Colors, so that a picture is self-contained; the page has the same names in its style sheet.
pub(crate) const PALETTE: &str = include_str!("html/palette.css");
/// The style of the charts' classes.
pub(crate) const CHART_STYLE: &str = include_str!("html/chart.css");

/// Height of a title in [`svg`].
const TITLE_HEIGHT: f64 = 36.0;

/// Latency and goodput as one self-contained picture, with the flows of a capture between them;
/// several runs are side by side, on shared axes.
pub fn svg(runs: &[(&Run, &Diagnosis)]) -> String {
    let extents = runs.iter().map(|(run, diagnosis)| Extent::of(run, diagnosis));
    let Some(extent) = extents.reduce(Extent::union) else { return String::new() };
    let charts: Vec<[Option<String>; 4]> = runs.iter().map(|(run, d)| over_time(run, d, &extent)).collect();
    let is_there = |row: &usize| charts.iter().any(|column| column.get(*row).is_some_and(Option::is_some));
    let rows: Vec<usize> = (0..4).filter(is_there).collect();
    let (width, height) = (WIDTH * runs.len() as f64, HEIGHT * rows.len() as f64 + TITLE_HEIGHT + 4.0);
    let columns: String = runs
        .iter()
        .zip(&charts)
        .enumerate()
        .map(|(i, ((run, _), drawn))| column(run, drawn, &rows, WIDTH * i as f64))
        .collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\
         <style>{PALETTE}{CHART_STYLE}</style><rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"10\"/>\
         {columns}</svg>"
    )
}

/// The charts of all sources, from the top.
pub(crate) fn over_time(run: &Run, diagnosis: &Diagnosis, extent: &Extent) -> [Option<String>; 4] {
    [
        latency_chart(run, diagnosis, extent),
        round_trip_chart(run, extent),
        outstanding_chart(run, extent),
        goodput_chart(run, extent),
    ]
}

/// The title and the charts of one run, with their left edge at `x`.
fn column(run: &Run, charts: &[Option<String>], rows: &[usize], x: f64) -> String {
    let nested = |(place, row): (usize, &usize)| {
        let chart = charts.get(*row).cloned().flatten().unwrap_or_default();
        let y = TITLE_HEIGHT + HEIGHT * place as f64;
        chart.replacen(
            "<svg ",
            &format!("<svg x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" "),
            1,
        )
    };
    format!(
        "<text class=\"heading\" x=\"{}\" y=\"26\">{}</text>{}",
        x + 14.0,
        escape(&fathom_layout::clip(&run.title, 90)),
        rows.iter().enumerate().map(nested).collect::<String>(),
    )
}

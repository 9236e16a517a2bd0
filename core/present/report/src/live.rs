//! The picture while a run is going on.
use crate::Style;
use crate::chart::Chart;
use crate::curve::{Curve, Span, phase_name};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fathom_layout::{Ink, cells, clean, clip, left};
use fathom_run::{Metric, Observation, PhaseEnd, PhaseKind, SeriesKey, Value};
use fathom_stats::median;
use fathom_text::{milliseconds, rate};
use fathom_units::{Direction, PerDirection, Time};

/// Series that can be shown as latency, the best first.
const LATENCIES: [Metric; 3] = [Metric::UdpRtt, Metric::IcmpRtt, Metric::TcpConnect];
/// The charts keep one value for each such span: enough for any terminal, and drawing stays cheap.
const BIN_S: f64 = 0.05;
/// "Now" is the median of this many last answers.
const NOW: usize = 11;

/// Gathers what the picture needs; drawing it takes below 1 ms.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    title: String,
    note: String,
    phases: Vec<LivePhase>,
    latencies: [Latency; LATENCIES.len()],
    goodput: PerDirection<Curve>,
}

#[derive(Clone, Debug)]
struct LivePhase {
    span: Span,
    ended: bool,
    /// Median latency, once it has ended.
    median_s: Option<f64>,
}

/// One kind of probe.
#[derive(Clone, Debug, Default)]
struct Latency {
    /// Largest value of each bin, in ms: a spike is what a person should see.
    curve: Curve,
    /// All answers of the current phase, in seconds.
    phase: Vec<f64>,
    max_s: f64,
    lost: u32,
}

impl Latency {
    fn observe(&mut self, at: f64, value: Value) {
        match value {
            Value::Observed(s) => {
                self.phase.push(s);
                self.max_s = self.max_s.max(s);
                keep_largest(&mut self.curve, at, s * 1e3);
            }
            Value::Censored { .. } => self.lost += 1,
        }
    }
    fn now_s(&self) -> Option<f64> {
        median(self.phase.iter().rev().take(NOW).copied())
    }
}

fn keep_largest(curve: &mut Curve, at: f64, value: f64) {
    let bin = |t: f64| (t / BIN_S) as u64;
    match curve.points.last_mut() {
        Some(last) if bin(last.0) == bin(at) => last.1 = last.1.max(value),
        _ => curve.points.push((at, value)),
    }
}

impl LiveView {
    /// An empty picture under a title.
    pub fn new(title: &str) -> Self {
        LiveView { title: clean(title), ..LiveView::default() }
    }
    /// A new observation; the metrics that are not shown are ignored.
    pub fn observe(&mut self, key: &SeriesKey, observation: Observation) {
        let at = observation.at.as_secs_f64();
        if key.flow.is_some() || key.scope.is_some() {
            return;
        }
        if let Some(i) = LATENCIES.iter().position(|m| *m == key.metric) {
            self.latencies[i].observe(at, observation.value);
        }
        if let (Metric::Goodput, Some(direction), Value::Observed(v)) =
            (key.metric, key.direction, observation.value)
        {
            self.goodput[direction].points.push((at, v / 1e6));
        }
    }
    /// A phase began.
    pub fn phase_started(&mut self, kind: PhaseKind, at: Time) {
        let start = at.as_secs_f64();
        self.latencies.iter_mut().for_each(|l| l.phase.clear());
        self.phases.push(LivePhase { span: Span { kind, start, end: start }, ended: false, median_s: None });
    }
    /// The current phase ended. Its reason is shown if it is not the usual one.
    pub fn phase_ended(&mut self, end: PhaseEnd, at: Time) {
        let median_s = median(self.shown().phase.iter().copied());
        if let Some(phase) = self.phases.last_mut() {
            (phase.ended, phase.median_s, phase.span.end) = (true, median_s, at.as_secs_f64());
            if end == PhaseEnd::TimeLimit {
                self.note = format!("{} reached its time limit", phase_name(phase.span.kind));
            }
        }
    }
    /// A line for the person, shown below the charts until the next one.
    pub fn note(&mut self, text: &str) {
        self.note = clean(text);
    }
    /// The kind of probe that is shown: the best one with an answer.
    fn shown(&self) -> &Latency {
        self.latencies.iter().find(|l| !l.curve.is_empty()).unwrap_or(&self.latencies[0])
    }

    /// The picture at `now`: at most `rows` lines of at most `columns` cells, joined by `\n`,
    /// without cursor movement.
    pub fn render(&self, now: Time, columns: u16, rows: u16, style: Style) -> String {
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let now = now.as_secs_f64();
        let mut lines = vec![self.title_line(now, columns, style), self.phase_line(now, columns, style)];
        lines.extend(self.number_lines(columns, style));
        let room = rows.saturating_sub(lines.len() + 1);
        if room >= 5 {
            lines.extend(self.charts(now, columns, room, style));
        }
        lines.push(style.ink(Ink::Dim, &clip(&self.note, columns)));
        lines.truncate(rows);
        lines.join("\n")
    }
    fn title_line(&self, now: f64, columns: usize, style: Style) -> String {
        let clock = format!(" {:02}:{:02}", (now / 60.0) as u64, (now % 60.0) as u64);
        let room = columns.saturating_sub(clock.len());
        format!(
            "{}{}",
            style.ink(Ink::Bold, &left(&self.title, room)),
            style.ink(Ink::Dim, &clip(&clock, columns))
        )
    }
    /// The phases so far, each with its median latency; the current one with its time.
    fn phase_line(&self, now: f64, columns: usize, style: Style) -> String {
        let words = self.phases.iter().map(|p| match (p.ended, p.median_s) {
            (true, Some(s)) => format!("{} {}", phase_name(p.span.kind), milliseconds(s)),
            (true, None) => String::from(phase_name(p.span.kind)),
            (false, _) => {
                format!(
                    "{} {} {:.0} s",
                    style.pick("▸", ">"),
                    phase_name(p.span.kind),
                    (now - p.span.start).max(0.0)
                )
            }
        });
        let words: Vec<String> = words.collect();
        let separator = style.pick(" · ", " | ");
        // What happens now matters most: earlier phases give way.
        let fitting = |from: &usize| cells(&words[*from..].join(separator)) <= columns;
        let from = (0..words.len()).find(fitting).unwrap_or(words.len().saturating_sub(1));
        clip(&words[from..].join(separator), columns)
    }
    fn number_lines(&self, columns: usize, style: Style) -> Vec<String> {
        let latency = self.shown();
        let idle = self.phases.iter().find(|p| p.span.kind == PhaseKind::Idle).and_then(|p| p.median_s);
        let number = |s: Option<f64>| s.map_or(String::from("-"), milliseconds);
        let mut parts = vec![
            (Ink::Latency, format!("latency {}", number(latency.now_s()))),
            (Ink::Dim, format!("idle {}", number(idle))),
            (Ink::Dim, format!("max {}", number(Some(latency.max_s).filter(|m| *m > 0.0)))),
        ];
        if latency.lost > 0 {
            parts.push((Ink::Bad, format!("lost {}", latency.lost)));
        }
        for (direction, ink) in [(Direction::Down, Ink::Down), (Direction::Up, Ink::Up)] {
            let last = self.current_goodput(direction);
            parts.push((ink, format!("{direction} {}", last.map_or(String::from("-"), |v| rate(v * 1e6)))));
        }
        flow(&parts, columns, style)
    }
    /// The last goodput of the current phase, in Mbit/s.
    fn current_goodput(&self, direction: Direction) -> Option<f64> {
        let phase = self.phases.last().filter(|p| !p.ended)?;
        let last = self.goodput[direction].points.last();
        last.filter(|(at, _)| *at > phase.span.start).map(|(_, v)| *v)
    }
    fn charts(&self, now: f64, columns: usize, room: usize, style: Style) -> Vec<String> {
        let mut spans: Vec<Span> = self.phases.iter().map(|p| p.span).collect();
        if let Some(last) = spans.last_mut() {
            last.end = last.end.max(now);
        }
        let chart = |title, curves: &[_], rows, cut_spikes| {
            Chart { title, curves, time: (0.0, now.max(5.0)), spans: &spans, cut_spikes }
                .lines(columns, rows, style)
        };
        let goodput_rows = if room >= 13 { room * 2 / 5 } else { 0 };
        let latency = &self.shown().curve;
        let mut lines = chart("latency, ms", &[(latency, Ink::Latency, '*')], room - goodput_rows, false);
        if goodput_rows > 0 {
            let PerDirection { up, down } = &self.goodput;
            let title = style.pick("goodput, Mbit/s", "goodput, Mbit/s: d down, u up");
            lines.extend(chart(title, &[(down, Ink::Down, 'd'), (up, Ink::Up, 'u')], goodput_rows, true));
        }
        lines
    }
}

/// Parts side by side, two spaces apart, on as many lines as they need.
fn flow(parts: &[(Ink, String)], columns: usize, style: Style) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (ink, text) in parts {
        let width = cells(text);
        if used > 0 && used + 2 + width > columns {
            lines.push(String::new());
            used = 0;
        }
        let gap = if used > 0 { "  " } else { "" };
        if let Some(line) = lines.last_mut() {
            *line += gap;
            *line += &style.ink(*ink, &clip(text, columns));
        }
        used += gap.len() + width;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Detail;

    fn view() -> LiveView {
        let mut view = LiveView::new("line: 20Mbit down, 3Mbit up");
        let mut phase = |kind, start: u64, end: u64, ms: f64, up: f64| {
            view.phase_started(kind, Time::from_nanos(start * 1_000_000_000));
            for i in start * 50..end * 50 {
                let at = Time::from_nanos(i * 20_000_000);
                let latency = Observation { at, value: Value::Observed(ms / 1e3) };
                view.observe(&SeriesKey::of(Metric::UdpRtt), latency);
                let goodput = Observation { at, value: Value::Observed(up) };
                view.observe(&SeriesKey::directed(Metric::Goodput, Direction::Up), goodput);
            }
            if kind == PhaseKind::Idle {
                view.phase_ended(PhaseEnd::Settled, Time::from_nanos(end * 1_000_000_000));
            }
        };
        phase(PhaseKind::Idle, 0, 4, 51.0, 0.0);
        phase(PhaseKind::Up, 4, 10, 1049.0, 2.9e6);
        view.note("filling the queue");
        view
    }

    #[test]
    fn fits_every_terminal() {
        let view = view();
        for (columns, rows) in [(80, 24), (40, 15), (20, 8), (200, 60), (1, 1), (0, 0)] {
            let style = Style { color: false, unicode: true, detail: Detail::Normal };
            let picture = view.render(Time::from_nanos(10_000_000_000), columns, rows, style);
            assert!(picture.lines().count() <= usize::from(rows), "{columns} x {rows}");
            let widest = picture.lines().map(|l| l.trim_end()).map(cells).max().unwrap_or(0);
            // Charts need 16 cells; a narrower terminal shows numbers only in part.
            assert!(widest <= usize::from(columns).max(16), "{columns} x {rows}: {widest}\n{picture}");
        }
    }

    #[test]
    fn shows_the_numbers() {
        let picture = view().render(Time::from_nanos(10_000_000_000), 80, 24, Style::default());
        for words in [
            "idle 51 ms | > upload 6 s",
            "latency 1,049 ms  idle 51 ms  max 1,049 ms",
            "up 2.90 Mbit/s",
            "filling",
        ] {
            assert!(picture.contains(words), "{words:?} is not in\n{picture}");
        }
        assert!(picture.is_ascii());
    }
}

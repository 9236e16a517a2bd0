//! The picture while hosts are pinged: a row for each, with a chart on a common time axis.
use crate::Style;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use fathom_layout::{Ink, clean, clip, left, right};
use fathom_text::{milliseconds_bare, percent, thousands};
use fathom_units::{Duration, Time};

/// Time that a cell of a chart shows at least: a minute fits on a narrow terminal.
const SHORTEST_CELL: Duration = Duration::from_secs(1);
/// Cells that are remembered: the widest terminal.
const MOST_CELLS: u64 = 400;
/// Columns of the name of a host, and of each number.
const NAME: usize = 20;
const NUMBER: usize = 8;
/// Headings of the numbers.
const HEADINGS: [&str; 5] = ["loss", "odd", "last", "mean", "max"];
/// Levels of a chart, from the lowest.
const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII_LEVELS: [&str; 8] = [".", ":", "-", "=", "+", "*", "%", "#"];

/// Numbers of a host.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PingCounts {
    /// Probes sent.
    pub sent: u64,
    /// Probes answered.
    pub received: u64,
    /// Late, duplicate and reordered replies.
    pub irregular: u64,
    /// Mean delay in seconds.
    pub mean_s: f64,
    /// Largest delay in seconds.
    pub max_s: f64,
}

/// Gathers what the picture needs.
#[derive(Clone, Debug)]
pub struct PingView {
    cell: Duration,
    hosts: Vec<Host>,
    note: String,
}

#[derive(Clone, Debug)]
struct Host {
    name: String,
    last_s: Option<f64>,
    /// By number of the cell in which the probes were sent.
    cells: BTreeMap<u64, Cell>,
}

/// The probes that were sent while a cell passed.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    waiting: u32,
    /// Largest delay.
    max_s: Option<f64>,
}

impl PingView {
    /// An empty picture of these hosts, which are probed at this interval.
    pub fn new(names: &[String], interval: Duration) -> Self {
        let host = |name: &String| Host { name: clean(name), last_s: None, cells: BTreeMap::new() };
        PingView {
            cell: interval.max(SHORTEST_CELL),
            hosts: names.iter().map(host).collect(),
            note: String::new(),
        }
    }
    /// A probe was sent to a host.
    pub fn sent(&mut self, host: usize, at: Time) {
        let number = self.number(at);
        let Some(host) = self.hosts.get_mut(host) else { return };
        host.cells.entry(number).or_default().waiting += 1;
        while host.cells.len() as u64 > MOST_CELLS {
            host.cells.pop_first();
        }
    }
    /// The probe that was sent at `sent` is answered, however late.
    pub fn answered(&mut self, host: usize, sent: Time, delay: Duration) {
        let (number, delay_s) = (self.number(sent), delay.as_secs_f64());
        let Some(host) = self.hosts.get_mut(host) else { return };
        host.last_s = Some(delay_s);
        if let Some(cell) = host.cells.get_mut(&number) {
            cell.waiting = cell.waiting.saturating_sub(1);
            cell.max_s = Some(cell.max_s.map_or(delay_s, |max| max.max(delay_s)));
        }
    }
    /// A line for the person, shown below the table until the next one.
    pub fn note(&mut self, text: &str) {
        self.note = clean(text);
    }
    const fn number(&self, at: Time) -> u64 {
        at.as_nanos() / self.cell.as_nanos()
    }
    /// The picture at `now`: at most as many lines and cells as the terminal has.
    pub fn render(
        &self,
        now: Time,
        counts: &[PingCounts],
        (columns, rows): (u16, u16),
        style: Style,
    ) -> String {
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let numbers = HEADINGS.len() * NUMBER;
        let name = NAME.min(columns.saturating_sub(numbers));
        let chart = columns.saturating_sub(name + numbers + 1).min(MOST_CELLS as usize);
        let heading =
            HEADINGS.iter().fold(left("host, delays in ms", name), |text, one| text + &right(one, NUMBER));
        let mut lines = vec![style.ink(Ink::Bold, &clip(&heading, columns))];
        let room = rows.saturating_sub(3);
        let shown = self.hosts.iter().zip(counts).take(room);
        lines.extend(shown.map(|(host, of_host)| {
            let shown_numbers = host.numbers(of_host);
            format!(
                "{}{shown_numbers} {}",
                left(&host.name, name),
                host.chart(self.number(now), chart, style)
            )
        }));
        let hidden = self.hosts.len().saturating_sub(room);
        let span = format!("{} ago", self.cell * chart as u64);
        let axis = format!("{}{}", left(&span, chart.saturating_sub(3)), right("now", 3));
        let more = if hidden > 0 { format!("and {hidden} more") } else { String::new() };
        lines.push(style.ink(Ink::Dim, &clip(&format!("{} {axis}", left(&more, name + numbers)), columns)));
        lines.push(style.ink(Ink::Dim, &clip(&self.note, columns)));
        lines.truncate(rows);
        lines.join("\n")
    }
}

impl Host {
    fn numbers(&self, counts: &PingCounts) -> String {
        // What is sent and not answered may still be answered; only older probes count as lost.
        let waiting: u64 = self.cells.last_key_value().map_or(0, |(_, cell)| u64::from(cell.waiting));
        let lost = counts.sent.saturating_sub(counts.received + waiting);
        let delay = |seconds: Option<f64>| seconds.map_or_else(|| "-".to_string(), milliseconds_bare);
        let of_replies = |seconds| (counts.received > 0).then_some(seconds);
        [
            percent(lost as f64 / counts.sent.max(1) as f64),
            thousands(counts.irregular as f64),
            delay(self.last_s),
            delay(of_replies(counts.mean_s)),
            delay(of_replies(counts.max_s)),
        ]
        .iter()
        .fold(String::new(), |text, one| text + &right(one, NUMBER))
    }
    /// The largest delay of each cell on a scale from zero to the largest one, and where none of
    /// the probes is answered.
    fn chart(&self, now: u64, columns: usize, style: Style) -> String {
        let first = (now + 1).saturating_sub(columns as u64);
        let largest = self.cells.range(first..).filter_map(|(_, cell)| cell.max_s).fold(0.0, f64::max);
        let levels = if style.unicode { LEVELS } else { ASCII_LEVELS };
        let start = columns.saturating_sub((now + 1) as usize);
        let mut text = " ".repeat(start);
        for number in first..=now {
            text += &match self.cells.get(&number) {
                Some(Cell { max_s: Some(max_s), .. }) => {
                    let level = (max_s / largest.max(f64::MIN_POSITIVE) * LEVELS.len() as f64) as usize;
                    style.ink(Ink::Latency, levels[level.min(LEVELS.len() - 1)])
                }
                Some(_) if number < now => style.ink(Ink::Bad, "x"),
                _ => " ".to_string(),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Two hosts: one without a reply, and one whose queue drains.
    #[test]
    fn each_host_has_a_row_on_one_time_axis() {
        let mut view = PingView::new(&["silent".to_string(), "drains".to_string()], Duration::from_secs(1));
        for second in 0..6 {
            view.sent(0, at(second * 1_000));
            view.sent(1, at(second * 1_000 + 500));
        }
        for (second, ms) in [(0, 4_857), (1, 3_854), (2, 2_851), (3, 1_844), (4, 12)] {
            view.answered(1, at(second * 1_000 + 500), Duration::from_millis(ms));
        }
        let drains = PingCounts { sent: 6, received: 5, irregular: 2, mean_s: 2.684, max_s: 4.857 };
        let counts = [PingCounts { sent: 6, ..PingCounts::default() }, drains];
        let text = view.render(at(5_600), &counts, (80, 24), Style::default());
        let expected = "\
host, delays in ms      loss     odd    last    mean     max
silent                  83 %       0       -       -       -              xxxxx
drains                   0 %       2      12   2,684   4,857              #%+=.
                                                             19s ago         now
";
        assert!(text.lines().map(str::trim_end).eq(expected.lines()), "{text}");
        assert_eq!(view.render(at(5_600), &counts, (40, 4), Style::default()).lines().count(), 3);
        assert!(view.render(at(5_600), &counts, (80, 4), Style::default()).contains("and 1 more"));
    }
}

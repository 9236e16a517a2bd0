//! Measured latency above the idle median as dots, the true queueing delay as a line below them.
use crate::measure::Measured;
use crate::truth::Truth;
use fathom_run::{Metric, SeriesKey};
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 950.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 300.0;
/// Lines across.
const GRID: u32 = 5;

/// Seconds to pixels.
struct Scale {
    end_s: f64,
    top_s: f64,
}

impl Scale {
    fn x(&self, at_s: f64) -> f64 {
        LEFT + at_s / self.end_s * (RIGHT - LEFT)
    }
    fn y(&self, delay_s: f64) -> f64 {
        BOTTOM - delay_s.max(0.0) / self.top_s * (BOTTOM - TOP)
    }
}

pub(super) fn svg(measured: &Measured, truth: &Truth) -> String {
    let dots = measured_delays(measured);
    let end_s = measured.run.phases.last().map_or(1.0, |phase| phase.end_ns as f64 / 1e9);
    let highest = |points: &[(f64, f64)]| points.iter().map(|(_, delay)| *delay).fold(0.001, f64::max);
    let scale = Scale { end_s, top_s: highest(&dots).max(highest(&truth.timeline)) * 1.05 };
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-size=\"12\" width=\"100%\">\n");
    for phase in &truth.loaded {
        let (from, to) = (scale.x(phase.from_s), scale.x(phase.to_s));
        let _ = write!(
            svg,
            "<rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#f3f3f3\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\">load: {}</text>\n",
            to - from,
            BOTTOM - TOP,
            from + 4.0,
            TOP - 6.0,
            phase.kind.name()
        );
    }
    axes(&mut svg, &scale);
    let mut line = String::from("M");
    truth
        .timeline
        .iter()
        .for_each(|(at, delay)| line += &format!("{:.1} {:.1} ", scale.x(*at), scale.y(*delay)));
    let _ = writeln!(svg, "<path d=\"{line}\" fill=\"none\" stroke=\"#e69f00\" stroke-width=\"3\"/>");
    for (at, delay) in &dots {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.6\" fill=\"#06c\"/>",
            scale.x(*at),
            scale.y(*delay)
        );
    }
    svg + &format!(
        "<text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\"><tspan fill=\"#06c\">measured latency above idle</tspan>, \
         <tspan fill=\"#b87f00\">true queueing delay</tspan></text></svg>",
        BOTTOM + 36.0
    )
}

fn axes(svg: &mut String, scale: &Scale) {
    for step in 0..=GRID {
        let share = f64::from(step) / f64::from(GRID);
        let (delay, at) = (share * scale.top_s, share * scale.end_s);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.1} ms</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{at:.1} s</text>",
            LEFT - 4.0,
            scale.y(delay) + 4.0,
            delay * 1e3,
            scale.x(at),
            BOTTOM + 18.0,
            y = scale.y(delay),
        );
    }
}

/// When each UDP probe was sent, and its round trip above the idle median.
fn measured_delays(measured: &Measured) -> Vec<(f64, f64)> {
    let run = &measured.run;
    let Some(series) = run.series(&SeriesKey::of(Metric::UdpRtt)) else { return Vec::new() };
    let observed = |o: fathom_run::Observation| Some((o.at.as_secs_f64(), o.value.observed()?));
    let idle = run.phases.first().into_iter().flat_map(|phase| series.within(phase));
    let base = fathom_stats::median(idle.filter_map(observed).map(|(_, value)| value)).unwrap_or(0.0);
    series.iter().filter_map(observed).map(|(at, value)| (at, value - base)).collect()
}

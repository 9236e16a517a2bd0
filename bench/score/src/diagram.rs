//! The reliability diagram: how often claims of each certainty are right.
use crate::tally::Level;
use std::fmt::Write as _;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 16.0;
const PLOT_WIDTH: f64 = 340.0;
const PLOT_HEIGHT: f64 = 280.0;
/// Shares at the ends of both axes.
const FROM: f64 = 0.4;
const TICKS: [f64; 7] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

fn x(share: f64) -> f64 {
    LEFT + (share - FROM) / (1.0 - FROM) * PLOT_WIDTH
}

fn y(share: f64) -> f64 {
    TOP + (1.0 - (share.max(FROM) - FROM) / (1.0 - FROM)) * PLOT_HEIGHT
}

pub(crate) fn svg(levels: &[Level]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<title>Share of right claims by certainty</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    for tick in TICKS {
        let (across, up, percent) = (x(tick), y(tick), tick * 100.0);
        let (right, bottom) = (LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT);
        let _ = write!(
            svg,
            "<path d=\"M{LEFT} {up:.1}H{right}M{across:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{percent:.0} %</text>\n\
             <text x=\"{across:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{percent:.0} %</text>\n",
            LEFT - 6.0,
            up + 4.0,
            bottom + 16.0,
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#888\" stroke-dasharray=\"4 4\"/>",
        x(FROM),
        y(FROM),
        x(1.0),
        y(1.0)
    );
    for level in levels.iter().filter(|level| level.made > 0) {
        let (across, up, [low, high]) = (x(level.promised), y(level.share()), level.interval().map(y));
        // The label is on the side with room.
        let (anchor, shift) = if level.promised > 0.7 { ("end", -9.0) } else { ("start", 9.0) };
        let _ = write!(
            svg,
            "<path d=\"M{across:.1} {low:.1}V{high:.1}\" stroke=\"#06c\" stroke-width=\"2\"/>\n\
             <circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"5\" fill=\"#06c\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} ({})</text>\n",
            across + shift,
            up + 4.0,
            level.name,
            level.made,
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">promised share of right claims</text>\n\
         <text transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">share of right claims</text>\n</svg>\n",
        LEFT + PLOT_WIDTH / 2.0,
        TOP + PLOT_HEIGHT + 38.0,
        TOP + PLOT_HEIGHT / 2.0
    );
    svg
}

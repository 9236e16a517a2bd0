use super::*;
use crate::Detail;
use fathom_run::PhaseKind;

/// 0 to 10 s: 10, then 100 from 4 s on.
fn step() -> Curve {
    let points = (0..=100).map(|i| (f64::from(i) / 10.0, if i < 40 { 10.0 } else { 100.0 })).collect();
    Curve { points, lost: Vec::new() }
}

fn drawn(unicode: bool, columns: usize) -> String {
    let curve = step();
    let spans = [
        Span { kind: PhaseKind::Idle, start: 0.0, end: 4.0 },
        Span { kind: PhaseKind::Down, start: 4.0, end: 10.0 },
    ];
    let chart = Chart {
        title: "latency, ms",
        curves: &[(&curve, Ink::Latency, '*')],
        time: (0.0, 10.0),
        spans: &spans,
        cut_spikes: false,
    };
    chart.lines(columns, 8, Style { color: false, unicode, detail: Detail::Normal }).join("\n")
}

#[test]
fn in_ascii() {
    let want = "\
latency, ms
   100 +            ******************
       |            *
    50 +            *
       |            *
     0 +*************
       +0s-------------5s-------------
        'idle       'download";
    assert_eq!(drawn(false, 38), want);
}

#[test]
fn in_braille() {
    let want = "\
latency, ms
   100 ┤            ⡖⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒
       │            ⡇
    50 ┤            ⡇
       │            ⡇
     0 ┤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠃
       └0s─────────────5s─────────────
        ╵idle       ╵download";
    assert_eq!(drawn(true, 38), want);
}

#[test]
fn nothing_to_draw_and_no_room() {
    let empty = Curve::default();
    for (columns, rows) in [(0, 0), (10, 3), (80, 24), (300, 100)] {
        let chart = Chart {
            title: "t",
            curves: &[(&empty, Ink::Up, 'u')],
            time: (0.0, 1.0),
            spans: &[],
            cut_spikes: false,
        };
        let lines = chart.lines(columns, rows, Style { color: true, unicode: true, detail: Detail::Normal });
        assert_eq!(lines.len(), rows.max(5), "{columns} x {rows}");
    }
}

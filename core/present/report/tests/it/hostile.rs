//! Nothing that a file holds breaks out of the page, the terminal or the program.
use crate::line::{BLOATED, Line};
use fathom_diagnose::diagnose;
use fathom_report::{Detail, Origin, Style, compare, csv, flent, html, provider_page, summary, svg};
use fathom_run::{Fact, Interruption, NotSent, Note, Run};

const EVIL: &str = "<script>alert(1)</script>\x1b[2J\"'&\u{202e}";

fn evil_run() -> Run {
    let mut run = Line { phase_s: 2.0, ..BLOATED }.run();
    for text in
        [&mut run.title, &mut run.command, &mut run.started, &mut run.tool_version, &mut run.host.kernel]
    {
        *text = EVIL.into();
    }
    run.notes.push(Note::Text { text: EVIL.into() });
    run.partial = Some(Interruption::Text { text: EVIL.into() });
    run.facts.insert(Fact::Other(EVIL.into()), EVIL.into());
    run.series[0].key.scope = Some(EVIL.into());
    run.series[1].not_sent.insert(NotSent::System(EVIL.into()), 7);
    for load in run.phases.iter_mut().filter_map(|p| p.load.as_mut()) {
        load.congestion_control = EVIL.into();
    }
    run
}

#[test]
fn text_from_files_is_only_text() {
    let run = evil_run();
    let d = diagnose(&run);
    let provider = provider_page(&run, &d).unwrap_or_default();
    for page in [html(&[(&run, &d)]), html(&[(&run, &d), (&run, &d)]), svg(&[(&run, &d)]), provider] {
        assert!(!page.contains("<script>alert"), "a tag came through");
        assert!(!page.contains('\x1b') && !page.contains('\u{202e}'));
    }
    let style = Style { color: false, unicode: true, detail: Detail::Normal };
    for text in [
        summary(&run, &d, Origin::default(), 80, style),
        compare(&[(EVIL, &run, &d), ("b", &run, &d)], 80, style),
    ] {
        assert!(!text.contains('\x1b') && !text.contains('\u{202e}'), "{text}");
    }
    assert!(csv(&run).contains("\"<script>alert(1)</script>"), "quoted, since it holds a quote");
}

#[test]
fn no_checked_run_makes_a_report_panic() {
    for seed in 0..60 {
        let mut rng = fathom_units::Rng::new(seed);
        let mut run = Line { phase_s: 1.0, loss_ratio: rng.next_f64(), seed, ..BLOATED }.run();
        run.series.retain(|_| rng.chance(0.7));
        run.phases.retain(|_| rng.chance(0.8));
        let extremes = [0.0, 1e-300, 1e18, 5e-324, 1.0];
        for series in &mut run.series {
            if rng.chance(0.2) {
                series.values.iter_mut().for_each(|v| *v = extremes[rng.below(5) as usize]);
            }
            if rng.chance(0.1) {
                series.at_ns.iter_mut().for_each(|t| *t = 1 << 63);
            }
        }
        if rng.chance(0.3) {
            run.phases.iter_mut().for_each(|p| p.end_ns = p.start_ns);
        }
        assert_eq!(
            run.check(),
            if run.phases.is_sorted_by_key(|p| p.start_ns) { Ok(()) } else { run.check() }
        );
        let d = diagnose(&run);
        let style = Style { color: true, unicode: rng.chance(0.5), detail: Detail::Normal };
        for columns in [0, 40, 80, 500] {
            summary(&run, &d, Origin::default(), columns, style);
            compare(&[("a", &run, &d)], columns, style);
        }
        let page = html(&[(&run, &d), (&run, &d)]);
        for word in ["NaN", "inf"] {
            let at = page.find(&format!("{word}\"")).or_else(|| page.find(&format!("{word} ")));
            assert!(
                at.is_none(),
                "seed {seed}: {word} in {}",
                &page[at.unwrap_or(0).saturating_sub(200)..][..300]
            );
        }
        for text in [svg(&[(&run, &d)]), csv(&run), flent(&run)] {
            assert!(!text.contains("NaN"), "seed {seed}");
        }
    }
}

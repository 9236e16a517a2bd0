//! `fathom sim --from RUN --with QUEUE`: the line that a result shows, and what another queue would do on it.
use crate::args::{SimArgs, When};
use crate::failure::Outcome;
use crate::result::deliver_compared;
use crate::terminal;
use fathom_app::counterfactual::{fit, parse_trial, try_queue};
use fathom_diagnose::{LineEstimate, diagnose};
use fathom_run::{PhaseKind, Run};
use fathom_units::Direction;
use std::path::Path;

/// Fits, simulates what was measured and the trial, and shows all side by side.
pub(crate) fn run(args: &SimArgs, from: &Path, when: When) -> Outcome {
    let fit = fit(from, args.seed)?;
    terminal::note(&quality(&fit.line, fit.direction, [&fit.measured, &fit.fitted]));
    let tried = match &args.with {
        Some(with) => Some((with.as_str(), try_queue(&fit, &parse_trial(with)?, args.seed)?)),
        None => None,
    };
    let runs = [("measured", fit.measured), ("fitted", fit.fitted)];
    deliver_compared(&args.output, &runs.into_iter().chain(tried).collect::<Vec<_>>(), when)
}

/// The fit, and how well it reproduces what was measured.
fn quality(line: &LineEstimate, direction: Direction, runs: [&Run; 2]) -> String {
    let side = match direction {
        Direction::Up => &line.up,
        Direction::Down => &line.down,
    };
    let side = side.as_ref().map_or_else(String::new, |side| {
        let held = side.buffer_bytes.map_or_else(
            || "a queue that never rose".to_owned(),
            |bytes| format!("a buffer of {}", fathom_text::bytes(bytes)),
        );
        let bound = if side.is_lower_bound { " or more" } else { "" };
        format!("{}, {held}{bound}", fathom_text::rate(side.bits_per_second))
    });
    let p95 = |run: &Run| {
        let diagnosis = diagnose(run);
        let kind = if direction == Direction::Up { PhaseKind::Up } else { PhaseKind::Down };
        let latency =
            diagnosis.phase(kind).or(diagnosis.phase(PhaseKind::Both)).and_then(|phase| phase.latency);
        latency.map_or_else(|| "?".to_owned(), |l| fathom_text::milliseconds(l.p95.value))
    };
    let p95 = runs.map(p95);
    format!(
        "fathom sim: fitted {direction}: {side}, {} idle; 95th percentile of the latency under load: measured {}, fitted {}",
        fathom_text::milliseconds(line.idle_rtt_s),
        p95[0],
        p95[1]
    )
}

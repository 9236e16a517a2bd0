//! `fathom sim --from RUN --with QUEUE`: fits a line to a result, and tries another queue on it.
use crate::args::SimArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::result::{deliver_compared, warn_if_partial};
use crate::signal;
use crate::terminal::Console;
use fathom_app::counterfactual::{fit, parse_trial, try_queue};
use fathom_diagnose::{LineEstimate, diagnose};
use fathom_run::{PhaseKind, Run};
use fathom_units::Direction;
use std::path::Path;

/// Shows the measured result, the fitted line and the trial side by side. If it is interrupted, it
/// shows what it has simulated until then.
pub(crate) fn run(args: &SimArgs, from: &Path, console: Console) -> Outcome {
    let trial = args.with.as_deref().map(|with| Ok::<_, Failure>((with, parse_trial(with)?))).transpose()?;
    let cancel = signal::cancel_token()?;
    let fit = fit(from, args.seed, &cancel)?;
    console.note(&quality(&fit.line, fit.direction, [&fit.measured, &fit.fitted]));
    let tried = match trial.filter(|_| fit.fitted.partial.is_none()) {
        Some((with, trial)) => Some((with, try_queue(&fit, &trial, args.seed, &cancel)?)),
        None => None,
    };
    let simulated = tried.as_ref().map_or(&fit.fitted, |(_, run)| run);
    warn_if_partial("sim", simulated);
    let is_partial = simulated.partial.is_some();
    let runs = [("measured", fit.measured), ("fitted", fit.fitted)];
    let exit = deliver_compared(&args.output, &runs.into_iter().chain(tried).collect::<Vec<_>>(), console)?;
    Ok(if is_partial { Exit::Environment } else { exit })
}

/// The fitted line, and how well it reproduces the measured latency.
fn quality(line: &LineEstimate, direction: Direction, runs: [&Run; 2]) -> String {
    let side = match direction {
        Direction::Up => &line.up,
        Direction::Down => &line.down,
    };
    let side = side.as_ref().map_or_else(String::new, |side| {
        let buffer = side.buffer_bytes.map_or_else(
            || "no queue was seen".to_owned(),
            |bytes| format!("a buffer of {}", fathom_text::bytes(bytes)),
        );
        let bound = if side.is_lower_bound { " or more" } else { "" };
        format!("{}, {buffer}{bound}", fathom_text::rate(side.bits_per_second))
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
        "fathom sim: fitted line ({direction}): {side}, idle latency {}; latency under load (p95): measured {}, fitted {}",
        fathom_text::milliseconds(line.idle_rtt_s),
        p95[0],
        p95[1]
    )
}

//! Fits a line to a result, and simulates another queue on that line.
use crate::sim::simulate;
use crate::{AppError, CancelToken};
use fathom_diagnose::{LineEstimate, SideEstimate, estimate_line};
use fathom_qdisc::Spec;
use fathom_run::Run;
use fathom_scenario::{Plan, parse};
use fathom_units::{Direction, Ratio};
use std::path::Path;

/// Queue of a direction in which no queue was measured: one that keeps delay short.
const UNKNOWN_QUEUE: &str = "fq_codel";
/// Rate of a direction that was not loaded, bit/s: high enough not to delay acknowledgments.
const UNLOADED_RATE: f64 = 1e9;
/// Burst of the shaper in front of the line, in bytes: two full packets, the minimum that a timer
/// allows.
const SHAPER_BURST: u64 = 3028;

/// A result and the line fitted to it.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The measured result.
    pub measured: Run,
    /// The fitted line.
    pub line: LineEstimate,
    /// The direction with the longest queueing delay. The simulation loads this direction.
    pub direction: Direction,
    /// The simulation of the fitted line with the measured load.
    pub fitted: Run,
}

/// Fits a line to the result at `path` and simulates it. If it is cancelled, the simulation is
/// partial.
///
/// # Errors
/// If the result cannot be read, or no line can be fitted to it.
pub fn fit(path: &Path, seed: u64, cancel: &CancelToken) -> Result<Fit, AppError> {
    let measured = fathom_store::load_any(path).map_err(AppError::Load)?;
    let line = estimate_line(&measured).map_err(|why| AppError::NoFit { path: path.to_owned(), why })?;
    let direction = worse(&line);
    let fitted = simulate(&plan(&line, direction, None)?, seed, cancel).run;
    Ok(Fit { measured, line, direction, fitted })
}

/// Simulates the fitted line with another queue. If it is cancelled, the run is partial.
///
/// # Errors
/// If the queue is not valid in a scenario.
pub fn try_queue(fit: &Fit, trial: &Trial, seed: u64, cancel: &CancelToken) -> Result<Run, AppError> {
    Ok(simulate(&plan(&fit.line, fit.direction, Some(trial))?, seed, cancel).run)
}

/// The direction with the longest queueing delay.
fn worse(line: &LineEstimate) -> Direction {
    let delay = |side: &Option<SideEstimate>| {
        side.as_ref().map_or(-1.0, |s| s.buffer_bytes.unwrap_or(0.0) * 8.0 / s.bits_per_second)
    };
    if delay(&line.up) >= delay(&line.down) { Direction::Up } else { Direction::Down }
}

/// A queue to try on the fitted line.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The queue.
    pub queue: Spec,
    /// Rate of a shaper in front of the line, as a share of the line's rate. `None` without a
    /// shaper.
    pub share: Option<f64>,
}

/// Parses `cake@95%` or `fq_codel`.
///
/// # Errors
/// If the queue or the share is wrong.
pub fn parse_trial(text: &str) -> Result<Trial, AppError> {
    let refuse = |why: String| AppError::Trial { text: text.to_owned(), why };
    let (queue, share) = text.rsplit_once('@').map_or((text, None), |(queue, share)| (queue, Some(share)));
    let queue = queue.parse::<Spec>().map_err(|e| refuse(e.to_string()))?;
    let share = share.map(|share| share.parse::<Ratio>().map(|ratio| ratio.0)).transpose();
    let share = share.map_err(|e| refuse(e.to_string()))?;
    match share {
        Some(share) if !(0.01..=1.0).contains(&share) => {
            Err(refuse("the share must be from 1% to 100%".to_owned()))
        }
        share => Ok(Trial { queue, share }),
    }
}

/// The scenario of the fitted line with the measured load in `direction` and the queue of the
/// trial.
fn plan(line: &LineEstimate, direction: Direction, trial: Option<&Trial>) -> Result<Plan, AppError> {
    let half_ms = line.idle_rtt_s * 1e3 / 2.0;
    let (up, down) = (side(line.up.as_ref(), half_ms, trial), side(line.down.as_ref(), half_ms, trial));
    let loaded = if direction == Direction::Up { &line.up } else { &line.down };
    let loaded = loaded.as_ref().ok_or(AppError::NotLoaded)?;
    // Other tools do not record it: then it is that of scenarios.
    let congestion_control = match loaded.congestion_control.as_str() {
        "" => String::new(),
        known => format!("congestion_control = \"{known}\"\n"),
    };
    let key = if direction == Direction::Up { "up_flows" } else { "down_flows" };
    let text = format!(
        "name = \"fitted\"\nabout = \"The line that a result shows\"\nsource = \"measured\"\n\
         [[hop]]\nname = \"router\"\nup = {{ {} }}\ndown = {{ {} }}\n\
         [[hop]]\nname = \"line\"\nup = {{ {} }}\ndown = {{ {} }}\n\
         [load]\n{key} = {}\n{congestion_control}duration = \"{:.3}s\"\n",
        up.router,
        down.router,
        up.line,
        down.line,
        loaded.flows.max(1),
        loaded.seconds
    );
    Ok(parse(&text, "the fitted line")?)
}

/// One direction of the scenario: the router in front of the line, and the line.
struct Side {
    router: String,
    line: String,
}

fn side(estimate: Option<&SideEstimate>, half_ms: f64, trial: Option<&Trial>) -> Side {
    let rate = estimate.map_or(UNLOADED_RATE, |side| side.bits_per_second);
    let own = estimate.and_then(|side| side.buffer_bytes);
    let own = own.map_or_else(|| UNKNOWN_QUEUE.to_owned(), |bytes| format!("fifo limit {bytes:.0}b"));
    let trial = trial.filter(|_| estimate.is_some());
    let shaped = trial.and_then(|trial| Some(shaper(&trial.queue, trial.share? * rate)));
    let queue = trial.filter(|trial| trial.share.is_none()).map_or(own, |trial| trial.queue.to_string());
    let router = shaped.map_or_else(String::new, |shaper| format!(", queue = \"{shaper}\""));
    Side {
        router: format!("delay = \"0ms\", overhead = \"0b\"{router}"),
        line: format!(
            "rate = \"{rate:.0}bit\", delay = \"{half_ms:.6}ms\", overhead = \"0b\", queue = \"{queue}\""
        ),
    }
}

/// `queue` behind a shaper at `rate` bit/s. CAKE has its own shaper.
fn shaper(queue: &Spec, rate: f64) -> String {
    match queue {
        Spec::Cake(_) => format!("{queue} bandwidth {rate:.0}bit"),
        queue => format!("htb default 1 class 1 rate {rate:.0}bit burst {SHAPER_BURST}b {{ {queue} }}"),
    }
}

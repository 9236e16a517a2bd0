//! `fathom sim --from RUN --with QUEUE`: the line that a result shows, and what another queue would do on it.
use crate::args::{SimArgs, When};
use crate::command::sim::{show_compared, simulate};
use crate::failure::{Failure, Outcome};
use crate::terminal;
use fathom_diagnose::{LineEstimate, SideEstimate, diagnose, estimate_line};
use fathom_qdisc::Spec;
use fathom_run::{PhaseKind, Run};
use fathom_scenario::{Plan, parse};
use fathom_units::{Direction, Ratio};
use std::path::Path;

/// A queue for a side of the fitted line that never queued: no more than what was measured there.
const UNKNOWN_QUEUE: &str = "fq_codel";
/// Of a side that was not loaded: any rate that does not hold back acknowledgements.
const UNLOADED_RATE: f64 = 1e9;
/// Bytes that the shaper in front of the line lets go at once: two full packets, as little as a timer allows.
const SHAPER_BURST: u64 = 3028;

/// Fits, simulates what was measured and what is asked, and shows all side by side.
pub(crate) fn run(args: &SimArgs, from: &Path, when: When) -> Outcome {
    let measured = fathom_store::load(from).map_err(Failure::input)?;
    let line = estimate_line(&measured)
        .map_err(|why| Failure::input(format_args!("{}: no line can be fitted: {why}", from.display())))?;
    let direction = worse(&line);
    let fitted = plan(&line, direction, None)?;
    let mut runs = vec![("measured", measured), ("fitted", simulate(&fitted, args.seed).run)];
    terminal::note(&told(&line, direction, &runs));
    if let Some(with) = &args.with {
        let wish = wish(with)?;
        runs.push((with.as_str(), simulate(&plan(&line, direction, Some(&wish))?, args.seed).run));
    }
    show_compared(args, &runs, when)
}

/// The direction whose queue delays most.
fn worse(line: &LineEstimate) -> Direction {
    let delay = |side: &Option<SideEstimate>| {
        side.as_ref().map_or(-1.0, |s| s.buffer_bytes.unwrap_or(0.0) * 8.0 / s.bits_per_second)
    };
    if delay(&line.up) >= delay(&line.down) { Direction::Up } else { Direction::Down }
}

/// What is asked: a queue, and for a shaper in front of the line the share of its rate.
struct Wish {
    queue: Spec,
    share: Option<f64>,
}

/// `cake@95%` or `fq_codel`.
fn wish(text: &str) -> Result<Wish, Failure> {
    let refuse = |why: String| Failure::input(format_args!("--with \"{text}\": {why}"));
    let (queue, share) = text.rsplit_once('@').map_or((text, None), |(queue, share)| (queue, Some(share)));
    let queue = queue.parse::<Spec>().map_err(|e| refuse(e.to_string()))?;
    let share = share.map(|share| share.parse::<Ratio>().map(|ratio| ratio.0)).transpose();
    let share = share.map_err(|e| refuse(e.to_string()))?;
    match share {
        Some(share) if !(0.01..=1.0).contains(&share) => Err(refuse("a share of 1% to 100%".to_owned())),
        share => Ok(Wish { queue, share }),
    }
}

/// The scenario of the fitted line, loaded in `direction` as it was measured, with what is asked in place.
fn plan(line: &LineEstimate, direction: Direction, wish: Option<&Wish>) -> Result<Plan, Failure> {
    let half_ms = line.idle_rtt_s * 1e3 / 2.0;
    let (up, down) = (side(line.up.as_ref(), half_ms, wish), side(line.down.as_ref(), half_ms, wish));
    let loaded = if direction == Direction::Up { &line.up } else { &line.down };
    let loaded = loaded.as_ref().ok_or_else(|| Failure::input("that direction was not loaded"))?;
    let key = if direction == Direction::Up { "up_flows" } else { "down_flows" };
    let text = format!(
        "name = \"fitted\"\nabout = \"The line that a result shows\"\nsource = \"measured\"\n\
         [[hop]]\nname = \"router\"\nup = {{ {} }}\ndown = {{ {} }}\n\
         [[hop]]\nname = \"line\"\nup = {{ {} }}\ndown = {{ {} }}\n\
         [load]\n{key} = {}\ncongestion_control = \"{}\"\nduration = \"{:.3}s\"\n",
        up.router,
        down.router,
        up.line,
        down.line,
        loaded.flows.max(1),
        loaded.congestion_control,
        loaded.seconds
    );
    parse(&text, "the fitted line").map_err(Failure::input)
}

/// One direction: the router before the line, and the line.
struct Side {
    router: String,
    line: String,
}

fn side(estimate: Option<&SideEstimate>, half_ms: f64, wish: Option<&Wish>) -> Side {
    let rate = estimate.map_or(UNLOADED_RATE, |side| side.bits_per_second);
    let own = estimate.and_then(|side| side.buffer_bytes);
    let own = own.map_or_else(|| UNKNOWN_QUEUE.to_owned(), |bytes| format!("fifo limit {bytes:.0}b"));
    let wish = wish.filter(|_| estimate.is_some());
    let shaped = wish.and_then(|wish| Some(shaper(&wish.queue, wish.share? * rate)));
    let queue = wish.filter(|wish| wish.share.is_none()).map_or(own, |wish| wish.queue.to_string());
    let router = shaped.map_or_else(String::new, |shaper| format!(", queue = \"{shaper}\""));
    Side {
        router: format!("delay = \"0ms\", overhead = \"0b\"{router}"),
        line: format!(
            "rate = \"{rate:.0}bit\", delay = \"{half_ms:.6}ms\", overhead = \"0b\", queue = \"{queue}\""
        ),
    }
}

/// `queue` behind a shaper of `rate`; CAKE has its own.
fn shaper(queue: &Spec, rate: f64) -> String {
    match queue {
        Spec::Cake(_) => format!("{queue} bandwidth {rate:.0}bit"),
        queue => format!("htb default 1 class 1 rate {rate:.0}bit burst {SHAPER_BURST}b {{ {queue} }}"),
    }
}

/// The fit, and how well it reproduces what was measured.
fn told(line: &LineEstimate, direction: Direction, runs: &[(&str, Run)]) -> String {
    let side = match direction {
        Direction::Up => &line.up,
        Direction::Down => &line.down,
    };
    let side = side.as_ref().map_or_else(String::new, |side| {
        let held = side.buffer_bytes.map_or_else(
            || "a queue that never rose".to_owned(),
            |bytes| format!("a buffer of {}", fathom_text::bytes(bytes)),
        );
        let least = if side.is_lower_bound { " or more" } else { "" };
        format!("{}, {held}{least}", fathom_text::rate(side.bits_per_second))
    });
    let p95 = |run: &Run| {
        let diagnosis = diagnose(run);
        let kind = if direction == Direction::Up { PhaseKind::Up } else { PhaseKind::Down };
        let latency =
            diagnosis.phase(kind).or(diagnosis.phase(PhaseKind::Both)).and_then(|phase| phase.latency);
        latency.map_or_else(|| "?".to_owned(), |l| fathom_text::milliseconds(l.p95.value))
    };
    let p95: Vec<String> = runs.iter().map(|(_, run)| p95(run)).collect();
    format!(
        "fathom sim: fitted {direction}: {side}, {} idle; 95th percentile of the latency under load: measured {}, fitted {}",
        fathom_text::milliseconds(line.idle_rtt_s),
        p95[0],
        p95[1]
    )
}

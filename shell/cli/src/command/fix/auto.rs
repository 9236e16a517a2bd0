//! `fathom fix --auto`: the rates follow the line.
use super::measured::{device, fix_failure, test_config};
use super::{guard_command, show};
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::{signal, terminal};
use fathom_apply::{Framing, Place, defeat};
use fathom_drive::ReflectConfig;
use fathom_fix::auto::{AutoConfig, AutoTell, Change, DirectionStatus, Status, auto};
use fathom_metric::text::{milliseconds, rate};
use fathom_os::clock::{Clock, utc_offset_s};
use fathom_shape::autorate::{Both, Bounds, Config};
use fathom_units::{Rate, WallTime};
use std::path::Path;

/// Of the rate that is given, if nothing is said: what the line carries at its worst, and the most.
const LEAST: (u64, u64) = (1, 5);
const MOST: (u64, u64) = (2, 1);
/// No more than one line in this time, ns.
const QUIET_NS: u64 = 1_000_000_000;
/// A change by less than this share is not worth a line.
const WORTH: f64 = 0.1;
/// If nobody answers for so long, that is said, ns.
const PATIENCE_NS: u64 = 5_000_000_000;
/// As many as the controller follows, and a server.
const MOST_REFLECTORS: usize = 24;

/// Shapes until it is told to end.
pub(super) fn run(args: &FixArgs) -> Outcome {
    let device = device(args)?;
    let config = config(args, &device)?;
    let stop = signal::stop_flag()?;
    for found in &defeat::foreseen(Path::new("/"), &device) {
        terminal::note(&format!("warning: {}\n  try: {}", found.what, found.advice));
    }
    let mut talk = Talk::default();
    let mut tell = |tell: AutoTell<'_>| match tell {
        AutoTell::Note(words) => terminal::note(&format!("{device}: {words}")),
        AutoTell::Plan(plan) => {
            terminal::note(&format!(
                "{device}: what leaves and what arrives is shaped, by {}; Ctrl-C {}",
                plan.rung,
                if args.commit { "ends it, and the last rates stay" } else { "puts everything back" }
            ));
        }
        AutoTell::Tick(status) => talk.tick(status).iter().for_each(|line| terminal::note(line)),
    };
    let ended = auto(&config, guard_command(args, &device), &stop, &mut tell);
    let status = ended.map_err(|error| fix_failure(&error))?;
    if args.json {
        return show::print_json(&status.to_json());
    }
    terminal::print(&summary(args, &status))?;
    Ok(Exit::Healthy)
}

fn config(args: &FixArgs, device: &str) -> Result<AutoConfig, Failure> {
    let hosts = args.auto.reflector.clone();
    if args.server.is_none() && hosts.is_empty() {
        return Err(Failure::input(
            "--auto needs somebody who tells how long packets take\n  try: --server HOST (it runs `fathom serve`), or \
             --reflector ADDR four times, hosts that answer ping",
        ));
    }
    if hosts.len() > MOST_REFLECTORS {
        return Err(Failure::input(format_args!(
            "{} times --reflector: at most {MOST_REFLECTORS} are followed\n  try: the nearest six",
            hosts.len()
        )));
    }
    let auto = &args.auto;
    let up = bounds(args.up, auto.least_up, auto.most_up);
    let down = bounds(args.down, auto.least_down, auto.most_down);
    let rates = Config::new(Both { up, down }).map_err(|error| {
        Failure::input(format_args!(
            "{error}\n  try: --least-up, --up and --most-up (or -down) in this order"
        ))
    })?;
    let server = args.server.as_deref().map(|server| test_config(args, server));
    // A server's times and all others are on one clock.
    let clock = server.as_ref().map_or_else(Clock::start, |server| server.clock);
    Ok(AutoConfig {
        place: Place::new(&args.state, device),
        rung: args.rung,
        framing: Framing { overhead: args.overhead, mpu: args.mpu, atm: args.atm },
        rates,
        reflectors: ReflectConfig { server, hosts, clock },
        duration: auto.duration,
        commit: args.commit,
        metrics: auto.metrics,
    })
}

fn bounds(start: Option<Rate>, least: Option<Rate>, most: Option<Rate>) -> Bounds {
    let start = start.unwrap_or_default();
    let share = |(part, of): (u64, u64)| {
        Rate::from_bits_per_second(start.as_bits_per_second().saturating_mul(part) / of)
    };
    Bounds { min: least.unwrap_or_else(|| share(LEAST)), start, max: most.unwrap_or_else(|| share(MOST)) }
}

/// What is said, and when: a rate that is another one by a tenth, no more often than each second.
#[derive(Default)]
struct Talk {
    told: Option<Both<Told>>,
    last_ns: u64,
    answers: u64,
    is_silent: bool,
    heard_ns: u64,
}

/// A rate that was told, and why it went down and up since: a line may stand for several changes, of which the last went the other way.
#[derive(Clone, Copy)]
struct Told {
    rate: Rate,
    lowered: Option<Change>,
    raised: Option<Change>,
}

impl Told {
    fn of(way: &DirectionStatus) -> Told {
        Told { rate: way.last.map_or(way.rate, |last| last.from), lowered: None, raised: None }
    }
    fn note(&mut self, way: &DirectionStatus) {
        match way.last {
            Some(last) if last.to < last.from => self.lowered = Some(last),
            Some(last) => self.raised = Some(last),
            None => {}
        }
    }
    /// What is worth a line.
    fn line(&self, name: &str, now: Rate) -> Option<String> {
        let why = if now < self.rate { self.lowered } else { self.raised };
        let why = why.filter(|_| is_worth(self.rate, now))?;
        Some(change(name, self.rate, now, &why))
    }
}

impl Talk {
    fn tick(&mut self, status: &Status) -> Option<String> {
        let now = status.at.0;
        let ways = &status.ways;
        let told = self.told.get_or_insert(Both { up: Told::of(&ways.up), down: Told::of(&ways.down) });
        told.up.note(&ways.up);
        told.down.note(&ways.down);
        if now.saturating_sub(self.last_ns) >= QUIET_NS {
            for (name, way, before) in [("up", &ways.up, &mut told.up), ("down", &ways.down, &mut told.down)]
            {
                if let Some(line) = before.line(name, way.rate) {
                    *before = Told { rate: way.rate, lowered: None, raised: None };
                    self.last_ns = now;
                    return Some(line);
                }
            }
        }
        self.silence(status)
    }
    /// Nobody answers, or somebody does again.
    fn silence(&mut self, status: &Status) -> Option<String> {
        let now = status.at.0;
        let is_first = self.heard_ns == 0;
        if is_first || std::mem::replace(&mut self.answers, status.answers) != status.answers {
            self.heard_ns = now;
            let again = std::mem::take(&mut self.is_silent);
            return again.then(|| format!("{}  reflectors answer again", clock_words(status.at)));
        }
        if self.is_silent || now.saturating_sub(self.heard_ns) < PATIENCE_NS {
            return None;
        }
        self.is_silent = true;
        let why = status.problem.as_ref().map_or_else(String::new, |words| format!(" ({words})"));
        let at = clock_words(status.at);
        Some(format!(
            "{at}  nobody has answered for 5 s{why}: the rates stay as they are until somebody does"
        ))
    }
}

fn is_worth(told: Rate, now: Rate) -> bool {
    let [told, now] = [told, now].map(|rate| rate.as_bits_per_second() as f64);
    (now - told).abs() > told * WORTH
}

fn change(name: &str, from: Rate, to: Rate, last: &Change) -> String {
    let [from, to] = [from, to].map(|one| rate(one.as_bits_per_second() as f64));
    format!("{}  {name} {from} -> {to}  {}", clock_words(last.at), last.reason)
}

/// The time of day of the household.
fn clock_words(at: WallTime) -> String {
    let there = WallTime(at.0.saturating_add_signed(utc_offset_s(at).saturating_mul(1_000_000_000)));
    there.to_string().chars().skip("2026-11-22T".len()).take("08:00:00".len()).collect()
}

fn summary(args: &FixArgs, status: &Status) -> String {
    let device = &status.device;
    let mut text = String::new();
    for (name, way) in [("up", &status.ways.up), ("down", &status.ways.down)] {
        text += &format!("{name:<5} {}\n", direction(way));
    }
    let state = show::state_flag(&args.state);
    if args.commit {
        text + &format!("{device} stays shaped at these rates.\nundo: fathom fix --undo {device}{state}\n")
    } else {
        text + &format!("{device} is as it was before.\n")
    }
}

fn direction(way: &DirectionStatus) -> String {
    let cuts: u64 = way.decisions.iter().filter(|(why, _)| why.is_cut()).map(|(_, count)| count).sum();
    let delay = way.delay_s.map_or_else(|| "unknown".to_owned(), |delay| milliseconds(delay.max(0.0)));
    let now = rate(way.rate.as_bits_per_second() as f64);
    format!("{now} at the end, {cuts} cuts; delay beyond our queue {delay} above the usual")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_shape::autorate::Reason;

    #[test]
    fn a_line_for_several_changes_tells_the_cause_of_their_sum() {
        let mbit = |n: u64| Rate::from_bits_per_second(n * 1_000_000);
        let at = |s: u64| WallTime(s * 1_000_000_000);
        let change = |s, from, to, reason| Change { at: at(s), from: mbit(from), to: mbit(to), reason };
        let mut told = Told { rate: mbit(11), lowered: None, raised: None };
        assert_eq!(told.line("up", mbit(11)), None);
        told.lowered = Some(change(1, 11, 5, Reason::BottleneckBelow));
        told.raised = Some(change(2, 5, 6, Reason::Exploring));
        let line = told.line("up", mbit(6)).unwrap();
        assert!(line.contains("  up 11.0 Mbit/s -> 6.00 Mbit/s  cut to what was delivered"), "{line}");
        assert!(told.line("up", mbit(14)).unwrap().contains("  raised: our own backlog"));
    }
}

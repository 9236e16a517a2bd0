//! Random paths whose truth is known, and how often each claim of the diagnosis about them is
//! right.
//!
//! ```text
//! score --seed S --paths N        a table of claims
//! score --path S:I                one path: its scenario, its claims and its truth
//! ```
#![expect(clippy::print_stdout, reason = "its tables are its result")]
mod draw;
mod judge;

use draw::Path;
use fathom_run::Run;
use judge::Claim;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str| words.iter().position(|w| w == flag).and_then(|i| words.get(i + 1));
    if let Some(path) = after("--path") {
        let (seed, index) = path.split_once(':').expect("--path SEED:INDEX");
        return explain(number(seed), number(index));
    }
    let seed = after("--seed").map_or(1, |s| number(s));
    let paths = after("--paths").map_or(100, |s| number(s));
    print(seed, &score(seed, paths));
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))
}

fn simulate(path: &Path) -> Run {
    let plan =
        fathom_scenario::parse(&path.text, "path.toml").unwrap_or_else(|e| panic!("{e}\n{}", path.text));
    fathom_sim::simulate(&plan, &fathom_sim::Options { flow_series: 256, ..fathom_sim::Options::new(1) }).run
}

fn explain(seed: u64, index: u64) {
    let path = draw::path(seed, index);
    println!("{}", path.text);
    let run = simulate(&path);
    let diagnosis = fathom_diagnose::diagnose(&run);
    println!("{:#?}", diagnosis.phases.iter().map(|p| (p.kind, p.latency)).collect::<Vec<_>>());
    println!("{:?} {:?}", diagnosis.health, diagnosis.reason);
    for finding in &diagnosis.findings {
        println!("- [{:?}] {}", finding.certainty, fathom_prose::finding(finding, None));
    }
    println!("truth: {:?}", judge::truth(&path, &run));
    for (name, claim) in judge::claims(&path, &run) {
        println!("{name:14} {claim:?}");
    }
}

/// Claims of all paths, in order.
fn score(seed: u64, paths: u64) -> Vec<Vec<(&'static str, Claim)>> {
    let next = AtomicU64::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= paths {
                return done;
            }
            let path = draw::path(seed, index);
            done.push((index, judge::claims(&path, &simulate(&path))));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a worker panicked")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, claims)| claims).collect()
}

#[derive(Default)]
struct Tally {
    possible: u64,
    claimed: u64,
    wrong: Vec<String>,
    errors: Vec<f64>,
}

fn print(seed: u64, all: &[Vec<(&'static str, Claim)>]) {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (index, claims) in all.iter().enumerate() {
        for (name, claim) in claims {
            let tally = tallies.entry(name).or_default();
            tally.possible += 1;
            let Claim::Made { is_right, error, detail } = claim else { continue };
            tally.claimed += 1;
            tally.errors.extend(error.map(f64::abs));
            if !is_right {
                tally.wrong.push(format!("{seed}:{index} {detail}"));
            }
        }
    }
    println!("{:14} {:>8} {:>8} {:>8}  error p50, p95", "claim", "possible", "made", "right");
    for (name, tally) in &mut tallies {
        tally.errors.sort_by(f64::total_cmp);
        let right = 100.0 * (tally.claimed - tally.wrong.len() as u64) as f64 / tally.claimed.max(1) as f64;
        let at = |p: f64| {
            tally
                .errors
                .get(((tally.errors.len() as f64 * p) as usize).min(tally.errors.len().saturating_sub(1)))
        };
        println!(
            "{name:14} {:8} {:8} {right:7.1}%  {:.4?} {:.4?}",
            tally.possible,
            tally.claimed,
            at(0.5),
            at(0.95)
        );
        tally.wrong.iter().for_each(|wrong| println!("    {wrong}"));
    }
}

//! Laws of rates side by side, for weeks of simulated time.
//!
//! ```text
//! cargo run --release -p fathom-shape --example autorate [HOURS]     all laws on all lines; 1008 hours, six weeks, if not given
//! cargo run --release -p fathom-shape --example autorate check       the fluid beside the packet simulation
//! ```
#![expect(clippy::print_stdout, reason = "its table is its result")]
mod cake;
mod check;
mod fluid;
mod law;
mod line;
mod probing;
mod score;
mod sqm;
mod traffic;
mod world;

use law::Law;
use line::Kind;
use probing::Plan;
use score::Score;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use world::World;

/// Of all chance. The constants of our law were found with 1, and last on the first four days of this one.
const SEED: u64 = 2;
const WEEKS: f64 = 1_008.0;

#[derive(Clone, Copy)]
enum Who {
    Fathom,
    Cake,
    Sqm,
}

/// A law on a line.
#[derive(Clone, Copy)]
struct Job {
    is_round_trip: bool,
    kind: Kind,
    who: Who,
}

impl Who {
    const ALL: [Who; 3] = [Who::Fathom, Who::Cake, Who::Sqm];
    const fn name(self) -> &'static str {
        match self {
            Who::Fathom => "fathom",
            Who::Cake => "cake-autorate",
            Who::Sqm => "sqm-autorate",
        }
    }
    fn law(self, kind: Kind) -> Box<dyn Law> {
        let rates = kind.facts().rates;
        match self {
            Who::Fathom => Box::new(law::Fathom::new(rates)),
            Who::Cake => Box::new(cake::Cake::new(rates)),
            Who::Sqm => Box::new(sqm::Sqm::new(rates)),
        }
    }
    /// Each asks as it does by itself; ours as cake-autorate.
    const fn plan(self, is_round_trip: bool) -> Plan {
        match self {
            Who::Fathom | Who::Cake => Plan { reflectors: 6, every: 0.3, is_round_trip },
            Who::Sqm => Plan { reflectors: 5, every: 0.5, is_round_trip },
        }
    }
}

impl Job {
    fn all() -> Vec<Job> {
        let on = |is_round_trip| {
            Kind::ALL
                .into_iter()
                .flat_map(move |kind| Who::ALL.into_iter().map(move |who| Job { is_round_trip, kind, who }))
        };
        on(false).chain(on(true)).collect()
    }
    /// Round trips alone are the worse way to ask: a week is enough of it.
    fn hours(self, hours: f64) -> f64 {
        if self.is_round_trip { hours / 6.0 } else { hours }
    }
    fn run(self, hours: f64) -> Score {
        let world = World::new(self.kind, self.who.plan(self.is_round_trip), SEED);
        world.run(&mut *self.who.law(self.kind), hours)
    }
}

fn main() {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("check") {
        return check::print();
    }
    let hours = argument.map_or(WEEKS, |hours| {
        hours.parse().unwrap_or_else(|_| panic!("{hours}: expected hours, such as 24, or check"))
    });
    let jobs = Job::all();
    let scores = run_all(&jobs, hours);
    for is_round_trip in [false, true] {
        let asked = if is_round_trip { "round trips alone" } else { "one-way delays" };
        let hours = if is_round_trip { hours / 6.0 } else { hours };
        println!("{hours:.0} hours for each law and line, {asked}");
        println!(
            "line      law            above +30 ms: up   down   mean   used: up   down   mean   delay   cuts/h  when idle  for the other"
        );
        for (job, score) in jobs.iter().zip(&scores).filter(|(job, _)| job.is_round_trip == is_round_trip) {
            row(*job, score);
        }
        println!();
    }
}

/// As many at a time as there are processors.
fn run_all(jobs: &[Job], hours: f64) -> Vec<Score> {
    let scores = Mutex::new(vec![Score::default(); jobs.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((at, job)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, jobs.get(at)?)))
        {
            let score = job.run(job.hours(hours));
            scores.lock().expect("no job panics with the lock held")[at] = score;
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    scores.into_inner().expect("no job panics with the lock held")
}

fn row(job: Job, score: &Score) {
    let Score { hours, up, down } = score;
    let mean = |one: f64, other: f64| (one + other) / 2.0;
    let percent = |share: f64| share * 100.0;
    println!(
        "{:9} {:14} {:14.2} % {:5.2} {:6.2} {:8.1} % {:5.1} {:6.1} {:6.1} ms {:8.0} {:10} {:14}",
        job.kind.facts().name,
        job.who.name(),
        percent(up.late_share()),
        percent(down.late_share()),
        percent(mean(up.late_share(), down.late_share())),
        percent(up.used_share()),
        percent(down.used_share()),
        percent(mean(up.used_share(), down.used_share())),
        mean(up.mean_delay(), down.mean_delay()),
        (up.cuts + down.cuts) as f64 / hours,
        up.idle_cuts + down.idle_cuts,
        up.cross_cuts + down.cross_cuts
    );
}

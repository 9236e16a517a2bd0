//! The decisions of the controller with their reasons, as a readable table:
//! `golden/autorate/decisions.txt`. `UPDATE_GOLDEN=1` rewrites it.
use crate::common::{Answers, Shown, TICK, Ticker, config};
use fathom_shape::autorate::{Controller, Decision, Reason};
use fathom_units::PerDirection;
use std::fmt::Write;
use std::path::Path;

/// Limits of both directions: up 2 to 20 Mbit/s, down 5 to 60.
const UP: [f64; 3] = [2.0, 10.0, 20.0];
const DOWN: [f64; 3] = [5.0, 20.0, 60.0];

struct Scene {
    ticker: Ticker,
    text: String,
    is_up: bool,
    last: Option<Reason>,
}

impl Scene {
    fn new(title: &str, is_up: bool) -> Self {
        let direction = if is_up { "up" } else { "down" };
        let text = format!(
            "# {title}\n#      s   {direction}: sent   shaper queue   delay beyond it       rate   why\n"
        );
        Scene { ticker: Ticker::new(Controller::new(config(UP, DOWN))), text, is_up, last: None }
    }
    /// Simulates `seconds` of ticks, and records those at which the reason changes.
    fn run(&mut self, seconds: f64, mut show: impl FnMut(f64, f64) -> PerDirection<Shown>) {
        let from = self.ticker.ms;
        for _ in 0..(seconds * 1e3) as u64 / TICK {
            let rates = self.ticker.controller.rates();
            let rate = self.of(rates).as_bits_per_second() as f64 / 1e6;
            let second = (self.ticker.ms - from) as f64 / 1e3;
            let shown = show(second, rate);
            let decisions = self.ticker.tick(shown);
            self.note(self.of(shown), self.of(decisions));
        }
    }
    fn of<T>(&self, both: PerDirection<T>) -> T {
        if self.is_up { both.up } else { both.down }
    }
    fn note(&mut self, shown: Shown, decision: Decision) {
        if self.last == Some(decision.reason) && !decision.reason.is_cut() {
            return;
        }
        self.last = Some(decision.reason);
        let Shown { sent, ours, delay } = shown;
        let rate = decision.rate.as_bits_per_second() as f64 / 1e6;
        writeln!(
            self.text,
            "{:8.1} {sent:6.1} Mbit/s {ours:11.0} kB {delay:14.0} ms {rate:6.2} Mbit/s   {}",
            self.ticker.ms as f64 / 1e3,
            decision.reason.name()
        )
        .unwrap();
    }
    fn say(&mut self, what: &str) {
        writeln!(self.text, "         ({what})").unwrap();
    }
}

const IDLE: Shown = Shown { sent: 0.05, ours: 0.0, delay: 0.0 };

const fn up(shown: Shown) -> PerDirection<Shown> {
    PerDirection { up: shown, down: IDLE }
}
const fn down(shown: Shown) -> PerDirection<Shown> {
    PerDirection { up: IDLE, down: shown }
}
/// A sender that fills a line of `capacity` Mbit/s beyond the shaper, with a queue of `queue` ms.
fn full(capacity: f64, rate: f64, queue: &mut f64) -> Shown {
    *queue = (*queue + (rate.min(capacity * 1.05) / capacity - 1.0) * TICK as f64).max(0.0);
    let is_ours = rate < capacity;
    Shown { sent: rate.min(capacity), ours: if is_ours { 40.0 } else { 0.0 }, delay: *queue }
}

fn falls() -> String {
    let mut scene =
        Scene::new("A download fills a line of 20 Mbit/s, which drops to 8 Mbit/s at 4 s.", false);
    scene.run(3.0, |_, _| down(IDLE));
    let mut queue = 0.0;
    scene.run(1.0, |_, rate| down(full(20.0, rate, &mut queue)));
    scene.run(2.6, |_, rate| down(full(8.0, rate, &mut queue)));
    scene.text
}
fn falls_further() -> String {
    let mut scene = Scene::new(
        "The line drops further after the cut: the shaper's queue stays empty, and the rate is cut again.",
        false,
    );
    scene.run(3.0, |_, _| down(IDLE));
    scene.run(0.3, |_, _| down(Shown { sent: 16.0, ours: 0.0, delay: 60.0 }));
    scene
        .run(0.5, |second, rate| down(Shown { sent: rate.min(7.0), ours: 0.0, delay: 90.0 - 60.0 * second }));
    scene.text
}
fn runs_empty() -> String {
    let mut scene = Scene::new(
        "From 4 s on, a download at 60 Mbit/s meets a line of 57: the queue moves from the shaper upstream.",
        false,
    );
    scene.run(3.0, |_, _| down(IDLE));
    scene.run(1.0, |_, rate| down(Shown { sent: rate, ours: 240.0, delay: 0.0 }));
    let (mut ours, mut queue) = (240.0, 0.0_f64);
    scene.run(1.0, |_, rate| {
        // Converts Mbit/s during a tick to kB, and those to ms on the line.
        let moved = (rate - 57.0) * TICK as f64 / 8.0;
        (ours, queue) = (ours - moved, (queue + moved * 8.0 / 57.0).max(0.0));
        down(Shown { sent: rate, ours, delay: queue })
    });
    scene.text
}
fn grows_on() -> String {
    let mut scene = Scene::new(
        "From 3.6 s on, the line of an upload drops from 20 to 6 Mbit/s: the delay also grows after the cut.",
        true,
    );
    scene.run(3.0, |_, _| up(IDLE));
    scene.run(0.6, |_, rate| up(Shown { sent: rate, ours: 60.0, delay: 0.0 }));
    let mut queue = 0.0_f64;
    scene.run(1.5, |second, rate| {
        let line = (20.0 - 24.0 * second).max(6.0);
        queue = (queue + (rate / line - 1.0) * TICK as f64).max(0.0);
        up(Shown { sent: rate, ours: 60.0, delay: queue })
    });
    scene.text
}
fn goes_slowly() -> String {
    let mut scene = Scene::new(
        "The line of an upload drops to 2.3 Mbit/s, the minimum rate is 2: the long queue drains slowly, and is not mistaken for a longer path.",
        true,
    );
    scene.run(3.0, |_, _| up(IDLE));
    scene.run(0.6, |_, rate| up(Shown { sent: rate, ours: 60.0, delay: 0.0 }));
    let mut queue = 0.0_f64;
    scene.run(9.0, |second, rate| {
        let line = (20.0 - 24.0 * second).max(2.3);
        queue = (queue + (rate / line - 1.0) * TICK as f64).max(0.0);
        up(Shown { sent: rate, ours: 60.0, delay: queue })
    });
    scene.text
}
fn rises() -> String {
    let mut scene = Scene::new("Only the shaper limits an upload: the rate rises to its maximum.", true);
    scene.run(3.0, |_, _| up(IDLE));
    scene.run(6.0, |_, rate| up(Shown { sent: rate, ours: 60.0, delay: 0.0 }));
    scene.text
}
fn idle_noise() -> String {
    let mut scene =
        Scene::new("The path is slower by 80 ms while idle; an upload of 1 s occurs during that time.", true);
    scene.run(3.0, |_, _| up(IDLE));
    scene.run(4.0, |_, _| up(Shown { delay: 80.0, ..IDLE }));
    scene.say("the upload starts");
    scene.run(1.0, |_, _| up(Shown { sent: 6.0, ours: 0.0, delay: 80.0 }));
    scene.run(10.0, |_, _| up(Shown { delay: 80.0, ..IDLE }));
    scene.say("the path recovers");
    scene.run(2.0, |_, _| up(IDLE));
    scene.text
}
fn other_direction(answers: Answers, title: &str) -> String {
    let mut scene = Scene::new(title, false);
    scene.ticker.answers = answers;
    let page = Shown { sent: 5.0, ..IDLE };
    scene.run(3.0, |_, _| PerDirection { up: IDLE, down: IDLE });
    scene.run(3.0, |_, _| PerDirection { up: Shown { sent: 9.5, ours: 0.0, delay: 90.0 }, down: page });
    scene.text
}
fn silence() -> String {
    let mut scene =
        Scene::new("No reflector responds while a download fills the line: the rate is not lowered.", false);
    scene.run(3.0, |_, _| down(IDLE));
    scene.ticker.answers = Answers::None;
    scene.run(600.0, |_, rate| down(Shown { sent: rate * 0.9, ours: 0.0, delay: 200.0 }));
    scene.say("they respond again");
    scene.ticker.answers = Answers::OneWay;
    scene.run(0.3, |_, _| down(Shown { sent: 18.0, ours: 0.0, delay: 60.0 }));
    scene.text
}
fn silence_in_a_drain() -> String {
    let mut scene = Scene::new(
        "All reflectors stop responding during a drain: the rate returns to the delivered rate.",
        false,
    );
    scene.run(3.0, |_, _| down(IDLE));
    scene.run(0.3, |_, _| down(Shown { sent: 12.0, ours: 0.0, delay: 300.0 }));
    scene.ticker.answers = Answers::None;
    scene.run(3.0, |_, _| down(Shown { sent: 7.0, ours: 40.0, delay: 0.0 }));
    scene.text
}
fn bad_reflector() -> String {
    let mut scene = Scene::new("One of three reflectors is late by 120 ms during a download.", false);
    scene.run(3.0, |_, _| down(IDLE));
    scene.ticker.answers = Answers::OneIsLate;
    scene.run(20.0, |_, rate| down(Shown { sent: rate * 0.9, ours: 0.0, delay: 0.0 }));
    let suspects: Vec<u16> = scene.ticker.controller.suspects().collect();
    scene.say(&format!("reflectors to replace: {suspects:?}"));
    scene.text
}
fn route() -> String {
    let mut scene = Scene::new(
        "The path becomes longer by 50 ms during a download: two cuts without effect show that it is no queue.",
        false,
    );
    scene.run(3.0, |_, _| down(IDLE));
    scene.run(6.0, |second, rate| {
        down(Shown {
            sent: rate.min(19.0),
            ours: if rate < 19.0 { 40.0 } else { 0.0 },
            delay: if second < 2.0 { 0.0 } else { 50.0 },
        })
    });
    scene.text
}
fn overrun() -> String {
    let title = "Many senders fill the shaper's queue and the provider's, which drains below 17 Mbit/s.";
    let mut scene = Scene::new(title, false);
    scene.run(3.0, |_, _| down(IDLE));
    scene.run(1.0, |_, rate| down(Shown { sent: rate, ours: 100.0, delay: 16.0 }));
    let mut queue = 60.0;
    scene.run(1.6, |_, rate| {
        queue = if rate > 17.0 { 60.0 } else { (queue - 30.0_f64).max(0.0) };
        down(Shown { sent: rate, ours: 900.0, delay: queue })
    });
    scene.text
}
fn starved() -> String {
    let mut scene = Scene::new("The shaper's queue is full, but it sends at half of its rate.", false);
    scene.run(3.0, |_, _| down(IDLE));
    scene.run(6.0, |_, rate| down(Shown { sent: rate / 2.0, ours: 400.0, delay: 0.0 }));
    scene.text
}
fn recalled() -> String {
    let mut scene = Scene::new(
        "The line carries 9 Mbit/s in one hour, much more in the next. A week later, traffic resumes.",
        false,
    );
    scene.run(3.0, |_, _| down(IDLE));
    let mut queue = 0.0;
    scene.run(60.0, |_, rate| down(full(9.0, rate, &mut queue)));
    scene.text.truncate(0);
    scene.last = None;
    scene.ticker.hour = 1;
    scene.run(30.0, |_, rate| down(Shown { sent: rate, ours: 100.0, delay: 0.0 }));
    scene.ticker.hour = 168;
    scene.run(60.0, |_, _| down(IDLE));
    scene.run(1.0, |_, rate| down(Shown { sent: rate, ours: 100.0, delay: 0.0 }));
    let title = "# The line carries 9 Mbit/s in one hour, much more in the next. A week later, traffic resumes after a pause.\n";
    format!("{title}{}", scene.text)
}

#[test]
fn decisions_equal_the_table() {
    let got = [
        falls(),
        falls_further(),
        runs_empty(),
        grows_on(),
        goes_slowly(),
        rises(),
        idle_noise(),
        other_direction(
            Answers::OneWay,
            "An upload fills its queue, and one-way delays show the direction. Shown is the download.",
        ),
        other_direction(
            Answers::RoundTrip,
            "The same with round-trip times only: the less loaded direction is not cut.",
        ),
        silence(),
        silence_in_a_drain(),
        bad_reflector(),
        route(),
        overrun(),
        starved(),
        recalled(),
    ]
    .join("\n");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/autorate/decisions.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &got).unwrap();
    }
    let want = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(got == want, "decisions.txt differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

#[test]
fn the_manual_lists_every_reason() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/autorate.md");
    let text = std::fs::read_to_string(file).unwrap();
    let rows: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|row| row.0).collect();
    let mut names: Vec<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
    names.sort_by_key(|name| rows.iter().position(|row| row == name));
    assert_eq!(rows, names);
}

//! When alerts are raised and cleared, as a readable table: `golden/watch/alerts.txt`.
//! `UPDATE_GOLDEN=1` rewrites it.
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_alert::{Link, Past, PastHour, Rule, SeriesInfo, Transition, Watcher};
use fathom_watch_plan::Target;
use fathom_watch_samples::{Outcome, Sample};
use std::fmt::Write;
use std::path::Path;

/// A Monday, 10:00 UTC.
const BEGIN: u64 = 1_700_474_400;
const NS: u64 = 1_000_000_000;

const CONFIG: &str = "
[[receiver]]
name = 'ops'
command = '/bin/true'

[[target]]
name = 'router'
host = '192.0.2.1'

[[target]]
name = 'path'
host = '192.0.2.9'
probe = 'hops'
";

fn rules(text: &str) -> Vec<Rule> {
    let plan = fathom_watch_plan::parse(&format!("{CONFIG}{text}"), "watch.toml");
    plan.unwrap_or_else(|error| panic!("{error}")).alerts
}

fn all_series() -> Vec<SeriesInfo> {
    let plan = fathom_watch_plan::parse(CONFIG, "watch.toml").unwrap();
    plan.targets.iter().flat_map(Target::series_info).collect()
}

fn ms(ms: u64) -> Outcome {
    Outcome::Answered(Duration::from_millis(ms))
}

fn at(second: u64) -> WallTime {
    WallTime((BEGIN + second) * NS)
}

/// A watcher that receives samples second by second. Series 0 is the router, series 1 the path.
struct Scene {
    watcher: Watcher,
    second: u64,
    text: String,
}

impl Scene {
    fn new(title: &str, config: &str) -> Self {
        let mut text = format!("# {title}\n");
        config.trim().lines().for_each(|line| writeln!(text, "#   {line}").unwrap());
        let mut scene = Scene { watcher: Watcher::new(&rules(config)), second: 0, text };
        scene.open();
        scene
    }
    fn open(&mut self) {
        for (number, info) in (0..).zip(all_series()) {
            self.watcher.open(number, info);
        }
    }
    fn note(&mut self, transitions: Vec<Transition>) {
        for one in transitions {
            let second = one.at.0 / NS - BEGIN;
            let to = if one.to.is_empty() { String::new() } else { format!("  -> {}", one.to.join(", ")) };
            let (change, alert, target, probe) = (one.change.name(), &one.alert, &one.target, &one.probe);
            let why = &one.evidence.text;
            writeln!(
                self.text,
                "{:3}:{:02}  {change:8} {alert} of {target} {probe}: {why}{to}",
                second / 60,
                second % 60
            )
            .unwrap();
        }
    }
    fn heading(&mut self, what: &str) {
        writeln!(self.text, "{:3}:{:02}  ({what})", self.second / 60, self.second % 60).unwrap();
    }
    /// Sends one probe a second.
    fn run(&mut self, seconds: u64, mut outcome: impl FnMut(u64) -> Option<Outcome>) {
        for _ in 0..seconds {
            let now = at(self.second);
            if let Some(outcome) = outcome(self.second) {
                self.watcher.sample(0, Sample { at: now, outcome });
            }
            let transitions = self.watcher.tick(WallTime(now.0 + NS / 2));
            self.note(transitions);
            self.second += 1;
        }
    }
    fn restart(&mut self, config: &str) {
        let remembered = self.watcher.remembered();
        self.watcher = Watcher::new(&rules(config));
        self.watcher.restore(remembered);
        self.open();
        let transitions = self.watcher.settle(at(self.second));
        self.note(transitions);
    }
}

fn loss() -> String {
    let mut scene = Scene::new(
        "20% are lost from 10:00 to 15:00. The limit is exceeded within the first 30 s.",
        "[[alert]]\nname = 'loss'\ntype = 'loss'\nabove = '5%'\nwindow = '2min'\nfor = '30s'\nto = 'ops'",
    );
    let lost =
        |s: u64| Some(if (600..900).contains(&s) && s.is_multiple_of(5) { Outcome::Lost } else { ms(10) });
    scene.run(1_500, lost);
    scene.text
}

fn latency() -> String {
    let config = "[[alert]]\nname = 'slow'\ntype = 'latency'\nabove = '80ms'\nwindow = '1min'\nto = 'ops'\nrepeat = '10min'";
    let mut scene = Scene::new(
        "120 ms from 5:00 to 20:00, then 70 ms (between the limits), then 20 ms from 25:00.",
        config,
    );
    scene.run(1_800, |s| {
        Some(ms(match s {
            300..1_200 => 120,
            1_200..1_500 => 70,
            _ => 20,
        }))
    });
    scene.text
}

fn unknown() -> String {
    let config = "[[alert]]\nname = 'loss'\ntype = 'loss'\nabove = '5%'\nwindow = '1min'\nto = 'ops'";
    let mut scene = Scene::new(
        "All probes are lost from 1:00 to 3:00, then none can be sent: the alert keeps its state.",
        config,
    );
    scene.run(900, |s| {
        Some(match s {
            60..180 => Outcome::Lost,
            180..600 => Outcome::Failed,
            _ => ms(10),
        })
    });
    scene.text
}

fn flapping() -> String {
    let config = "[[alert]]\nname = 'gone'\ntype = 'unreachable'\nfor = '5s'\nclear_after = '5s'\nflapping = 4\n\
                  flapping_window = '20min'\nto = 'ops'";
    let mut scene =
        Scene::new("Down and up for thirty seconds each, for fifteen minutes; then stable.", config);
    scene.run(3_600, |s| Some(if s < 900 && s % 60 >= 30 { Outcome::Lost } else { ms(10) }));
    scene.text
}

fn unreachable() -> String {
    let config = "[[alert]]\nname = 'gone'\ntype = 'unreachable'\nto = 'ops'";
    let mut scene = Scene::new("No replies from 2:00, no route from 4:00, replies from 10:00.", config);
    scene.run(240, |s| Some(if s < 120 { ms(10) } else { Outcome::Lost }));
    scene.watcher.reason(0, "no route to host");
    scene.run(660, |s| Some(if s < 600 { Outcome::Failed } else { ms(10) }));
    scene.text
}

fn past(hour: WallTime, weeks: &[f64], day: f64) -> Past {
    let one = |value: f64| PastHour { from: hour, count: 3_600, value };
    Past { hour, weeks: weeks.iter().copied().map(one).collect(), day: vec![one(day); 24] }
}

fn unusual(title: &str, weeks: &[f64]) -> String {
    let config = "[[alert]]\nname = 'unlike itself'\ntype = 'unusual'\nwindow = '5min'\nto = 'ops'";
    let mut scene = Scene::new(title, config);
    let history_requests = scene.watcher.history_requests(at(0));
    assert_eq!(history_requests.len(), 1, "one rule for one series");
    assert!(scene.watcher.history_requests(at(1)).is_empty(), "each is requested once an hour");
    scene.watcher.learn(history_requests[0], past(history_requests[0].hour, weeks, 0.018));
    scene.run(2_400, |s| Some(ms(if (600..1_500).contains(&s) { 75 } else { 31 })));
    scene.text
}

fn bufferbloat(title: &str, own_load: bool) -> String {
    let config = "[[alert]]\nname = 'bloat'\ntype = 'bufferbloat'\nto = 'ops'";
    let mut scene = Scene::new(title, config);
    let mut rng = Rng::new(7);
    for _ in 0..2_400 {
        let second = scene.second;
        let is_slow = second >= 900 && second % 60 < 20 && second < 1_500;
        let sent = if is_slow && own_load { 9.5e6 } else { 20_000.0 };
        scene.watcher.throughput(at(second + 1), Link::Sent, sent);
        scene.watcher.throughput(at(second + 1), Link::Received, 50_000.0);
        let delay = if is_slow { 380 } else { 12 } + rng.below(6);
        scene.run(1, |_| Some(ms(delay)));
    }
    scene.text
}

fn path() -> String {
    let config = "[[alert]]\nname = 'route'\ntype = 'path'\nwindow = '5min'\nto = 'ops'";
    let mut scene =
        Scene::new("A different router at 2:00 and, while the alert is raised, again at 4:00.", config);
    for (second, router) in [(120, "192.0.2.33"), (240, "192.0.2.34")] {
        let wait = second - scene.second;
        scene.run(wait, |_| None);
        let text = format!("path to 192.0.2.9: hop 4 changed from 192.0.2.30 to {router}");
        scene.watcher.path_changed(1, at(second), &text);
    }
    scene.run(600, |_| None);
    scene.text
}

fn patterns() -> String {
    let config = "[[alert]]\nname = 'someloss'\ntype = 'loss'\npattern = '>0%,*2*,>0%'\nround = '60s'\nto = 'ops'\n\
                  [[alert]]\nname = 'three'\ntype = 'matcher'\npattern = 'CheckLoss(l=>10,x=>2)'\nround = '60s'\nto = 'ops'";
    let mut scene =
        Scene::new("Rounds of a minute: one probe in six is lost in minutes 5, 8, 12 and 13.", config);
    let lossy = |s: u64| [5, 8, 12, 13].contains(&(s / 60)) && s.is_multiple_of(6);
    scene.run(1_200, |s| Some(if lossy(s) { Outcome::Lost } else { ms(10) }));
    scene.text
}

fn priority() -> String {
    let config = "[[alert]]\nname = 'gone'\ntype = 'unreachable'\nfor = '10s'\npriority = 1\nto = 'ops'\n\
                  [[alert]]\nname = 'loss'\ntype = 'loss'\nabove = '5%'\nwindow = '5min'\npriority = 2\nto = 'ops'\nfor = '30s'";
    let mut scene = Scene::new(
        "Down from 5:00 to 8:00: receivers of that alert are not also notified of the loss.",
        config,
    );
    scene.run(1_500, |s| Some(if (300..480).contains(&s) { Outcome::Lost } else { ms(10) }));
    scene.text
}

fn restart() -> String {
    let config = "[[alert]]\nname = 'gone'\ntype = 'unreachable'\nfor = '10s'\nto = 'ops'";
    let mut scene = Scene::new(
        "Down from 1:00. The program restarts at 2:00; replies from 3:00; down again from 5:00.",
        config,
    );
    let gone = |s: u64| Some(if (60..180).contains(&s) || s >= 300 { Outcome::Lost } else { ms(10) });
    scene.run(120, gone);
    scene.heading("restarted: no notification is repeated");
    scene.restart(config);
    scene.run(240, gone);
    scene.heading("restarted without the rule");
    scene.restart("");
    scene.text
}

fn clock_set_back() -> String {
    let config = "[[alert]]\nname = 'loss'\ntype = 'loss'\nabove = '5%'\nwindow = '1min'\nto = 'ops'";
    let mut scene = Scene::new("At 5:00 the clock is set back to 2:00, and all probes are lost.", config);
    scene.run(300, |_| Some(ms(10)));
    scene.second = 120;
    scene.heading("set back");
    scene.run(120, |_| Some(Outcome::Lost));
    scene.run(300, |_| Some(ms(10)));
    scene.text
}

#[test]
fn timelines_of_notifications() {
    let weeks = [0.030, 0.031, 0.029, 0.030, 0.700, 0.032, 0.030, 0.028];
    let got = [
        loss(),
        latency(),
        unknown(),
        unreachable(),
        unusual("31 ms is usual at this hour, despite a bad week four weeks ago. 75 ms from 10:00 to 25:00.", &weeks),
        unusual("Only two weeks have data: the baseline is 18 ms from the last day; 31 ms neither raises nor clears the alert.", &weeks[..2]),
        bufferbloat("Uploads of 20 s each minute from 15:00 to 25:00 fill a buffer.", true),
        bufferbloat("The same delays without load of this host: another host causes them.", false),
        path(),
        flapping(),
        patterns(),
        priority(),
        restart(),
        clock_set_back(),
    ]
    .join("\n");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/watch/alerts.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &got).unwrap();
    }
    let want = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(got == want, "alerts.txt differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

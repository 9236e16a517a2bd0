//! Detects that the clock of this host was set: times in the history then jump.
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_plan::OwnTrouble;

/// Smallest step that is reported. NTP corrects smaller errors by slewing (128 ms, RFC 5905
/// appendix A.5.5.6); the rest is for a late look at the clocks.
const MIN_STEP: Duration = Duration::from_millis(500);
/// Time without a further step after which the clock counts as steady.
const STEADY_AFTER: Duration = Duration::from_secs(600);

/// Compares the wall clock with one that is never set and goes on while the host sleeps.
#[derive(Default)]
pub(crate) struct ClockWatch {
    last: Option<(Time, WallTime)>,
    stepped: Option<(Time, OwnTrouble)>,
    pub(crate) steps: u64,
}

/// A change that is reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ClockNews {
    /// The clock was set.
    Stepped(String),
    /// It was not set for ten minutes.
    Steady(String),
}

impl ClockWatch {
    /// Looks at both clocks, which were read together. Call it about once a second.
    pub(crate) fn look(&mut self, boot: Time, wall: WallTime) -> Option<ClockNews> {
        let last = self.last.replace((boot, wall));
        if let Some((last_boot, last_wall)) = last {
            let expected = i128::from(last_wall.0) + i128::from(boot.saturating_since(last_boot).as_nanos());
            let step_ns = i128::from(wall.0) - expected;
            if step_ns.unsigned_abs() >= u128::from(MIN_STEP.as_nanos()) {
                return Some(self.step(boot, wall, step_ns));
            }
        }
        let is_steady = |(at, _): &mut (Time, OwnTrouble)| boot.saturating_since(*at) >= STEADY_AFTER;
        let (_, trouble) = self.stepped.take_if(is_steady)?;
        Some(ClockNews::Steady(format!("the clock has been steady for 10 min, since {}", trouble.since)))
    }
    fn step(&mut self, boot: Time, wall: WallTime, step_ns: i128) -> ClockNews {
        self.steps += 1;
        let way = if step_ns > 0 { "ahead" } else { "back" };
        let seconds = step_ns.unsigned_abs() as f64 / 1e9;
        let text = format!("the clock of this host was set {} {way}", long(seconds));
        self.stepped = Some((boot, OwnTrouble { kind: "clock", since: wall, text: text.clone() }));
        ClockNews::Stepped(text)
    }
    pub(crate) fn trouble(&self) -> Option<&OwnTrouble> {
        self.stepped.as_ref().map(|(_, trouble)| trouble)
    }
}

fn long(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.1} s"),
        ..7_200.0 => format!("{:.1} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    const SECOND: u64 = 1_000_000_000;

    /// Clocks of a host, in virtual time.
    struct Host {
        boot: u64,
        wall: u64,
        watch: ClockWatch,
    }

    impl Host {
        /// Time passes; the program looks once a second, not quite on time.
        fn run(&mut self, seconds: u64, rng: &mut Rng) -> Vec<ClockNews> {
            (0..seconds)
                .filter_map(|_| {
                    let late = rng.below(SECOND / 4);
                    self.boot += SECOND + late;
                    // NTP slews by up to 500 ppm.
                    self.wall += SECOND + late + rng.below(500_000);
                    self.watch.look(Time::from_nanos(self.boot), WallTime(self.wall))
                })
                .collect()
        }
    }

    #[test]
    fn each_step_is_reported_at_once_and_its_end_after_ten_minutes() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let mut host = Host { boot: 0, wall: 1_800_000_000 * SECOND, watch: ClockWatch::default() };
            assert_eq!(host.run(3_600, &mut rng), [], "seed {seed}");
            let step = SECOND + rng.below(1_000_000 * SECOND);
            let is_ahead = rng.below(2) == 0;
            host.wall = if is_ahead { host.wall + step } else { host.wall - step };
            let news = host.run(1, &mut rng);
            let way = if is_ahead { "ahead" } else { "back" };
            let [ClockNews::Stepped(text)] = &news[..] else { panic!("seed {seed}: {news:?}") };
            assert!(text.ends_with(way), "seed {seed}: {text}");
            assert_eq!(host.watch.trouble().map(|trouble| &trouble.text), Some(text));
            assert_eq!(host.run(400, &mut rng), [], "seed {seed}");
            let end = host.run(300, &mut rng);
            assert!(matches!(end[..], [ClockNews::Steady(_)]), "seed {seed}: {end:?}");
            assert_eq!((host.watch.trouble(), host.watch.steps), (None, 1));
        }
    }

    #[test]
    fn steps_are_described_in_suitable_units() {
        let mut watch = ClockWatch::default();
        let mut wall = 1_800_000_000 * SECOND;
        let mut texts = Vec::new();
        for (second, step_s) in [(1, 0), (2, 2), (3, 600), (4, 86_400), (5, 31_536_000)] {
            wall += step_s * SECOND + SECOND;
            texts.extend(watch.look(Time::from_nanos(second * SECOND), WallTime(wall)));
        }
        let text = |long: &str| ClockNews::Stepped(format!("the clock of this host was set {long} ahead"));
        assert_eq!(texts, ["2.0 s", "10.0 min", "24.0 h", "365 days"].map(text));
    }
}

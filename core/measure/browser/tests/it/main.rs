//! Tests of a page in virtual time.
use fathom_browser::{About, BrowserTest, Echo, Settings, Stage, Transport};
use fathom_run::{Interruption, Metric, NotSent, Phase, PhaseEnd, PhaseKind, Run, SeriesKey};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rng, Time};

const MS: u64 = 1_000_000;
const BASE_S: f64 = 0.010;
/// Full queues, up and down.
const FULL_S: PerDirection<f64> = PerDirection { up: 0.4, down: 0.1 };
/// Payload in bit/s, up and down.
const RATE: PerDirection<f64> = PerDirection { up: 5e6, down: 20e6 };

/// A page behind a line with a queue in each direction. Its clock has another zero, and gains 20
/// microseconds a second.
struct Page {
    now_ns: u64,
    queue_s: PerDirection<f64>,
    /// Messages on their way: arrival at the page, and the number.
    probes: Vec<(u64, u32)>,
    echoes: Vec<(u64, Echo)>,
    received: u32,
    bytes: PerDirection<f64>,
    counted: (u64, u64),
    /// The current upload, and the bytes before it.
    upload: Option<(u32, u64)>,
    /// Every n-th probe is lost on its way to the page.
    lost: Option<u32>,
    /// Whether its load delivers nothing.
    is_blocked: bool,
    /// Whether it is in the background.
    is_hidden: bool,
}

impl Page {
    fn new() -> Self {
        Page {
            now_ns: 5_000 * MS,
            queue_s: PerDirection::default(),
            probes: Vec::new(),
            echoes: Vec::new(),
            received: 0,
            bytes: PerDirection::default(),
            counted: (0, 0),
            upload: None,
            lost: None,
            is_blocked: false,
            is_hidden: false,
        }
    }
    fn now(&self) -> Time {
        Time::from_nanos(self.now_ns)
    }
    fn clock_us(&self, ns: u64) -> u64 {
        1_700_000_000_000_000 + ns / 1_000 + ns / 50_000_000
    }
    fn trip_ns(&self, direction: Direction) -> u64 {
        ((BASE_S + self.queue_s[direction]) * 1e9) as u64
    }
    fn step(&mut self, test: &mut BrowserTest) {
        self.now_ns += MS;
        for direction in Direction::BOTH {
            let loads = test.loads(direction);
            let change = if loads { 0.000_1 } else { -0.001 };
            self.queue_s[direction] = (self.queue_s[direction] + change).clamp(0.0, FULL_S[direction]);
            self.bytes[direction] +=
                if loads && !self.is_blocked { RATE[direction] / 8.0 / 1e3 } else { 0.0 };
        }
        self.upload = if test.loads(Direction::Up) {
            let opened = |number| (number, self.bytes.up as u64);
            self.upload.or_else(|| test.open_flow(Direction::Up).map(opened))
        } else {
            None
        };
        if self.now_ns.is_multiple_of(100 * MS) {
            self.counted = (self.bytes.down as u64, self.clock_us(self.now_ns));
            let upload = self.upload.map(|(number, before)| (number, self.bytes.up as u64 - before));
            test.count_uploads(upload.into_iter(), self.now());
        }
        if let Some(probe) = test.probe(self.now()) {
            test.departed(probe.sequence, self.now());
            if self.lost.is_none_or(|every| !probe.sequence.is_multiple_of(every)) {
                self.probes.push((self.now_ns + self.trip_ns(Direction::Down), probe.sequence));
            }
        }
        let arrived = self.probes.extract_if(.., |(at, _)| *at <= self.now_ns).collect::<Vec<_>>();
        for (at, sequence) in arrived {
            self.received += 1;
            let us = self.clock_us(at);
            // Some answers wait in the page. That time is not part of the line's delay.
            let held_us = if sequence.is_multiple_of(3) { 30_000 } else { 40 };
            let (down_bytes, counted_us) = self.counted;
            let echo = Echo {
                sequence,
                received: self.received,
                received_us: us,
                sent_us: us + held_us,
                down_bytes,
                counted_us,
                late_us: 300,
                is_hidden: self.is_hidden,
            };
            self.echoes.push((at + self.trip_ns(Direction::Up) + held_us * 1_000, echo));
        }
        let answered = self.echoes.extract_if(.., |(at, _)| *at <= self.now_ns).collect::<Vec<_>>();
        for (at, echo) in answered {
            test.take_echo(&echo, Time::from_nanos(at));
        }
        test.poll(self.now());
    }
    fn go_on(&mut self, test: &mut BrowserTest, seconds: u64) {
        (0..seconds * 1_000).for_each(|_| self.step(test));
    }
    /// Runs a test for at most four minutes.
    fn run(&mut self, settings: Settings) -> Run {
        let mut test = BrowserTest::new(settings, Transport::DataChannel, self.now());
        let end = self.now_ns + 240_000 * MS;
        while !test.is_over() && self.now_ns < end {
            self.step(&mut test);
        }
        assert!(test.is_over(), "{:?}", test.stage());
        test.into_run(About { server: "server".into(), ..About::default() }, self.now())
    }
}

fn settings() -> Settings {
    Settings { max_bytes: Bytes(u64::MAX), patience: Duration::from_secs(30) }
}

/// A page whose upload has just started.
fn uploading(transport: Transport) -> (Page, BrowserTest) {
    let mut page = Page::new();
    let mut test = BrowserTest::new(settings(), transport, page.now());
    while test.stage() != Stage::Phase(PhaseKind::Up) {
        page.step(&mut test);
    }
    (page, test)
}

/// Values of a series in the last third of a phase.
fn late_values(run: &Run, key: &SeriesKey, phase: &Phase) -> Vec<f64> {
    let from = Time::from_nanos(phase.end_ns - (phase.end_ns - phase.start_ns) / 3);
    let series = run.series(key).unwrap_or_else(|| panic!("no {key:?}"));
    series.between(from, Time::from_nanos(phase.end_ns)).filter_map(|o| o.value.observed()).collect()
}

fn assert_near(values: &[f64], expected: f64, by: f64, what: &str) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    assert!((median - expected).abs() <= by, "{what}: {median}, not {expected}");
}

#[test]
fn a_run_has_the_queues_the_rates_and_their_directions() {
    let run = Page::new().run(settings());
    let kinds: Vec<PhaseKind> = run.phases.iter().map(|phase| phase.kind).collect();
    use PhaseKind::{Both, Down, Drain, Idle, Up};
    assert_eq!(kinds, [Idle, Down, Up, Both, Drain]);
    assert!(run.phases.iter().all(|phase| phase.end == PhaseEnd::Settled), "{:?}", run.phases);
    assert_eq!(run.partial, None);
    for phase in &run.phases {
        let what = format!("{:?}", phase.kind);
        let loads = phase.kind.loads();
        let full = |direction| if loads.contains(&direction) { FULL_S[direction] } else { 0.0 };
        let queues = full(Direction::Up) + full(Direction::Down);
        let round_trips = late_values(&run, &SeriesKey::of(Metric::UdpRtt), phase);
        assert_near(&round_trips, 2.0 * BASE_S + queues, 0.002, &what);
        for direction in Direction::BOTH {
            let one_way = SeriesKey::directed(Metric::OneWayDelay, direction);
            let expected = BASE_S + full(direction);
            assert_near(&late_values(&run, &one_way, phase), expected, 0.002, &format!("{what} {direction}"));
        }
        for direction in loads {
            let goodput = SeriesKey::directed(Metric::Goodput, *direction);
            let rate = RATE[*direction];
            assert_near(
                &late_values(&run, &goodput, phase),
                rate,
                0.01 * rate,
                &format!("{what} {direction}"),
            );
        }
        let load = phase.load.clone().unwrap_or_default();
        // What the page read in the last half second, it reports after the phase.
        let is_near = |bytes: u64, rate: f64| {
            let seconds = bytes as f64 * 8.0 / rate;
            (phase.seconds() - 0.7..=phase.seconds()).contains(&seconds)
        };
        assert!(!loads.contains(&Direction::Up) || is_near(load.delivered_up_bytes, RATE.up), "{load:?}");
        assert!(
            !loads.contains(&Direction::Down) || is_near(load.delivered_down_bytes, RATE.down),
            "{load:?}"
        );
    }
    let drift = run.instrument.clock_drift_ratio.expect("a fit");
    assert!((drift - 20e-6).abs() < 5e-6, "{drift}");
    let late = run.instrument.timer_lateness.percentile(0.5).expect("echoes");
    assert!((0.000_28..=0.000_3).contains(&late.as_secs_f64()), "{late}");
}

/// More probes at the end of a phase, when the rate is known, would shift its median.
#[test]
fn the_probes_of_a_phase_are_evenly_spaced() {
    let run = Page::new().run(settings());
    let probes = run.series(&SeriesKey::of(Metric::UdpRtt)).expect("probes");
    for phase in run.phases.iter().filter(|phase| phase.load.is_some()) {
        let sent: Vec<u64> = probes.within(phase).map(|probe| probe.at.as_nanos()).collect();
        let gaps: Vec<u64> = sent.windows(2).map(|pair| (pair[1] - pair[0]) / MS).collect();
        let (least, most) = (gaps.iter().min(), gaps.iter().max());
        assert!(most <= least.map(|gap| gap + 2).as_ref(), "{:?}: {least:?} to {most:?} ms", phase.kind);
    }
}

#[test]
fn lost_probes_are_lost_on_their_way_to_the_page() {
    let mut page = Page::new();
    page.lost = Some(7);
    let run = page.run(settings());
    let round_trips = run.series(&SeriesKey::of(Metric::UdpRtt)).expect("probes");
    let ratio = round_trips.censored.len() as f64 / round_trips.values.len() as f64;
    assert!((0.13..0.16).contains(&ratio), "{ratio}");
    let of = |direction| run.series(&SeriesKey::directed(Metric::OneWayDelay, direction)).expect("delays");
    // After the last answer nothing is known.
    assert!(of(Direction::Down).censored.len() + 1 >= round_trips.censored.len());
    assert!(of(Direction::Up).censored.is_empty());
}

#[test]
fn the_load_ends_with_its_bytes() {
    let run = Page::new().run(Settings { max_bytes: Bytes(9_000_000), ..settings() });
    let ends: Vec<PhaseEnd> = run.phases.iter().map(|phase| phase.end).collect();
    assert!(ends.contains(&PhaseEnd::ByteLimit), "{ends:?}");
    let loads = run.phases.iter().filter_map(|phase| phase.load.as_ref());
    let moved: u64 = loads.map(|load| load.delivered_up_bytes + load.delivered_down_bytes).sum();
    // What a page reads between two looks.
    assert!(moved <= 9_000_000 + 2_500_000, "{moved}");
}

#[test]
fn a_page_that_falls_silent_ends_the_test_and_loses_nothing() {
    let (mut page, mut test) = uploading(Transport::WebSocket);
    let silent = page.now();
    while !test.is_over() {
        page.now_ns += 10 * MS;
        // A channel that takes no more is no reason to queue probes in it.
        test.withhold(page.now());
        test.poll(page.now());
    }
    let waited = page.now().saturating_since(silent).as_secs_f64();
    assert!((29.9..30.3).contains(&waited), "{waited}");
    assert_eq!(test.last_message(page.now()).stage, Stage::Over);
    let run = test.into_run(About { server: "server".into(), ..About::default() }, page.now());
    assert_eq!(run.phases.last().map(|phase| phase.end), Some(PhaseEnd::Aborted));
    let Some(Interruption::SessionEnded { server, message }) = &run.partial else {
        panic!("{:?}", run.partial)
    };
    assert_eq!((server.as_str(), message.as_str()), ("server", "the page sent nothing for 30 s"));
    let probes = run.series(&SeriesKey::of(Metric::HttpKept)).expect("probes of a WebSocket");
    assert!(probes.values.len() > 100 && probes.not_sent[&NotSent::BufferFull] > 100);
}

#[test]
fn a_page_in_the_background_pauses_the_test_and_repeats_the_phase() {
    let (mut page, mut test) = uploading(Transport::DataChannel);
    page.go_on(&mut test, 4);
    page.is_hidden = true;
    page.go_on(&mut test, 60);
    assert_eq!(test.stage(), Stage::Paused);
    assert!(!test.loads(Direction::Up) && page.queue_s.up < 0.001);
    let moved = page.bytes.up;
    page.go_on(&mut test, 60);
    assert_eq!(page.bytes.up, moved, "no load while the page is in the background");
    page.is_hidden = false;
    let shown = page.now();
    while !test.is_over() {
        page.step(&mut test);
    }
    let run = test.into_run(About::default(), page.now());
    let kinds: Vec<PhaseKind> = run.phases.iter().map(|phase| phase.kind).collect();
    use PhaseKind::{Both, Down, Drain, Idle, Up};
    assert_eq!((kinds, run.partial.clone()), (vec![Idle, Down, Up, Both, Drain], None));
    let up = &run.phases[2];
    assert!(up.start_ns > shown.as_nanos() - 5_000 * MS, "all of the phase is after the pause");
    let load = up.load.as_ref().expect("a load");
    let seconds = load.delivered_up_bytes as f64 * 8.0 / RATE.up;
    assert!((up.seconds() - 0.7..=up.seconds()).contains(&seconds), "{seconds} of {} s", up.seconds());
    assert_near(&late_values(&run, &SeriesKey::of(Metric::UdpRtt), up), 0.42, 0.002, "round trips");
}

#[test]
fn a_page_that_stays_in_the_background_ends_the_test() {
    let (mut page, mut test) = uploading(Transport::DataChannel);
    page.is_hidden = true;
    let hidden = page.now();
    while !test.is_over() {
        page.step(&mut test);
    }
    let waited = page.now().saturating_since(hidden).as_secs_f64();
    assert!((600.0..601.0).contains(&waited), "{waited}");
    let run = test.into_run(About::default(), page.now());
    assert_eq!(run.phases.len(), 2);
    let Some(Interruption::SessionEnded { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    assert_eq!(message, "the page was in the background for 10 minutes");
}

#[test]
fn a_load_that_delivers_nothing_slows_no_probes() {
    let mut page = Page::new();
    page.is_blocked = true;
    let run = page.run(settings());
    let probes = run.series(&SeriesKey::of(Metric::UdpRtt)).expect("probes");
    let seconds = run.phases.last().map_or(0.0, |phase| phase.end_ns as f64 / 1e9);
    let per_second = probes.values.len() as f64 / seconds;
    assert!((9.5..10.5).contains(&per_second), "{per_second}");
}

/// What a hostile page sends is numbers, whatever they are.
#[test]
fn wild_echoes_do_no_harm() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut page = Page::new();
        let mut test = BrowserTest::new(settings(), Transport::DataChannel, page.now());
        for _ in 0..20_000 {
            page.step(&mut test);
            if rng.next_u64().is_multiple_of(20) {
                let mut wild = || if rng.next_u64().is_multiple_of(2) { rng.next_u64() } else { u64::MAX };
                let echo = Echo {
                    sequence: wild() as u32 % 300,
                    received: wild() as u32,
                    received_us: wild(),
                    sent_us: wild(),
                    down_bytes: wild(),
                    counted_us: wild(),
                    late_us: wild() as u32,
                    is_hidden: wild().is_multiple_of(2),
                };
                test.take_echo(&echo, page.now());
            }
        }
        test.interrupt(Interruption::Stopped, page.now());
        let run = test.into_run(About::default(), page.now());
        let all = run.series.iter().flat_map(|series| &series.values);
        assert!(all.clone().all(|value| value.is_finite() && *value >= 0.0), "seed {seed}");
    }
}

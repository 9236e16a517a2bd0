//! Links of every kind, created from text, and properties that all of them have.
use crate::common::{TestPacket, link, packet, words};
use fathom_link::{
    AggregateLimits, BoostParams, BottleneckParams, BurstParams, CellularParams, CellularRate, Event,
    HopParams, ImpairmentParams, Line, LinePosition, OutageParams, Router, Trace, TransmitterParams, Verdict,
    WifiParams,
};
use fathom_units::{Direction, Duration, Ratio, Rng, Time};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Both directions of one hop, and whether they share a medium.
pub(crate) struct Kind {
    pub(crate) params: BottleneckParams,
    pub(crate) half_duplex: bool,
}

impl Kind {
    pub(crate) fn hop(&self) -> HopParams<'_> {
        HopParams { up: &self.params, down: &self.params, half_duplex: self.half_duplex }
    }
    pub(crate) fn line(&self, seed: u64) -> Line<TestPacket> {
        Line::new([self.hop()], seed)
    }
}

/// The word after `name`.
fn value<T: FromStr>(words: &[&str], name: &str) -> Option<T> {
    let at = words.iter().position(|word| *word == name)?;
    words[at + 1].parse().ok()
}

/// Parses `boost 8mbit 16mbit 2000b`, `cellular 1ms low 1mbit high 4mbit harq 10%`, ...; a final
/// `half` is half duplex.
pub(crate) fn transmitter(text: &str) -> TransmitterParams {
    let (kind, rest) = text.split_once(' ').unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    match kind {
        "rate" => TransmitterParams::Fixed(Some(words[1].parse().unwrap())),
        "boost" => TransmitterParams::Boost(BoostParams {
            sustained: words[1].parse().unwrap(),
            peak: words[2].parse().unwrap(),
            bucket: words[3].parse().unwrap(),
        }),
        "trace" => TransmitterParams::Trace(rest.replace(", ", "\n").parse::<Trace>().unwrap()),
        "mahimahi" => TransmitterParams::Trace(rest.replace(' ', "\n").parse::<Trace>().unwrap()),
        "cellular" => {
            let low = value(&words, "low").unwrap();
            let every = value(&words, "every");
            let high = value(&words, "high").unwrap_or(low);
            TransmitterParams::Cellular(CellularParams {
                tti: words[1].parse().unwrap(),
                grant: value(&words, "grant").unwrap_or(Duration::ZERO),
                harq: value(&words, "harq").unwrap_or(Ratio(0.0)),
                rate: CellularRate::Walk { low, high },
                outages: every.map(|every| OutageParams { every, length: value(&words, "outage").unwrap() }),
            })
        }
        "wifi" => {
            let phy = words[1].parse().unwrap();
            TransmitterParams::Wifi(WifiParams {
                phy,
                stations: value(&words, "stations").unwrap_or(0),
                station_phy: phy,
                error: value(&words, "error").unwrap_or(Ratio(0.0)),
                aggregate: AggregateLimits {
                    packets: value(&words, "aggregate").unwrap_or(32),
                    ..AggregateLimits::DEFAULT
                },
            })
        }
        _ => panic!("{text}"),
    }
}

pub(crate) fn kind(text: &str) -> Kind {
    let (plain, half_duplex) = text.strip_suffix(" half").map_or((text, false), |plain| (plain, true));
    let params =
        BottleneckParams { transmitter: transmitter(plain), ..link(None, "0ms", "fifo limit 1000p") };
    Kind { params, half_duplex }
}

/// One of each kind, and some combinations.
pub(crate) const KINDS: &[&str] = &[
    "rate 9mbit half",
    "boost 5mbit 40mbit 30000b",
    "boost 5mbit 40mbit 30000b half",
    "trace 0s 20mbit, 11ms 0bit, 40ms 3mbit, 70ms loop",
    "trace 0s 20mbit, 11ms 0bit, 40ms 3mbit, 70ms loop half",
    "mahimahi 1 1 2 5 9 9 9",
    "mahimahi 1 1 2 5 9 9 9 half",
    "cellular 1ms grant 8ms harq 20% low 1mbit high 30mbit every 100ms outage 20ms",
    "cellular 2ms harq 40% low 6mbit half",
    "cellular 10ms grant 40ms harq 10% low 2mbit high 9mbit",
    "wifi 65mbit",
    "wifi 65mbit stations 3 error 20% aggregate 8",
    "wifi 13mbit stations 1 error 60% aggregate 2",
];

/// Forwards everything and records the events.
#[derive(Default)]
pub(crate) struct Events(pub(crate) Vec<(Time, LinePosition, String)>);

impl Router<TestPacket> for Events {
    fn arrive(&mut self, _: LinePosition, _: &mut TestPacket, _: Time) -> Verdict<TestPacket> {
        Verdict::Forward
    }
    fn event(&mut self, position: LinePosition, event: Event<'_, TestPacket>, now: Time) {
        assert!(self.0.last().is_none_or(|(last, ..)| *last <= now), "{event:?} out of order");
        self.0.push((now, position, words(&event)));
    }
}

type Out = Vec<(Direction, u64, Time)>;

fn advance(line: &mut Line<TestPacket>, now: Time, events: &mut Events) -> Out {
    let mut out = Vec::new();
    line.advance(now, events, &mut |direction, packet, time| out.push((direction, packet.id, time)));
    out
}

/// Times and directions of random traffic in bursts and pauses.
fn traffic(seed: u64) -> Vec<(Time, Direction, TestPacket)> {
    let mut rng = Rng::stream(seed, "traffic");
    let mut now = Time::ZERO;
    let mut next = |id| {
        let pause = if rng.chance(0.05) { 40_000_000 } else { 1_500_000 };
        now += Duration::from_nanos(rng.below(pause));
        let direction = if rng.chance(0.5) { Direction::Up } else { Direction::Down };
        (now, direction, packet(id, 60 + rng.below(1440)))
    };
    (0..400).map(&mut next).collect()
}

/// Two hops of the kind, the first with codel and a delay. `wake` chooses when the host wakes.
fn run(text: &str, seed: u64, mut wake: impl FnMut(&mut Rng) -> bool) -> (Out, Events) {
    let (first, second) = hops(text);
    let mut line = Line::new([first.hop(), second.hop()], seed);
    let (mut sleep, mut events, mut out) = (Rng::stream(seed, "sleep"), Events::default(), Out::new());
    for (now, direction, packet) in traffic(seed) {
        line.enter(direction, packet, now);
        if wake(&mut sleep) {
            while let Some(next) = line.next_event().filter(|next| *next <= now) {
                out.extend(advance(&mut line, next, &mut events));
            }
        }
    }
    out.extend(advance(&mut line, Time::MAX, &mut events));
    (out, events)
}

fn hops(text: &str) -> (Kind, Kind) {
    let (mut first, mut second) = (kind(text), kind(text));
    first.params.queue = "codel target 5ms interval 50ms".parse().unwrap();
    first.params.delay = Duration::from_millis(3);
    second.params.queue = "fq_codel target 5ms interval 50ms flows 8".parse().unwrap();
    (first, second)
}

#[test]
fn a_late_host_sees_the_same_line() {
    for text in KINDS {
        for seed in 0..6 {
            let (out, events) = run(text, seed, |_| true);
            let (late_out, late_events) = run(text, seed, |sleep| sleep.chance(0.02));
            assert!(out.len() > 60, "{text}, seed {seed}: {}", out.len());
            assert_eq!(out, late_out, "{text}, seed {seed}");
            assert_eq!(events.0, late_events.0, "{text}, seed {seed}");
        }
    }
}

/// `next_exit` is a bound: nothing leaves before it, and a host that wakes only then is never late.
#[test]
fn a_host_that_wakes_only_for_exits_is_never_late() {
    for text in KINDS {
        for seed in 0..6 {
            let (first, second) = hops(text);
            let mut line = Line::new([first.hop(), second.hop()], seed);
            let (mut events, mut count) = (Events::default(), 0);
            for (now, direction, packet) in traffic(seed) {
                while let Some(exit) = line.next_exit().filter(|exit| *exit <= now) {
                    let out = advance(&mut line, exit, &mut events);
                    assert!(
                        out.iter().all(|(.., time)| *time == exit),
                        "{text}, seed {seed}: {out:?} at {exit}"
                    );
                    count += out.len();
                }
                line.enter(direction, packet, now);
                count += advance(&mut line, now, &mut events).len();
            }
            assert!(count > 10, "{text}, seed {seed}: {count}");
        }
    }
}

/// Every packet leaves, is dropped or is lost; none leaves before it arrived or out of order.
#[test]
fn packets_are_conserved_in_order_and_causal() {
    for text in KINDS {
        for seed in 0..6 {
            let mut both = kind(text);
            both.params.queue = "fifo limit 40p".parse().unwrap();
            let mut line = both.line(seed);
            let (mut events, mut entered) = (Events::default(), BTreeMap::new());
            for (now, direction, packet) in traffic(seed) {
                entered.insert(packet.id, now);
                line.enter(direction, packet, now);
            }
            let out = advance(&mut line, Time::MAX, &mut events);
            let gone = events
                .0
                .iter()
                .filter(|(.., event)| event.starts_with("dropped") || event.starts_with("lost"));
            assert_eq!(out.len() + gone.count(), entered.len(), "{text}, seed {seed}");
            assert_eq!((line.next_event(), line.next_exit()), (None, None), "{text}, seed {seed}");
            for way in [Direction::Up, Direction::Down] {
                let side: Vec<_> = out.iter().filter(|(direction, ..)| *direction == way).collect();
                assert!(side.windows(2).all(|pair| pair[0].1 < pair[1].1), "{text}, seed {seed}: order");
                assert!(side.windows(2).all(|pair| pair[0].2 <= pair[1].2), "{text}, seed {seed}: time");
                assert!(
                    side.iter().all(|(_, id, time)| entered[id] < *time),
                    "{text}, seed {seed}: too early"
                );
            }
        }
    }
}

#[test]
fn loss_bursts_have_the_configured_length_and_frequency() {
    // 1 / 0.25 packets long, 0.01 / 0.26 of the time; about 2,500 bursts: 10 % is five deviations.
    let burst = BurstParams { enter: Ratio(0.01), leave: Ratio(0.25), loss: Ratio(1.0) };
    let params = ImpairmentParams { burst: Some(burst), ..ImpairmentParams::default() };
    let mut impairment = fathom_link::Impairment::new(params, Rng::new(5));
    let lost: Vec<bool> = (0..260_000).map(|_| impairment.draw().lost).collect();
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let share = lost.iter().filter(|lost| **lost).count() as f64;
    assert!((share / 10_000.0 - 1.0).abs() < 0.1, "{share}");
    assert!((share / bursts - 4.0).abs() < 0.4, "{share} in {bursts} bursts");
}

//! Where the queue is, on paths of five routers whose replies are known.
use crate::line::{BLOATED, Line, MANAGED};
use fathom_diagnose::diagnose;
use fathom_run::{
    Certainty, Conclusion, FirstLink, Hop, LocationProblem, Metric, Observation, Path, PhaseKind, Place,
    QueueLocation, Run, Series, SeriesKey, Span, Value,
};
use fathom_units::{Direction, Time};

const ROUTERS: u8 = 5;

/// Which share of the added delay of each direction a reply of hop `n` has, at index `n - 1`.
struct Shares {
    up: [f64; ROUTERS as usize],
    down: [f64; ROUTERS as usize],
}

/// The queue of both directions is on this link: link 0 leads from this host to hop 1.
fn at_link(link: usize) -> Shares {
    let shares = std::array::from_fn(|n| if n < link { 0.0 } else { 1.0 });
    Shares { up: shares, down: shares }
}

/// A run with a path whose hops answer once a second, and echo requests five times a second.
fn run(line: &Line, shares: &Shares) -> Run {
    let mut run = line.run();
    let address = |n: u8| if n == 1 { "192.168.1.1".into() } else { format!("198.51.100.{n}") };
    let hop = |number| Hop {
        number,
        address: address(number),
        flow_address: None,
        other_address: None,
        name: None,
        autonomous_system: None,
        return_hops: Some(number),
    };
    run.path = Some(Path {
        hops: (1..=ROUTERS).map(hop).collect(),
        server_hop: Some(ROUTERS + 1),
        server_return_hops: Some(ROUTERS + 1),
        ..Path::default()
    });
    for number in 1..=ROUTERS + 1 {
        for (metric, every) in [(Metric::HopRtt, 50), (Metric::HopEcho, 10)] {
            let series = replies(&run, &key(metric, number), every, shares);
            run.series.push(series);
        }
    }
    run
}

fn key(metric: Metric, number: u8) -> SeriesKey {
    SeriesKey { scope: Some(number.to_string()), ..SeriesKey::of(metric) }
}

/// Every so many one-way delays of the run, as seen at a hop.
fn replies(run: &Run, key: &SeriesKey, every: usize, shares: &Shares) -> Series {
    let hop: usize = key.scope.as_ref().and_then(|scope| scope.parse().ok()).expect("the number of a hop");
    let of =
        |direction| run.series(&SeriesKey::directed(Metric::OneWayDelay, direction)).expect("one-way delays");
    let half = BLOATED.base_rtt_s / 2.0;
    let both = of(Direction::Up).iter().zip(of(Direction::Down).iter());
    let mut series = Series::new(key.clone());
    for (up, down) in both.skip(hop * 3).step_by(every) {
        let added = |o: Observation| o.value.observed().expect("no loss") - half;
        let base = 0.004 * hop as f64;
        // The server has the whole delay.
        let [of_up, of_down] = [&shares.up, &shares.down].map(|all| all.get(hop - 1).copied().unwrap_or(1.0));
        let delay = base + of_up * added(up) + of_down * added(down);
        series.push(Observation { at: up.at, value: Value::Observed(delay) });
    }
    series
}

fn queues(run: &Run, direction: Direction) -> Vec<(QueueLocation, Certainty)> {
    let of = |finding: &fathom_run::Finding| match &finding.conclusion {
        Conclusion::QueueLocation(found) if finding.direction == Some(direction) => {
            Some((found.clone(), finding.certainty))
        }
        _ => None,
    };
    diagnose(run).findings.iter().filter_map(of).collect()
}

#[track_caller]
fn one(run: &Run, direction: Direction) -> QueueLocation {
    let found = queues(run, direction);
    assert_eq!(found.len(), 1, "{found:#?} {:?}", problem(run, direction));
    found[0].0.clone()
}

fn problem(run: &Run, direction: Direction) -> Option<LocationProblem> {
    diagnose(run).findings.iter().filter(|f| f.direction == Some(direction)).find_map(|f| {
        match &f.conclusion {
            Conclusion::UnknownLocation(unknown) => Some(unknown.reason),
            _ => None,
        }
    })
}

/// Changes the delays of one hop.
fn change(run: &mut Run, number: u8, metric: Metric, to: impl Fn(usize, f64) -> f64) {
    let series = run.series.iter_mut().find(|s| s.key == key(metric, number)).expect("a hop");
    series.values.iter_mut().enumerate().for_each(|(n, value)| *value = to(n, *value));
}

#[test]
fn a_queue_on_each_link_in_turn() {
    for link in 0..=ROUTERS {
        let run = run(&BLOATED, &at_link(usize::from(link)));
        for direction in Direction::BOTH {
            let found = one(&run, direction);
            assert_eq!((found.near_hop, found.far_hop), (link, link + 1), "{direction:?}");
            let place = match link {
                0 => Place::LocalNetwork,
                1 => Place::AccessLine,
                _ => Place::Internet,
            };
            assert_eq!(found.place, Some(place));
            assert_eq!(found.near_address.is_none(), link == 0);
            assert_eq!(found.far_address.is_none(), link == ROUTERS);
            assert!(found.probability_ratio > 0.95 && found.delay_ratio > 0.9, "{found:?}");
        }
        assert_eq!(queues(&run, Direction::Up)[0].1, Certainty::Certain);
        // The way back of a reply may not be that of the load.
        assert_eq!(queues(&run, Direction::Down)[0].1, Certainty::Likely);
    }
}

#[test]
fn two_queues_in_one_direction() {
    let up = [0.0, 0.4, 0.4, 0.4, 1.0];
    let run = run(&BLOATED, &Shares { up, down: at_link(2).down });
    let found = queues(&run, Direction::Up);
    let ends: Vec<_> =
        found.iter().map(|(q, _)| (q.near_hop, q.far_hop, (10.0 * q.delay_ratio).round())).collect();
    assert_eq!(ends, [(1, 2, 4.0), (4, 5, 6.0)]);
    let total: f64 = found.iter().map(|(q, _)| q.delay_s).sum();
    assert!((0.5..1.1).contains(&total), "{total}");
}

/// Fair queueing serves rare probes first: those of hops, also to the server, have three quarters
/// of the delay of the frequent ones. The rest is no queue behind the last router.
#[test]
fn what_no_probe_of_hops_has_is_no_queue_behind_the_last_router() {
    let mut run = run(&BLOATED, &Shares { up: [0.0, 0.0, 0.75, 0.75, 0.75], ..at_link(5) });
    assert_eq!(queues(&run, Direction::Up).len(), 2);
    change(&mut run, ROUTERS + 1, Metric::HopRtt, |_, value| 0.024 + 0.75 * (value - 0.024));
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (2, 3));
    assert!((found.delay_ratio - 0.75).abs() < 0.05, "{}", found.delay_ratio);
}

/// A fifth of the delay is a second queue, unless it is less than two packets take.
#[test]
fn a_part_shorter_than_two_packets_is_no_queue() {
    let slow = Line { up_bits_per_second: 100e3, full_up_s: 0.4, ..BLOATED };
    for (line, count) in [(&BLOATED, 2), (&slow, 1)] {
        let run = run(line, &Shares { up: [0.0, 0.78, 0.78, 0.78, 0.78], down: at_link(1).down });
        let found = queues(&run, Direction::Up);
        assert_eq!(found.len(), count, "{found:#?}");
        assert_eq!((found[0].0.near_hop, found[0].0.far_hop), (1, 2));
    }
}

/// The acknowledgments of the download wait in the queue of uploads, on link 3. Hops 2 and 3 are
/// silent during one of the two phases.
#[test]
fn a_queue_that_two_phases_show_is_one() {
    for silent in [PhaseKind::Up, PhaseKind::Down] {
        let mut run = run(&BLOATED, &at_link(3));
        let span = |kind| Span::of(run.phases.iter().find(|phase| phase.kind == kind).expect("a phase"));
        let (down, silent) = (span(PhaseKind::Down), span(silent));
        let within = |of: &Span, at_ns: u64| (of.start_ns..of.end_ns).contains(&at_ns);
        let key = |direction| SeriesKey::directed(Metric::OneWayDelay, direction);
        let [up, of_down] = Direction::BOTH.map(|way| run.series(&key(way)).expect("one-way delays").clone());
        for series in &mut run.series {
            let other = if series.key == key(Direction::Up) { &of_down } else { &up };
            if series.key.metric == Metric::OneWayDelay {
                let places = (0..series.values.len()).filter(|n| within(&down, series.at_ns[*n]));
                places.for_each(|n| series.values[n] = other.values[n]);
            }
            let is_silent = |hop: &str| ["2", "3"].contains(&hop);
            if series.key.scope.as_deref().is_some_and(is_silent) {
                let kept = series.iter().filter(|o| !within(&silent, o.at.as_nanos()));
                *series = kept.fold(Series::new(series.key.clone()), |mut all, observation| {
                    all.push(observation);
                    all
                });
            }
        }
        let found = one(&run, Direction::Up);
        assert_eq!((found.near_hop, found.far_hop, found.phase), (3, 4, PhaseKind::Up));
        assert_eq!(queues(&run, Direction::Down), []);
        // The delay is that of the upload.
        assert!(found.delay_s > 0.5, "{}", found.delay_s);
    }
}

#[test]
fn hops_without_replies_widen_the_claim_and_without_any_there_is_none() {
    let mut run = run(&BLOATED, &at_link(3));
    let path = run.path.as_mut().unwrap();
    path.hops.retain(|hop| ![3, 4].contains(&hop.number));
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop, found.place), (2, 5, Some(Place::Internet)));
    run.path.as_mut().unwrap().hops.clear();
    assert_eq!(problem(&run, Direction::Up), Some(LocationProblem::SilentHops));
    assert!(queues(&run, Direction::Up).is_empty());
    // A server in the local network.
    run.path.as_mut().unwrap().server_hop = Some(1);
    let direct = one(&run, Direction::Up);
    assert_eq!((direct.near_hop, direct.far_hop, direct.place), (0, 1, Some(Place::LocalNetwork)));
}

#[test]
fn a_hop_that_answers_slowly_is_not_blamed() {
    let mut run = run(&BLOATED, &at_link(4));
    for metric in [Metric::HopRtt, Metric::HopEcho] {
        // As slow under load as the queue behind it, and one that is always slow.
        change(&mut run, 2, metric, |_, value| value + if value > 0.0 { 0.9 } else { 0.0 });
        let up = run.phases.iter().find(|p| p.kind == PhaseKind::Up).unwrap().clone();
        let series = run.series.iter_mut().find(|s| s.key == key(metric, 3)).unwrap();
        for (at, value) in series.at_ns.iter().zip(&mut series.values) {
            *value += if (up.start_ns..up.end_ns).contains(at) { 0.7 } else { 0.0 };
        }
    }
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (4, 5));
}

#[test]
fn a_hop_whose_replies_vary_by_themselves_says_nothing() {
    let mut run = run(&BLOATED, &at_link(3));
    for metric in [Metric::HopRtt, Metric::HopEcho] {
        change(&mut run, 3, metric, |n, value| value + [0.0, 1.3, 0.2, 2.1][n % 4]);
    }
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (2, 4));
}

#[test]
fn echo_requests_may_take_another_path_than_the_load() {
    let mut run = run(&BLOATED, &at_link(1));
    for number in 2..=ROUTERS {
        change(&mut run, number, Metric::HopEcho, |_, _| 0.004 * f64::from(number));
    }
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (1, 2));
}

/// Two replies of requests that expired are too few to place the queue, and enough to contradict
/// the echo requests.
#[test]
fn echo_requests_that_few_replies_contradict_say_nothing() {
    let mut run = run(&BLOATED, &at_link(1));
    let up = run.phases.iter().find(|p| p.kind == PhaseKind::Up).unwrap().clone();
    for number in 2..=4 {
        change(&mut run, number, Metric::HopEcho, |_, _| 0.004 * f64::from(number));
        let series = run.series.iter_mut().find(|s| s.key == key(Metric::HopRtt, number)).unwrap();
        let mut few = Series::new(series.key.clone());
        // Of those with load, the last two, which meet a full queue.
        let is_loaded = |o: &Observation| (up.start_ns..up.end_ns).contains(&o.at.as_nanos());
        let last = series.iter().filter(is_loaded).count().saturating_sub(2);
        let mut loaded = 0;
        for observation in series.iter() {
            loaded += usize::from(is_loaded(&observation));
            if !is_loaded(&observation) || loaded > last {
                few.push(observation);
            }
        }
        *series = few;
    }
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (1, 5));
}

/// Three replies within half a second met the queue at one moment, when it was perhaps filling.
#[test]
fn replies_of_one_moment_are_one() {
    let mut run = run(&BLOATED, &at_link(1));
    let up = run.phases.iter().find(|p| p.kind == PhaseKind::Up).unwrap().clone();
    let is_loaded = |at_ns: u64| (up.start_ns..up.end_ns).contains(&at_ns);
    let moment = up.start_ns + 6_000_000_000..up.start_ns + 6_500_000_000;
    for number in 2..=4 {
        for metric in [Metric::HopRtt, Metric::HopEcho] {
            let series = run.series.iter_mut().find(|s| s.key == key(metric, number)).unwrap();
            let mut few = Series::new(series.key.clone());
            for o in series.iter() {
                let at_ns = o.at.as_nanos();
                if !is_loaded(at_ns) {
                    few.push(o);
                } else if metric == Metric::HopEcho && moment.contains(&at_ns) {
                    few.push(Observation { value: Value::Observed(0.004 * f64::from(number)), ..o });
                }
            }
            *series = few;
        }
    }
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (1, 5));
}

#[test]
fn a_queue_that_is_empty_most_of_the_time_has_no_place() {
    let line = Line { full_up_s: 0.001, full_down_s: 0.001, ..BLOATED };
    let mut run = run(&line, &at_link(1));
    let up = run.phases.iter().find(|p| p.kind == PhaseKind::Up).unwrap().clone();
    let waits =
        |at_ns: u64| at_ns.checked_sub(up.start_ns + 4_000_000_000).is_some_and(|s| s < 2_000_000_000);
    let is_beyond = |key: &SeriesKey| key.scope.as_ref().is_some_and(|hop| hop != "1");
    for series in &mut run.series {
        let is_delayed = match series.key.metric {
            Metric::UdpRtt => true,
            Metric::OneWayDelay => series.key.direction == Some(Direction::Up),
            Metric::HopRtt | Metric::HopEcho => is_beyond(&series.key),
            _ => false,
        };
        for (at, value) in series.at_ns.iter().zip(&mut series.values) {
            *value += if is_delayed && waits(*at) { 0.25 } else { 0.0 };
        }
    }
    assert_eq!(queues(&run, Direction::Up), []);
    assert_eq!(problem(&run, Direction::Up), None);
}

/// Expired probes of hop 2 never wait, and half of its echo requests do: the queue is before or
/// behind that hop.
#[test]
fn echo_requests_that_wait_at_times_contradict_probes_that_do_not() {
    let mut run = run(&BLOATED, &at_link(2));
    let waiting = self::run(&BLOATED, &at_link(1)).series;
    let waiting = waiting.iter().find(|s| s.key == key(Metric::HopEcho, 2)).unwrap().values.clone();
    change(&mut run, 2, Metric::HopEcho, |n, value| if (n / 5) % 2 == 0 { value } else { waiting[n] });
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (1, 3));
}

/// The only replies of the first hop without load met a queue of others, which then is no part of
/// its delay without load.
#[test]
fn a_queue_of_others_without_load_is_no_delay_of_a_hop() {
    let mut run = run(&BLOATED, &at_link(0));
    let idle = run.phases.iter().find(|p| p.kind == PhaseKind::Idle).unwrap().clone();
    let is_busy = |at: u64| (1_000_000_000..1_300_000_000).contains(&at);
    let is_idle = |at: u64| (idle.start_ns..idle.end_ns).contains(&at);
    let of_hop = [key(Metric::HopRtt, 1), key(Metric::HopEcho, 1)];
    for series in &mut run.series {
        let is_of_hop = of_hop.contains(&series.key);
        let mut changed = Series::new(series.key.clone());
        for o in series.iter().filter(|o| !is_of_hop || !is_idle(o.at.as_nanos()) || is_busy(o.at.as_nanos()))
        {
            let wait_s = if is_busy(o.at.as_nanos()) { 0.4 } else { 0.0 };
            let value = o.value.observed().filter(|_| is_of_hop || series.key.metric == Metric::UdpRtt);
            changed.push(Observation {
                at: o.at,
                value: value.map_or(o.value, |v| Value::Observed(v + wait_s)),
            });
        }
        *series = changed;
    }
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (0, 1));
    assert!(found.delay_ratio > 0.9, "{found:?}");
}

/// Probes of hops that wait longer at the server than the probes of the test are in another queue.
#[test]
fn hops_whose_delay_at_the_server_differs_say_nothing() {
    for (factor, is_placed) in [(1.0, true), (1.6, false)] {
        let mut run = run(&BLOATED, &at_link(1));
        for number in 1..=ROUTERS + 1 {
            let base = 0.004 * f64::from(number);
            let to = |_: usize, value: f64| base + factor * (value - base);
            change(&mut run, number, Metric::HopRtt, to);
            change(&mut run, number, Metric::HopEcho, to);
        }
        for direction in Direction::BOTH {
            assert_eq!(!queues(&run, direction).is_empty(), is_placed, "{factor} {direction:?}");
        }
    }
}

#[test]
fn replies_that_return_on_another_path_say_nothing_about_downloads() {
    let down = [0.0, 0.0, 0.0, 1.0, 0.0];
    let mut run = run(&BLOATED, &Shares { up: at_link(3).up, down });
    assert_eq!(problem(&run, Direction::Down), Some(LocationProblem::Inconsistent));
    assert_eq!(one(&run, Direction::Up).near_hop, 3);
    // The hop limit of its replies shows that hop 5 answers on another path.
    run.path.as_mut().unwrap().hops[4].return_hops = Some(9);
    let found = one(&run, Direction::Down);
    assert_eq!((found.near_hop, found.far_hop), (3, 4));
    // Nothing shows a queue on the server's own way back.
    let mut hidden = self::run(&BLOATED, &Shares { up: at_link(3).up, down: [0.0; 5] });
    hidden.path.as_mut().unwrap().server_return_hops = Some(9);
    assert_eq!(problem(&hidden, Direction::Down), Some(LocationProblem::Inconsistent));
}

/// Hop 4 is one of two routers, and its replies do not return through the queue between the other
/// one and hop 3.
#[test]
fn a_download_is_not_placed_by_one_of_several_routers() {
    let mut run = run(&BLOATED, &Shares { up: at_link(3).up, down: at_link(4).down });
    assert_eq!(one(&run, Direction::Down).near_hop, 4);
    run.path.as_mut().unwrap().hops[3].other_address = Some("198.51.100.44".into());
    let found = one(&run, Direction::Down);
    assert_eq!((found.near_hop, found.far_hop), (3, 5));
    // The probes of an upload pass the router that answers.
    assert_eq!(one(&run, Direction::Up).far_hop, 4);
}

#[test]
fn probes_that_take_another_path_than_the_load_say_nothing() {
    let mut run = run(&BLOATED, &Shares { up: [0.0; 5], down: [0.0; 5] });
    assert_eq!(one(&run, Direction::Up).near_hop, ROUTERS);
    // Requests of the same flow reach the server without the delay.
    change(&mut run, ROUTERS + 1, Metric::HopRtt, |_, _| 0.02);
    assert_eq!(problem(&run, Direction::Up), Some(LocationProblem::Inconsistent));
    // The server does not answer them, and no hop has the delay.
    run.series.retain(|s| s.key != key(Metric::HopRtt, ROUTERS + 1));
    assert_eq!(problem(&run, Direction::Up), Some(LocationProblem::Inconsistent));
}

#[test]
fn a_path_that_changes_is_not_compared() {
    let mut run = run(&BLOATED, &at_link(2));
    let up = run.phases.iter().find(|p| p.kind == PhaseKind::Up).unwrap().clone();
    run.path.as_mut().unwrap().changes_ns = vec![up.start_ns + 1];
    assert_eq!(problem(&run, Direction::Up), Some(LocationProblem::PathChanged));
    // The download was before it.
    assert_eq!(one(&run, Direction::Down).near_hop, 2);
}

/// Hop 2 is farther away after the change, by much of the delay of the queue.
#[test]
fn after_a_change_of_the_path_hops_have_other_delays_without_load() {
    let mut run = run(&BLOATED, &at_link(2));
    let down = run.phases.iter().find(|p| p.kind == PhaseKind::Down).unwrap().clone();
    for metric in [Metric::HopRtt, Metric::HopEcho] {
        let series = run.series.iter_mut().find(|series| series.key == key(metric, 2)).unwrap();
        let later = (0..series.values.len()).filter(|n| series.at_ns[*n] >= down.end_ns);
        later.for_each(|n| series.values[n] += 0.3);
    }
    assert_eq!(queues(&run, Direction::Up).len(), 2, "an unknown change looks like a queue");
    run.path.as_mut().unwrap().changes_ns = vec![down.end_ns - 1];
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (2, 3));
    // Nothing was measured without load since then.
    run.phases.retain(|phase| phase.kind != PhaseKind::Drain);
    let loaded: Vec<_> = run.phases.iter().filter(|p| p.kind.is_loaded()).map(Span::of).collect();
    for series in run.series.iter_mut().filter(|series| series.key.scope.is_some()) {
        let is_kept = |o: &Observation| {
            let at_ns = o.at.as_nanos();
            at_ns < down.end_ns || loaded.iter().any(|span| (span.start_ns..span.end_ns).contains(&at_ns))
        };
        let kept = series.iter().filter(is_kept);
        *series = kept.fold(Series::new(series.key.clone()), |mut all, observation| {
            all.push(observation);
            all
        });
    }
    assert_eq!(queues(&run, Direction::Up), []);
}

#[test]
fn the_place_is_that_of_a_household() {
    let place = |change: &dyn Fn(&mut Run), link| {
        let mut run = run(&BLOATED, &at_link(link));
        change(&mut run);
        one(&run, Direction::Up).place
    };
    let with = |edit: fn(&mut Path)| move |run: &mut Run| edit(run.path.as_mut().unwrap());
    let wifi = with(|path| path.first_link = Some(FirstLink::Wifi));
    assert_eq!(place(&wifi, 0), Some(Place::Wifi));
    // A modem or a rented server: the first router is the provider's.
    assert_eq!(place(&with(|path| path.hops[0].address = "100.64.0.1".into()), 0), Some(Place::AccessLine));
    // A second private address 4 ms away is the provider's; 0.2 ms away it is a second router.
    let private = |run: &mut Run| run.path.as_mut().unwrap().hops[1].address = "10.0.0.1".into();
    assert_eq!(place(&private, 1), Some(Place::AccessLine));
    let second = |run: &mut Run| {
        private(run);
        [Metric::HopRtt, Metric::HopEcho].into_iter().for_each(|m| change(run, 2, m, |_, v| v - 0.0038));
    };
    assert_eq!(place(&second, 1), Some(Place::LocalNetwork));
    assert_eq!(place(&second, 2), Some(Place::AccessLine));
    // The kernel's timestamps show that probes wait before they leave this host.
    let own = |run: &mut Run| {
        let mut waits = run.series(&SeriesKey::directed(Metric::OneWayDelay, Direction::Up)).unwrap().clone();
        waits.key = SeriesKey::of(Metric::HostQueue);
        run.series.push(waits);
    };
    assert_eq!(place(&own, 0), Some(Place::ThisComputer));
    // Links of two kinds.
    assert_eq!(place(&with(|path| drop(path.hops.remove(0))), 1), None);
}

#[test]
fn without_a_queue_there_is_no_place() {
    let run = run(&MANAGED, &at_link(2));
    assert!(Direction::BOTH.iter().all(|d| queues(&run, *d).is_empty() && problem(&run, *d).is_none()));
    // Times out of range do no harm.
    let mut odd = self::run(&BLOATED, &at_link(2));
    odd.series.iter_mut().for_each(|s| s.at_ns.iter_mut().for_each(|at| *at = at.saturating_mul(1 << 40)));
    diagnose(&odd);
}

/// Adds probes in the flow of the upload: at hop `n`, each has the delay `of(n, time in ns)` above
/// that without load.
fn add_in_flow(run: &mut Run, of: impl Fn(u8, u64) -> f64) {
    let up = run.phases.iter().find(|p| p.kind == PhaseKind::Up).expect("an upload").clone();
    for number in 1..=ROUTERS {
        let mut series = Series::new(key(Metric::HopFlowRtt, number));
        for at_ns in (up.start_ns..up.end_ns).step_by(1_000_000_000) {
            let delay = 0.004 * f64::from(number) + of(number, at_ns);
            series.push(Observation { at: Time::from_nanos(at_ns), value: Value::Observed(delay) });
        }
        run.series.push(series);
    }
}

/// Routers send the load and other probes different ways: only probes in its flow show the queue,
/// and the router that answered them.
#[test]
fn probes_in_the_flow_follow_the_load_where_others_take_another_path() {
    let mut run = run(&BLOATED, &Shares { up: [0.0; 5], down: [0.0; 5] });
    change(&mut run, ROUTERS + 1, Metric::HopRtt, |_, _| 0.02);
    let added = run.series(&SeriesKey::directed(Metric::OneWayDelay, Direction::Up)).unwrap().clone();
    let added_at = |at_ns| {
        let place = added.at_ns.partition_point(|at| *at < at_ns);
        added.values.get(place).map_or(0.0, |value| value - BLOATED.base_rtt_s / 2.0)
    };
    add_in_flow(&mut run, |number, at_ns| if number > 2 { added_at(at_ns) } else { 0.0 });
    run.path.as_mut().unwrap().hops[2].flow_address = Some("198.51.100.33".into());
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (2, 3));
    assert_eq!(found.near_address.as_deref(), Some("198.51.100.2"));
    assert_eq!(found.far_address.as_deref(), Some("198.51.100.33"));
}

/// Each flow has a queue, so other probes see none; the flow that is probed has a shorter queue
/// than the median one.
#[test]
fn probes_in_the_flow_show_the_place_of_its_queue() {
    for link in 0..=ROUTERS {
        let mut run = run(&MANAGED, &at_link(0));
        delay_flows(&mut run, Direction::Up);
        let sawtooth = |at_ns: u64| 0.5 + 0.05 * (at_ns / 1_000_000_000 % 3) as f64;
        add_in_flow(&mut run, |number, at_ns| if number > link { sawtooth(at_ns) } else { 0.0 });
        let found = one(&run, Direction::Up);
        assert_eq!((found.near_hop, found.far_hop), (link, link + 1));
        assert!((found.delay_s - 0.8).abs() < 0.05, "{}", found.delay_s);
        // A flow with half the delay of the other was probed at the hops up to the next one.
        if link + 1 < ROUTERS {
            let mut mixed = run.clone();
            change(&mut mixed, link + 1, Metric::HopFlowRtt, |_, value| value * 0.5);
            assert_eq!(queues(&mixed, Direction::Up), []);
        }
        // Too little to be all of it, and too much to be nothing.
        for series in run.series.iter_mut().filter(|series| series.key.metric == Metric::HopFlowRtt) {
            series.values.iter_mut().for_each(|value| *value *= 0.5);
        }
        let is_at_the_end = link == ROUTERS;
        assert_eq!(queues(&run, Direction::Up).is_empty(), !is_at_the_end, "{link}");
    }
}

/// One flow has a queue for itself that is much shorter than the others', and is probed.
#[test]
fn probes_in_the_flow_may_show_the_shortest_of_different_queues() {
    let mut run = run(&MANAGED, &at_link(0));
    delay_flows(&mut run, Direction::Up);
    add_in_flow(&mut run, |number, _| if number > 2 { 0.32 } else { 0.0 });
    assert_eq!(queues(&run, Direction::Up), []);
    let shortest = run.series.iter_mut().find(|series| is_of_flows(series, Direction::Up)).unwrap();
    shortest.values.iter_mut().for_each(|value| *value -= 0.45);
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (2, 3));
}

/// A download's acknowledgments wait in a queue for all flows. In the upload only its flow waits,
/// on the same link.
#[test]
fn a_queue_that_a_flow_shows_too_is_one() {
    let mut run = run(&BLOATED, &at_link(2));
    let span = |kind| Span::of(run.phases.iter().find(|phase| phase.kind == kind).expect("a phase"));
    let (down, up) = (span(PhaseKind::Down), span(PhaseKind::Up));
    let within = |of: &Span, at_ns: u64| (of.start_ns..of.end_ns).contains(&at_ns);
    let of = |way| run.series(&SeriesKey::directed(Metric::OneWayDelay, way)).expect("delays").clone();
    let ways = Direction::BOTH.map(|way| (SeriesKey::directed(Metric::OneWayDelay, way), of(way.reverse())));
    for series in run.series.iter_mut().filter(|series| series.key.metric != Metric::FlowRtt) {
        let other = ways.iter().find(|(key, _)| *key == series.key).map(|(_, other)| other);
        for n in 0..series.values.len() {
            if within(&up, series.at_ns[n]) {
                series.values[n] = series.values[0];
            } else if let Some(other) = other.filter(|_| within(&down, series.at_ns[n])) {
                series.values[n] = other.values[n];
            }
        }
    }
    for series in run.series.iter_mut().filter(|series| is_of_flows(series, Direction::Up)) {
        series.values.fill(BLOATED.base_rtt_s + 0.8);
    }
    add_in_flow(&mut run, |number, _| if number > 2 { 0.8 } else { 0.0 });
    // So the upload shows a wider place.
    run.series.retain(|series| series.key != key(Metric::HopFlowRtt, 3));
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop, found.phase), (2, 3, PhaseKind::Up));
    assert!((found.delay_s - 0.8).abs() < 0.05, "{}", found.delay_s);
}

/// No router delays the probes in the upload. Its queue is on the last link, unless its
/// acknowledgments wait: in a queue like that of the download, which no probe shares.
#[test]
fn acknowledgments_that_wait_are_no_queue_of_the_upload() {
    let mut run = run(&MANAGED, &at_link(0));
    delay_flows(&mut run, Direction::Up);
    add_in_flow(&mut run, |_, _| 0.0);
    let found = one(&run, Direction::Up);
    assert_eq!((found.near_hop, found.far_hop), (ROUTERS, ROUTERS + 1));
    let mut unknown = run.clone();
    unknown.series.retain(|series| !is_of_flows(series, Direction::Down));
    assert_eq!(queues(&unknown, Direction::Up), []);
    delay_flows(&mut run, Direction::Down);
    assert_eq!(queues(&run, Direction::Up), []);
}

fn is_of_flows(series: &Series, direction: Direction) -> bool {
    series.key.metric == Metric::FlowRtt && series.key.direction == Some(direction)
}

/// Each flow of a direction waits for 0.8 s.
fn delay_flows(run: &mut Run, direction: Direction) {
    for series in run.series.iter_mut().filter(|series| is_of_flows(series, direction)) {
        series.values.iter_mut().for_each(|value| *value += 0.8);
    }
}

/// Adds probes of the server: at hop `n` from it, each has 4 ms per hop without load, and the delay
/// `of(n, time in ns)` above that in the flow of the download.
fn add_returns(run: &mut Run, of: impl Fn(u8, u64) -> f64) {
    let path = run.path.as_mut().expect("a path");
    let hop = |number| Hop { number, address: format!("203.0.113.{number}"), ..path.hops[0].clone() };
    path.return_path = (1..=ROUTERS).map(hop).collect();
    let find = |kind| run.phases.iter().find(|p| p.kind == kind).expect("a phase").clone();
    for (metric, phase) in
        [(Metric::HopReturnRtt, find(PhaseKind::Idle)), (Metric::HopReturnFlowRtt, find(PhaseKind::Down))]
    {
        for number in 1..=ROUTERS {
            let mut series = Series::new(key(metric, number));
            for at_ns in (phase.start_ns..phase.end_ns).step_by(1_000_000_000) {
                let added = if metric == Metric::HopReturnRtt { 0.0 } else { of(number, at_ns) };
                let value = Value::Observed(0.004 * f64::from(number) + added);
                series.push(Observation { at: Time::from_nanos(at_ns), value });
            }
            run.series.push(series);
        }
    }
}

/// Each flow has a queue: the probes of the server show that of the download. Its link is numbered
/// from this host.
#[test]
fn probes_of_the_server_show_the_place_of_the_queue_of_a_download() {
    for link in 0..=ROUTERS {
        let mut run = run(&MANAGED, &at_link(0));
        delay_flows(&mut run, Direction::Down);
        // The flow that is probed has a longer queue than the median one.
        let sawtooth = |at_ns: u64| 0.9 + 0.7 * (at_ns / 1_000_000_000 % 3) as f64;
        add_returns(&mut run, |number, at_ns| if number > ROUTERS - link { sawtooth(at_ns) } else { 0.0 });
        let found = one(&run, Direction::Down);
        assert_eq!((found.near_hop, found.far_hop), (link, link + 1));
        // No router is beyond the last link, and acknowledgments may wait.
        if link == 0 {
            delay_flows(&mut run, Direction::Up);
            assert_eq!(queues(&run, Direction::Down), []);
            continue;
        }
        let near = if link == 1 { "192.168.1.1".into() } else { format!("198.51.100.{link}") };
        assert_eq!(found.near_address, Some(near), "the address that this host knows");
        assert_eq!(found.far_address.is_none(), link == ROUTERS);
        assert!((found.delay_s - 0.8).abs() < 0.05, "{}", found.delay_s);
        assert_eq!(queues(&run, Direction::Down)[0].1, Certainty::Likely);
        // One of several routers, and none: the address that the server knows.
        let hops = &mut run.path.as_mut().unwrap().hops;
        hops[usize::from(link) - 1].other_address = Some("198.51.100.44".into());
        hops.retain(|hop| hop.number != link + 1);
        let by_server = one(&run, Direction::Down);
        let of_server = |hop: u8| format!("203.0.113.{}", ROUTERS + 1 - hop);
        assert_eq!(by_server.near_address, Some(of_server(link)));
        assert_eq!(by_server.far_address, (link < ROUTERS).then(|| of_server(link + 1)));
    }
}

/// Without load, probes in the download wait too, so their shortest delay shows nothing; a way back
/// of another length has other numbers.
#[test]
fn probes_of_the_server_that_cannot_be_compared_say_nothing() {
    let mut whole = run(&MANAGED, &at_link(0));
    for series in whole.series.iter_mut().filter(|series| series.key.metric == Metric::FlowRtt) {
        series.values.iter_mut().for_each(|value| *value += 0.8);
    }
    add_returns(&mut whole, |number, _| if number > 2 { 0.8 } else { 0.0 });
    assert_eq!(one(&whole, Direction::Down).near_hop, ROUTERS - 2);
    let with = |change: &dyn Fn(&mut Run)| {
        let mut run = whole.clone();
        change(&mut run);
        queues(&run, Direction::Down)
    };
    assert_eq!(with(&|run| run.series.retain(|series| series.key.metric != Metric::HopReturnRtt)), []);
    assert_eq!(with(&|run| run.path.as_mut().unwrap().server_return_hops = Some(ROUTERS + 2)), []);
    assert_eq!(with(&|run| run.path.as_mut().unwrap().server_hop = None), []);
    let longer = |run: &mut Run| run.path.as_mut().unwrap().return_path[4].number = ROUTERS + 1;
    assert_eq!(with(&longer), []);
}

/// Replies of routers return another way than the load: the probes of the server are in it.
#[test]
fn probes_of_the_server_follow_a_download_where_replies_return_another_way() {
    let mut run = run(&BLOATED, &Shares { up: at_link(3).up, down: [0.0, 1.0, 0.0, 1.0, 0.0] });
    assert_eq!(problem(&run, Direction::Down), Some(LocationProblem::Inconsistent));
    let added = run.series(&SeriesKey::directed(Metric::OneWayDelay, Direction::Down)).unwrap().clone();
    let added_at = |at_ns| {
        let place = added.at_ns.partition_point(|at| *at < at_ns);
        added.values.get(place).map_or(0.0, |value| value - BLOATED.base_rtt_s / 2.0)
    };
    add_returns(&mut run, |number, at_ns| if number > 3 { added_at(at_ns) } else { 0.0 });
    let found = one(&run, Direction::Down);
    assert_eq!((found.near_hop, found.far_hop), (ROUTERS - 3, ROUTERS - 2));
    // None of them shows the delay.
    let none = run.series.iter_mut().filter(|series| series.key.metric == Metric::HopReturnFlowRtt);
    none.flat_map(|series| &mut series.values).for_each(|value| *value = 0.02);
    assert_eq!(problem(&run, Direction::Down), Some(LocationProblem::Inconsistent));
}

//! Views of made-up fleets with a known truth.
mod documents;
mod stream;
mod trends;

use fathom_fleet_view::{
    Aggregate, AnswerError, Change, ChangeKind, Fleet, InvalidLabel, Labelled, Measure, Membership, Scatter,
    Selector, SiteTests, Slowness, TestSeries, Track, changes, groups, known_query, outliers, read_range,
    read_vector, scatter, shared_queries, slow_query, tests_query, together, trend_query,
};
use fathom_units::{Direction, Duration, Rng};
use std::collections::{BTreeMap, BTreeSet};

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn labelled(pairs: &[(&str, &str)], value: f64) -> Labelled {
    Labelled { labels: labels(pairs), value }
}

/// A fleet whose sites have these lags up.
fn fleet(lags: &[(&str, &str, f64)]) -> Fleet {
    let mut fleet = Fleet::default();
    let lag = |(site, plan, lag): &(&str, &str, f64)| {
        labelled(&[("site", site), ("direction", "up"), ("plan", plan)], *lag)
    };
    fleet.add(Measure::Lag, lags.iter().map(lag).collect());
    fleet
}

#[test]
fn queries_have_values_as_data() {
    let hostile = Selector::all().with("provider", "a\"} or vector(1) #\\\n").with("a b", "x");
    let week = Duration::from_secs(7 * 86_400);
    assert_eq!(
        Measure::Lag.query(week, &Selector::all()),
        "max without (instance, job, tenant_id, test) (quantile_over_time(0.5, fathom_test_lag_seconds{site!=\"\"}[604800s]))"
    );
    assert_eq!(
        Measure::Tests.query(week, &hostile),
        "sum without (instance, job, tenant_id, test) (count_over_time(fathom_test_idle_latency_seconds{site!=\"\",\
         provider=\"a\\\"} or vector(1) #\\\\\\n\",site=\"\"}[604800s]))"
    );
    let slow = slow_query(Duration::from_secs(300), 0.02, &hostile);
    assert!(slow.matches("provider=\"a\\\"}").count() == 4 && slow.ends_with(" >= 0.02"), "{slow}");
    assert_eq!(slow.matches("{probe!~\"hop .*\",site!=\"\"").count(), 4);
    let day = Duration::from_secs(86_400);
    assert_eq!(
        trend_query(Aggregate::P90, Some("plan"), day, &Selector::all()).unwrap(),
        "quantile by (plan) (0.9, max by (site, plan) (quantile_over_time(0.5, fathom_test_lag_seconds{site!=\"\"}[86400s])))"
    );
    assert_eq!(
        trend_query(Aggregate::Sites, None, day, &Selector::all()).unwrap(),
        "count (max by (site) (quantile_over_time(0.5, fathom_test_lag_seconds{site!=\"\"}[86400s])))"
    );
    let label = "plan) or vector(1";
    assert_eq!(trend_query(Aggregate::P50, Some(label), day, &hostile), Err(InvalidLabel(label.into())));
    let one = Selector::all().with("site", "home-17");
    assert!(
        tests_query(week, &one)
            .ends_with("|fathom_test_buffer_bytes\",site!=\"\",site=\"home-17\"}[604800s]")
    );
    assert!(known_query(day, &hostile).contains("provider=\"a\\\"}"));
    let [host, hop] = shared_queries(day, &Selector::all());
    assert_eq!(
        (host.0, host.1.as_str()),
        (
            "host",
            "group by (site, host) (last_over_time(fathom_probes_total{host!=\"\",site!=\"\"}[86400s]))"
        )
    );
    assert!(hop.1.starts_with("group by (site, address) (last_over_time(fathom_hop_info{address!=\"\""));
}

#[test]
fn a_selector_matches_as_its_query_does() {
    let own = labels(&[("provider", "A"), ("plan", "x")]);
    assert!(Selector::all().matches("s", &own));
    assert!(Selector::of(&[("plan".into(), "x".into())]).with("site", "s").matches("s", &own));
    assert!(!Selector::all().with("site", "t").matches("s", &own));
    assert!(!Selector::all().with("plan", "y").matches("s", &own));
    assert!(Selector::all().with("region", "").matches("s", &own), "an absent label is empty");
    assert!(!Selector::all().with("a b", "").matches("s", &own), "no label of the data model");
}

#[test]
fn answers_are_read_and_errors_named() {
    let vector = br#"{"status":"success","data":{"resultType":"vector","result":[
        {"metric":{"site":"a","direction":"up"},"value":[1796083200.123,"0.5"]},
        {"metric":{"site":"b"},"value":[1796083200,"NaN"]}]}}"#;
    assert_eq!(read_vector(vector), Ok(vec![labelled(&[("site", "a"), ("direction", "up")], 0.5)]));
    let range = br#"{"status":"success","isPartial":false,"data":{"resultType":"matrix","result":[
        {"metric":{"site":"a"},"values":[[60,"1"],[120,"+Inf"],[180,"3"]]}]}}"#;
    let track = Track { labels: labels(&[("site", "a")]), points: vec![(60.0, 1.0), (180.0, 3.0)] };
    assert_eq!(read_range(range), Ok(vec![track]));
    let refused = br#"{"status":"error","errorType":"bad_data","error":"parse error"}"#;
    assert_eq!(read_vector(refused), Err(AnswerError::Engine("parse error".into())));
    for body in [&b""[..], b"<html>", b"{}", b"{\"status\":\"success\"}", &range[..40]] {
        assert!(matches!(read_vector(body), Err(AnswerError::Invalid(_))), "{body:?}");
    }
    assert_eq!(read_vector(range), Err(AnswerError::Invalid("values of another kind".into())));
    // No prefix makes it panic.
    for end in 0..vector.len() {
        assert!(read_vector(&vector[..end]).is_err());
    }
}

#[test]
fn sites_are_ranked_by_their_larger_lag() {
    let mut fleet = fleet(&[("a", "x", 0.1), ("b", "x", 0.5), ("c", "y", 0.05)]);
    fleet.add(Measure::Lag, vec![labelled(&[("site", "c"), ("direction", "down")], 0.9)]);
    // Two tests of a site: the larger value. Series without a site are of other watches.
    fleet.add(
        Measure::Rate,
        vec![
            labelled(&[("site", "a"), ("direction", "down"), ("__name__", "n")], 5e6),
            labelled(&[("site", "a"), ("direction", "down"), ("host", "h")], 9e6),
            labelled(&[("direction", "down")], 1.0),
        ],
    );
    fleet.add(Measure::Idle, vec![labelled(&[("site", "d")], 0.02)]);
    fleet.add(Measure::Tests, vec![labelled(&[("site", "a")], 28.0)]);
    let names: Vec<&str> = fleet.by_lag().iter().map(|site| &*site.name).collect();
    assert_eq!(names, ["c", "b", "a"]);
    let a = fleet.site("a").unwrap();
    assert_eq!((a.lines.down.rate_bits_per_second, a.tests), (Some(9e6), 28));
    assert_eq!(*a.labels, labels(&[("plan", "x"), ("host", "h")]));
    assert_eq!(fleet.site("d").unwrap().lag_s(), None);
    assert_eq!(fleet.sites().count(), 4);
}

#[test]
fn groups_have_percentiles_and_shares() {
    let fleet = fleet(&[("a", "x", 0.1), ("b", "x", 0.2), ("c", "x", 0.3), ("d", "y", 1.0), ("e", "", 0.0)]);
    let seen: Vec<_> = groups(&fleet, "plan", 0.2)
        .into_iter()
        .map(|g| (g.value, g.sites, g.lag_p50_s, g.lag_p90_s, g.bloated_ratio))
        .collect();
    let expected = [
        ("y".to_owned(), 1, 1.0, 1.0, 1.0),
        ("x".to_owned(), 3, 0.2, 0.3, 2.0 / 3.0),
        (String::new(), 1, 0.0, 0.0, 0.0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(groups(&fleet, "nothing", 0.2).len(), 1, "all sites without the label");
}

#[test]
fn an_outlier_is_far_from_its_own_group() {
    let name = |n: usize| format!("s{n:02}");
    let names: Vec<String> = (0..40).map(name).collect();
    // Plan x has 50 ms, plan y 500 ms: neither is an outlier of the other.
    let lag = |n: usize| if n < 20 { 0.05 } else { 0.5 } + (n % 5) as f64 * 0.002;
    let mut all: Vec<(&str, &str, f64)> =
        names.iter().enumerate().map(|(n, s)| (s.as_str(), if n < 20 { "x" } else { "y" }, lag(n))).collect();
    assert!(outliers(&fleet(&all), "plan").is_empty());
    all[3].2 = 0.4;
    all[30].2 = 0.56;
    let fleet = fleet(&all);
    let found: Vec<&str> = outliers(&fleet, "plan").iter().map(|site| &*site.name).collect();
    assert_eq!(found, ["s30", "s03"]);
}

#[test]
fn changes_are_of_sites_in_both_periods() {
    let mut before = fleet(&[("a", "x", 0.5), ("b", "x", 0.1), ("c", "x", 0.1), ("gone", "x", 1.0)]);
    let mut after = fleet(&[("a", "x", 0.02), ("b", "x", 0.3), ("c", "x", 0.115), ("new", "x", 0.1)]);
    let tests = |site, count| vec![labelled(&[("site", site)], count)];
    for site in ["a", "b", "c"] {
        before.add(Measure::Tests, tests(site, 28.0));
        after.add(Measure::Tests, tests(site, if site == "b" { 4.0 } else { 5.0 }));
    }
    let seen: Vec<_> =
        changes(&before, &after).into_iter().map(|c| (c.kind(), c.site, c.before_s, c.after_s)).collect();
    let expected = [
        (ChangeKind::Better, "a".to_owned(), 0.5, 0.02),
        (ChangeKind::Same, "c".to_owned(), 0.1, 0.115),
        (ChangeKind::Unknown, "b".to_owned(), 0.1, 0.3),
    ];
    assert_eq!(seen, expected);
}

/// What a list shows if it is cut: the worst first.
#[test]
fn the_largest_changes_come_first() {
    let change = |site: &str, after_s, tests| Change {
        site: site.into(),
        before_s: 0.5,
        after_s,
        tests: (tests, tests),
    };
    let mut all = [
        change("same", 0.51, 5),
        change("better", 0.3, 5),
        change("worse", 0.9, 5),
        change("few", 9.0, 4),
        change("best", 0.1, 5),
        change("worst", 2.0, 5),
    ];
    all.sort_by(Change::by_importance);
    assert_eq!(all.map(|one| one.site), ["worst", "worse", "best", "better", "same", "few"]);
}

#[test]
fn many_lines_are_a_density_that_loses_none() {
    let mut fleet = Fleet::default();
    let mut rng = Rng::new(11);
    let (mut rates, mut buffers) = (Vec::new(), Vec::new());
    let mut truth: BTreeMap<(i32, i32), u64> = BTreeMap::new();
    for n in 0..5_000 {
        let site = format!("s{n}");
        let (rate, buffer) = (1e5 * 10f64.powf(rng.next_f64() * 4.0), 1e3 * 10f64.powf(rng.next_f64() * 4.0));
        *truth
            .entry(((rate.log2() * 8.0).floor() as i32, (buffer.log2() * 8.0).floor() as i32))
            .or_default() += 1;
        rates.push(labelled(&[("site", &site), ("direction", "up")], rate));
        buffers.push(labelled(&[("site", &site), ("direction", "up")], buffer));
    }
    // Lines without a buffer, or with one of zero, have no place.
    rates.push(labelled(&[("site", "x"), ("direction", "up")], 1e6));
    rates.push(labelled(&[("site", "y"), ("direction", "up")], 1e6));
    buffers.push(labelled(&[("site", "y"), ("direction", "up")], 0.0));
    fleet.add(Measure::Rate, rates);
    fleet.add(Measure::Buffer, buffers);
    let Scatter::Points(points) = scatter(&fleet, Direction::Up, None, 5_000) else { panic!("points") };
    assert_eq!(points.len(), 5_000);
    let Scatter::Density(cells) = scatter(&fleet, Direction::Up, None, 4_999) else { panic!("a density") };
    let number = |value: f64| (value.log2() * 8.0).round() as i32;
    let seen: BTreeMap<(i32, i32), u64> = cells
        .iter()
        .map(|cell| ((number(cell.rate_bits_per_second), number(cell.buffer_bytes)), cell.lines))
        .collect();
    assert_eq!(seen, truth);
    assert_eq!(scatter(&fleet, Direction::Down, None, 10), Scatter::Points(vec![]));
}

/// What [`slow_query`] answers about these tracks: the points from 20 ms on.
fn slowness(tracks: &[Track]) -> Slowness {
    let known = tracks.iter().map(|track| track.labels["site"].clone());
    let mut all = Slowness::new(Duration::from_secs(300), known);
    let slow = |track: &Track| Track {
        labels: track.labels.clone(),
        points: track.points.iter().copied().filter(|(_, value)| *value >= 0.02).collect(),
    };
    all.add_tracks(&tracks.iter().map(slow).collect::<Vec<_>>());
    all
}

fn member(kind: &str, value: &str) -> Membership {
    Membership { kind: kind.into(), value: value.into() }
}

/// Three days of 30 sites in 5-minute steps: 10 share a router, whose queue delays them in the
/// evening; each site is slow at other times by itself.
#[test]
fn a_shared_router_is_found_and_chance_is_not() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let name = |n: u64| format!("s{n:02}");
        let mut groups: BTreeMap<Membership, BTreeSet<String>> = BTreeMap::new();
        for n in 0..30 {
            groups
                .entry(member("region", if n < 20 { "north" } else { "south" }))
                .or_default()
                .insert(name(n));
            groups.entry(member("hop", &format!("192.0.2.{}", n / 10))).or_default().insert(name(n));
            groups.entry(member("hop", "198.51.100.1")).or_default().insert(name(n));
            groups.entry(member("plan", &format!("p{}", rng.below(3)))).or_default().insert(name(n));
        }
        let steps = 3 * 288;
        let is_evening = |step: u64| (240..264).contains(&(step % 288));
        let track = |n: u64, dice: &mut Rng| Track {
            labels: labels(&[("site", &name(n))]),
            points: (0..steps)
                .map(|step| {
                    let queued = is_evening(step) && (10..20).contains(&n) && dice.chance(0.95);
                    let own = dice.chance(0.05);
                    ((step * 300) as f64, if queued || own { 0.08 } else { 0.002 })
                })
                .collect(),
        };
        let tracks: Vec<Track> = (0..30).map(|n| track(n, &mut rng)).collect();
        let found = together(&slowness(&tracks), &groups).times;
        assert!(found.iter().all(|one| one.shared == member("hop", "192.0.2.1")), "seed {seed}: {found:?}");
        let covered: f64 = found.iter().map(|one| (one.span_s.1 - one.span_s.0) / 300.0 + 1.0).sum();
        assert!((54.0..=72.0).contains(&covered), "seed {seed}: {covered} of 72 steps");
        let evening = found.iter().max_by(|a, b| (a.sites.len()).cmp(&b.sites.len())).unwrap();
        assert_eq!((evening.sites.len(), evening.unaffected), (10, 0), "seed {seed}");
        // Without what they share, nothing is found.
        let alone: BTreeMap<_, _> = groups.into_iter().filter(|(shared, _)| shared.kind == "plan").collect();
        assert_eq!(together(&slowness(&tracks), &alone).times, [], "seed {seed}");
    }
}

#[test]
fn everything_slow_is_the_common_router_and_nothing_else() {
    let sites: BTreeSet<String> = (0..6).map(|n| format!("s{n}")).collect();
    let half: BTreeSet<String> = sites.iter().take(3).cloned().collect();
    let groups = BTreeMap::from([(member("hop", "core"), sites.clone()), (member("hop", "edge"), half)]);
    let track = |site: &String| Track {
        labels: labels(&[("site", site)]),
        points: vec![(0.0, 0.0), (300.0, 0.1), (600.0, 0.1), (900.0, 0.0)],
    };
    let tracks: Vec<Track> = sites.iter().map(track).collect();
    let found = together(&slowness(&tracks), &groups).times;
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.shared.value.as_str(), one.span_s, one.match_ratio), ("core", (300.0, 600.0), 1.0));
    // Two sites are too few.
    let two = together(&slowness(&tracks[..2]), &groups);
    assert_eq!((two.times.len(), two.slow(), two.known), (0, 0, 2));
}

/// Medians of tests in any order, against sorting.
#[test]
fn the_median_of_tests_is_one_of_them() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut tests = SiteTests::default();
        let mut lags: Vec<f64> = Vec::new();
        for n in 0..1 + rng.below(30) {
            let lag = rng.next_f64();
            tests.add(1_000 + n * 60_000, TestSeries::of_probe("lag up").unwrap(), lag);
            tests.add(1_000 + n * 60_000, TestSeries::of_probe("idle").unwrap(), lag / 2.0);
            lags.push(lag);
        }
        lags.sort_by(f64::total_cmp);
        let site = tests.site("s", labels(&[("plan", "x")]));
        let median = lags[(lags.len() - 1) / 2];
        assert_eq!(site.lines.up.lag_s, Some(median), "seed {seed}");
        assert_eq!((site.idle_s, site.lines.down.lag_s), (Some(median / 2.0), None), "seed {seed}");
        assert_eq!((site.tests, site.lag_s()), (lags.len() as u64, Some(median)), "seed {seed}");
    }
    assert_eq!(TestSeries::of_probe("lag"), None, "the larger of both is that of a direction");
    assert_eq!(TestSeries::of_probe("icmp"), None);
}

#[test]
fn tests_of_an_engine_are_grouped_by_time() {
    let track = |name: &str, direction: Option<&str>, value: f64| Track {
        labels: labels(&[("__name__", name), ("site", "s")])
            .into_iter()
            .chain(direction.map(|direction| ("direction".to_owned(), direction.to_owned())))
            .collect(),
        points: vec![(60.0, value), (120.0, 2.0 * value)],
    };
    let tests = SiteTests::of_tracks(&[
        track("fathom_test_lag_seconds", Some("up"), 0.1),
        track("fathom_test_lag_seconds", None, 9.0),
        track("fathom_test_buffer_bytes", Some("down"), 1e5),
        track("fathom_test_idle_latency_seconds", None, 0.02),
        track("fathom_test_idle_latency_seconds", Some("up"), 9.0),
        track("fathom_rtt_seconds", None, 9.0),
        // Another test of this site at the same time.
        track("fathom_test_lag_seconds", Some("up"), 0.05),
    ]);
    let seen: Vec<_> = tests
        .iter()
        .map(|(at, test)| (at, test.lines.up.lag_s, test.lines.down.buffer_bytes, test.idle_s))
        .collect();
    assert_eq!(
        seen,
        [(60_000, Some(0.1), Some(1e5), Some(0.02)), (120_000, Some(0.2), Some(2e5), Some(0.04))]
    );
}

#[test]
fn of_equal_groups_the_router_is_named() {
    let sites: BTreeSet<String> = (0..4).map(|n| format!("s{n}")).collect();
    let kinds = ["region", "hop", "host", "aaa"].map(|kind| (member(kind, "x"), sites.clone()));
    let mut all = Slowness::new(Duration::from_secs(300), sites.clone());
    for site in &sites {
        [100, 101].iter().for_each(|step| all.add(site, f64::from(step * 300)));
    }
    let named = |some: &[(Membership, BTreeSet<String>)]| {
        together(&all, &some.iter().cloned().collect()).times[0].shared.kind.clone()
    };
    assert_eq!(named(&kinds), "hop");
    let without: Vec<_> = kinds.into_iter().filter(|(shared, _)| shared.kind != "hop").collect();
    assert_eq!(named(&without), "host");
}

/// A step without any slow site ends an episode, and a single step is none.
#[test]
fn episodes_end_and_single_steps_are_chance() {
    let sites: Vec<String> = (0..4).map(|n| format!("s{n}")).collect();
    let groups = BTreeMap::from([(member("region", "north"), sites.iter().cloned().collect())]);
    let slow_at = |steps: &[u64]| {
        let mut all = Slowness::new(Duration::from_secs(300), sites.clone());
        for step in steps {
            sites.iter().for_each(|site| all.add(site, (step * 300) as f64));
        }
        together(&all, &groups).times.iter().map(|one| one.span_s).collect::<Vec<_>>()
    };
    assert_eq!(slow_at(&[100]), []);
    assert_eq!(slow_at(&[100, 102]), [(30_300.0, 30_300.0)], "between two slow ones");
    assert_eq!(slow_at(&[100, 101, 110, 111, 112]), [(30_000.0, 30_300.0), (33_000.0, 33_600.0)]);
}

//! Views of made-up fleets with a known truth.
use fathom_fleet_view::{
    AnswerError, Fleet, Labelled, Measure, Membership, Scatter, Selector, Track, changes, groups, outliers,
    read_range, read_vector, scatter, slow_query, together,
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
        "max without (instance, job, test) (quantile_over_time(0.5, fathom_test_lag_seconds{site!=\"\"}[604800s]))"
    );
    assert_eq!(
        Measure::Tests.query(week, &hostile),
        "sum without (instance, job, test) (count_over_time(fathom_test_idle_latency_seconds{site!=\"\",\
         provider=\"a\\\"} or vector(1) #\\\\\\n\",site=\"\"}[604800s]))"
    );
    assert!(slow_query(Duration::from_secs(300), &hostile).matches("provider=\"a\\\"}").count() >= 2);
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
    let names: Vec<&str> = fleet.by_lag().iter().map(|site| site.name.as_str()).collect();
    assert_eq!(names, ["c", "b", "a"]);
    let a = fleet.site("a").unwrap();
    assert_eq!((a.lines.down.rate_bits_per_second, a.tests), (Some(9e6), 28));
    assert_eq!(a.labels, labels(&[("plan", "x"), ("host", "h")]));
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
    let found: Vec<&str> = outliers(&fleet, "plan").iter().map(|site| site.name.as_str()).collect();
    assert_eq!(found, ["s30", "s03"]);
}

#[test]
fn changes_are_of_sites_in_both_periods() {
    let before = fleet(&[("a", "x", 0.5), ("b", "x", 0.1), ("gone", "x", 1.0)]);
    let after = fleet(&[("a", "x", 0.02), ("b", "x", 0.3), ("new", "x", 0.1)]);
    let seen: Vec<_> =
        changes(&before, &after).into_iter().map(|c| (c.site, c.before_s, c.after_s)).collect();
    assert_eq!(seen, [("a".to_owned(), 0.5, 0.02), ("b".to_owned(), 0.1, 0.3)]);
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
    let Scatter::Points(points) = scatter(&fleet, Direction::Up, 5_000) else { panic!("points") };
    assert_eq!(points.len(), 5_000);
    let Scatter::Density(cells) = scatter(&fleet, Direction::Up, 4_999) else { panic!("a density") };
    let number = |value: f64| (value.log2() * 8.0).round() as i32;
    let seen: BTreeMap<(i32, i32), u64> = cells
        .iter()
        .map(|cell| ((number(cell.rate_bits_per_second), number(cell.buffer_bytes)), cell.lines))
        .collect();
    assert_eq!(seen, truth);
    assert_eq!(scatter(&fleet, Direction::Down, 10), Scatter::Points(vec![]));
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
        let found = together(&tracks, &groups, 0.02);
        assert!(found.iter().all(|one| one.shared == member("hop", "192.0.2.1")), "seed {seed}: {found:?}");
        let covered: f64 = found.iter().map(|one| (one.span_s.1 - one.span_s.0) / 300.0 + 1.0).sum();
        assert!((54.0..=72.0).contains(&covered), "seed {seed}: {covered} of 72 steps");
        let evening = found.iter().max_by(|a, b| (a.sites.len()).cmp(&b.sites.len())).unwrap();
        assert_eq!((evening.sites.len(), evening.unaffected), (10, 0), "seed {seed}");
        // Without what they share, nothing is found.
        let alone: BTreeMap<_, _> = groups.into_iter().filter(|(shared, _)| shared.kind == "plan").collect();
        assert_eq!(together(&tracks, &alone, 0.02), [], "seed {seed}");
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
    let found = together(&tracks, &groups, 0.02);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.shared.value.as_str(), one.span_s, one.match_ratio), ("core", (300.0, 600.0), 1.0));
    // Two sites are too few.
    assert_eq!(together(&tracks[..2], &groups, 0.02), []);
}

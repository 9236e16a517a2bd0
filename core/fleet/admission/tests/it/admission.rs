//! Which requests of a site are admitted.
use crate::messages::{plain, version1, version2};
use fathom_fleet_admission::{Admitted, Labels, Limits, Rejection, SiteName, Usage, Version, admit};
use fathom_units::Rng;
use std::collections::BTreeMap;

const NOW: u64 = 1_700_000_000_000;

struct Gate {
    site: SiteName,
    labels: Labels,
    limits: Limits,
    usage: Usage,
}

impl Gate {
    fn new(limits: Limits) -> Gate {
        let site = SiteName::parse("berlin").unwrap();
        let labels = Labels::parse([("plan", "50/10")]).unwrap();
        Gate { site, labels, limits, usage: Usage::new(&limits, NOW) }
    }
    fn admit(&mut self, all: &[&[(&str, &str)]], at_ms: u64, now_ms: u64) -> Result<Admitted, Rejection> {
        let all: Vec<_> = all.iter().map(|labels| plain(labels, at_ms as i64)).collect();
        let (who, mut usage) = ((&self.site, &self.labels), self.usage.clone());
        let first = admit(Version::V1, &version1(&all), who, (&mut usage, &self.limits), &[1; 16], now_ms);
        let body = version2(&all);
        let second = admit(Version::V2, &body, who, (&mut self.usage, &self.limits), &[1; 16], now_ms);
        assert_eq!(first, second);
        second
    }
}

#[test]
fn a_series_has_the_labels_of_its_site_and_no_others() {
    let mut gate = Gate::new(Limits::default());
    let name = ("__name__", "fathom_probes_total");
    let own = [("site", "berlin"), ("plan", "50/10")];
    let good = [name, own[0], own[1], ("target", "router"), ("probe", "icmp"), ("job", "fathom")];
    assert_eq!(gate.admit(&[&good], NOW, NOW).unwrap().totals.series, 1);
    assert_eq!(gate.admit(&[], NOW, NOW).unwrap().totals.series, 0);
    // A router on the path.
    let router = [("target", "far"), ("probe", "hop 2"), ("address", "192.0.2.1"), ("job", "fathom")];
    let hop = [&[("__name__", "fathom_hop_info"), own[0], own[1]], router.as_slice()].concat();
    assert_eq!(gate.admit(&[&hop], NOW, NOW).unwrap().totals.series, 1);
    let bad: [(&[(&str, &str)], &str); 7] = [
        (&[name, ("plan", "50/10")], "expected site=\"berlin\""),
        (&[name, ("site", "paris"), own[1]], "expected site=\"berlin\""),
        (&[name, own[0]], "expected plan=\"50/10\""),
        (&[name, own[0], ("plan", "1000")], "expected plan=\"50/10\""),
        (&[("__name__", "up"), own[0], own[1]], "a name with fathom_"),
        (&[own[0], own[1]], "a name with fathom_"),
        (&[name, own[0], own[1], ("vm_account_id", "7")], "unexpected label vm_account_id"),
    ];
    for (labels, expected) in bad {
        let error = gate.admit(&[&good, labels], NOW, NOW).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(matches!(&error, Rejection::Series { series, .. } if series.contains('{')), "{error}");
        assert_eq!(error.retry_after_s(), None);
    }
    // A label is data: one that looks like a query changes nothing.
    let injected = [name, ("site", "berlin\"} or {a=\""), own[1]];
    assert!(matches!(gate.admit(&[&injected], NOW, NOW), Err(Rejection::Series { .. })));
    assert!(matches!(gate.admit(&[&good], NOW + 600_001, NOW), Err(Rejection::Ahead { .. })));
    gate.admit(&[&good], NOW + 600_000, NOW).unwrap();
    gate.admit(&[&good], 1, NOW).unwrap();
}

#[test]
fn series_beyond_the_limit_are_named_and_forgotten_ones_make_place() {
    let mut gate = Gate::new(Limits { series: 3, ..Limits::default() });
    let mut send = |targets: &[&str], now_ms: u64| {
        let all: Vec<Vec<(&str, &str)>> = targets
            .iter()
            .map(|target| {
                vec![("__name__", "fathom_a"), ("site", "berlin"), ("plan", "50/10"), ("target", target)]
            })
            .collect();
        let slices: Vec<&[(&str, &str)]> = all.iter().map(Vec::as_slice).collect();
        gate.admit(&slices, NOW, now_ms).map(|_| ())
    };
    send(&["a", "b", "a"], NOW).unwrap();
    let error = send(&["a", "c", "d"], NOW).unwrap_err();
    assert!(matches!(&error, Rejection::TooManySeries { limit: 3, series } if series.contains("\"d\"")));
    send(&["c"], NOW).unwrap();
    send(&["d"], NOW).unwrap_err();
    send(&["a"], NOW + 3_600_000).unwrap();
    send(&["d"], NOW + 7_200_000).unwrap_err();
    send(&["d", "e"], NOW + 7_260_000).unwrap();
    send(&["b"], NOW + 7_260_000).unwrap_err();
}

#[test]
fn samples_and_bytes_have_rates() {
    let mut gate = Gate::new(Limits { samples_per_minute: 10, object_bytes_per_day: 1 << 20, series: 9 });
    let labels: &[(&str, &str)] = &[("__name__", "fathom_a"), ("site", "berlin"), ("plan", "50/10")];
    let admitted = gate.admit(&[labels; 10], NOW, NOW).unwrap();
    assert_eq!(gate.admit(&[labels], NOW, NOW).unwrap_err().retry_after_s(), Some(6));
    gate.admit(&[labels], NOW, NOW + 6_000).unwrap();
    gate.usage.put_back_samples(&admitted);
    gate.admit(&[labels; 10], NOW, NOW + 6_000).unwrap();
    // Small objects count as 64 KiB.
    for _ in 0..16 {
        gate.usage.take_object(1, NOW).unwrap();
    }
    assert_eq!(gate.usage.take_object(1, NOW).unwrap_err().retry_after_s(), Some(5_400));
    gate.usage.put_back_object(1);
    gate.usage.take_object(1, NOW).unwrap();
}

/// Active series next to a map that keeps everything.
#[test]
fn active_series_are_those_of_the_last_two_hours() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let mut gate = Gate::new(Limits { series: 6, ..Limits::default() });
        let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
        let mut now = NOW - NOW % 60_000;
        for step in 0..60 {
            now += rng.below(40) * 60_000;
            let targets: Vec<u64> = (0..1 + rng.below(3)).map(|_| rng.below(12)).collect();
            let names: Vec<String> = targets.iter().map(|target| format!("t{target}")).collect();
            let all: Vec<Vec<(&str, &str)>> = names
                .iter()
                .map(|name| {
                    vec![("__name__", "fathom_a"), ("site", "berlin"), ("plan", "50/10"), ("target", name)]
                })
                .collect();
            let slices: Vec<&[(&str, &str)]> = all.iter().map(Vec::as_slice).collect();
            seen.retain(|_, at| now - *at <= 7_200_000);
            let mut after = seen.clone();
            after.extend(targets.iter().map(|target| (*target, now)));
            let admitted = gate.admit(&slices, now, now).is_ok();
            assert_eq!(admitted, after.len() <= 6, "seed {seed}, step {step}");
            if admitted {
                seen = after;
            }
            assert_eq!(gate.usage.active(), seen.len(), "seed {seed}, step {step}");
        }
    }
}

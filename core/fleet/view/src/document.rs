//! The answers as JSON, for `--json` and for the page. `docs/schema/result.schema.json` describes
//! them.
use crate::change::Change;
use crate::fleet::{LineSummary, Site};
use crate::group::Group;
use crate::scatter::Scatter;
use crate::site_tests::SiteTests;
use crate::together::{SlowTimes, Together};
use crate::trend::Trend;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::PerDirection;
use serde_json::{Map, Value, json};

/// The sites in this order, the groups of a label, and the names of sites that differ from theirs.
#[must_use]
pub fn sites_document(ranked: &[&Site], groups: Option<(&str, &[Group])>, outliers: &[&Site]) -> Value {
    let by = groups.map(
        |(label, groups)| json!({ "label": label, "groups": groups.iter().map(group).collect::<Vec<_>>() }),
    );
    let names: Vec<&str> = outliers.iter().map(|site| &*site.name).collect();
    json!({ "sites": ranked.iter().map(|one| site(one)).collect::<Vec<_>>(), "by": by, "outliers": names })
}

/// A site, its tests, and its results: the name and the verdict of each.
#[must_use]
pub fn site_document(of: &Site, tests: &SiteTests, results: &[(String, String)]) -> Value {
    let test = |(at_ms, values): (u64, &crate::TestValues)| {
        let mut row = lines(&values.lines);
        row.insert("at_s".into(), (at_ms as f64 / 1e3).into());
        row.insert("idle_p50_s".into(), values.idle_s.into());
        Value::Object(row)
    };
    let result = |(name, verdict): &(String, String)| json!({ "name": name, "verdict": verdict });
    json!({
        "site": site(of),
        "tests": tests.iter().map(test).collect::<Vec<_>>(),
        "results": results.iter().map(result).collect::<Vec<_>>(),
    })
}

/// The plot of capacity and buffer, of one direction.
#[must_use]
pub fn scatter_document(direction: &str, plot: &Scatter) -> Value {
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    match plot {
        Scatter::Points(all) => points.extend(all.iter().map(|point| {
            json!({
                "site": point.site,
                "group": point.group,
                "rate_bits_per_second": point.rate_bits_per_second,
                "buffer_bytes": point.buffer_bytes,
            })
        })),
        Scatter::Density(all) => cells.extend(all.iter().map(|cell| {
            json!({
                "rate_bits_per_second": cell.rate_bits_per_second,
                "buffer_bytes": cell.buffer_bytes,
                "lines": cell.lines,
            })
        })),
    }
    json!({ "direction": direction, "points": points, "cells": cells })
}

/// The lag of each site in two periods.
#[must_use]
pub fn changes_document(all: &[Change]) -> Value {
    let one = |change: &Change| {
        json!({
            "site": change.site,
            "before_s": change.before_s,
            "after_s": change.after_s,
            "tests_before": change.tests.0,
            "tests_after": change.tests.1,
            "change": change.kind().name(),
        })
    };
    json!({ "changes": all.iter().map(one).collect::<Vec<_>>() })
}

/// How lags develop: of all sites, and of each value of a label.
#[must_use]
pub fn trends_document<'t>(
    all: &[Trend],
    by: Option<&str>,
    of_values: impl IntoIterator<Item = &'t Trend>,
) -> Value {
    let values: Vec<Value> = of_values.into_iter().map(trend).collect();
    json!({
        "all": all.first().map(trend),
        "by": by.map(|label| json!({ "label": label, "trends": values })),
    })
}

fn trend(of: &Trend) -> Value {
    let point = |point: &crate::TrendPoint| {
        json!({
            "at_s": point.at_s,
            "sites": point.sites,
            "lag_p50_s": point.lag_p50_s,
            "lag_p90_s": point.lag_p90_s,
        })
    };
    json!({ "value": of.value, "points": of.points.iter().map(point).collect::<Vec<_>>() })
}

/// Sites that were slow together.
#[must_use]
pub fn together_document(of: &SlowTimes) -> Value {
    let one = |found: &Together| {
        json!({
            "from_s": found.span_s.0,
            "to_s": found.span_s.1,
            "kind": found.shared.kind,
            "value": found.shared.value,
            "sites": found.sites,
            "unaffected": found.unaffected,
            "match_ratio": found.match_ratio,
        })
    };
    json!({ "together": of.times.iter().map(one).collect::<Vec<_>>(), "slow": of.slow(), "known": of.known })
}

fn lines(lines: &PerDirection<LineSummary>) -> Map<String, Value> {
    let mut row = Map::new();
    for (name, line) in [("up", &lines.up), ("down", &lines.down)] {
        row.insert(alloc::format!("lag_{name}_s"), line.lag_s.into());
        row.insert(alloc::format!("goodput_{name}_bits_per_second"), line.rate_bits_per_second.into());
        row.insert(alloc::format!("buffer_{name}_bytes"), line.buffer_bytes.into());
    }
    row
}

fn site(site: &Site) -> Value {
    let mut row = lines(&site.lines);
    let labels: Map<String, Value> =
        site.labels.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    row.insert("site".into(), (*site.name).into());
    row.insert("labels".into(), labels.into());
    row.insert("idle_p50_s".into(), site.idle_s.into());
    row.insert("tests".into(), site.tests.into());
    Value::Object(row)
}

fn group(group: &Group) -> Value {
    json!({
        "value": group.value,
        "sites": group.sites,
        "lag_p50_s": group.lag_p50_s,
        "lag_p90_s": group.lag_p90_s,
        "bloated_ratio": group.bloated_ratio,
    })
}

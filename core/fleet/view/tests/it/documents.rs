//! The answers as JSON.
use crate::{fleet, labelled};
use fathom_fleet_view::{
    Measure, SiteTests, TestSeries, changes, changes_document, groups, outliers, scatter, scatter_document,
    site_document, sites_document, trends_document,
};
use fathom_units::Direction;
use serde_json::json;

#[test]
fn values_keep_their_names_and_units() {
    let mut all = fleet(&[("a", "x", 0.5)]);
    all.add(Measure::Rate, vec![labelled(&[("site", "a"), ("direction", "up")], 1e6)]);
    all.add(Measure::Buffer, vec![labelled(&[("site", "a"), ("direction", "up")], 125_000.0)]);
    let by_plan = groups(&all, "plan", 0.2);
    let document = sites_document(&all.by_lag(), Some(("plan", &by_plan)), &outliers(&all, "plan"));
    assert_eq!(
        document,
        json!({
            "sites": [{
                "site": "a", "labels": { "plan": "x" }, "tests": 0, "idle_p50_s": null,
                "lag_up_s": 0.5, "goodput_up_bits_per_second": 1e6, "buffer_up_bytes": 125_000.0,
                "lag_down_s": null, "goodput_down_bits_per_second": null, "buffer_down_bytes": null,
            }],
            "by": { "label": "plan", "groups": [{
                "value": "x", "sites": 1, "lag_p50_s": 0.5, "lag_p90_s": 0.5, "bloated_ratio": 1.0,
            }] },
            "outliers": [],
        })
    );
    let plot = |most| scatter_document("up", &scatter(&all, Direction::Up, Some("plan"), most));
    assert_eq!(
        plot(1)["points"],
        json!([{ "site": "a", "group": "x", "rate_bits_per_second": 1e6, "buffer_bytes": 125_000.0 }])
    );
    assert_eq!(plot(0)["cells"][0]["lines"], 1);
    let mut tests = SiteTests::default();
    tests.add(60_000, TestSeries::of_probe("lag down").unwrap(), 0.25);
    let site = site_document(all.site("a").unwrap(), &tests, &[("r.json".into(), "Bloated.".into())]);
    assert_eq!(site["tests"][0]["at_s"], 60.0);
    assert_eq!(site["tests"][0]["lag_down_s"], 0.25);
    assert_eq!(site["results"], json!([{ "name": "r.json", "verdict": "Bloated." }]));
    let changed = changes_document(&changes(&all, &all));
    assert_eq!(changed["changes"][0]["change"], "unknown");
    assert_eq!(trends_document(&[], None, &[]), json!({ "all": null, "by": null }));
}

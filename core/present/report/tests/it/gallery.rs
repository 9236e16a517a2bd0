//! Claims next to the simulated results.
use fathom_report::{ClaimRow, Exhibit, Style, claims, gallery};

fn row(expected: [f64; 2], got: f64, unit: &'static str) -> ClaimRow {
    let (says, published) = ("a claim".to_string(), "much".to_string());
    ClaimRow { says, published, expected, got: Some(got), unit, note: Some("Why < that.".to_string()) }
}

#[test]
fn an_interval_has_one_unit_where_it_can() {
    let table = [
        ([0.105, 0.113], 0.11, "s", "here 110 ms (expected 105 to 113 ms)"),
        ([9.483, 10.3], 10.2, "s", "here 10 s (expected 9.5 to 10 s)"),
        ([18.3e6, 19.2e6], 18.7e6, "bit/s", "here 18.7 Mbit/s (expected 18.3 to 19.2 Mbit/s)"),
        ([0.1e6, 1.6e6], 0.6e6, "bit/s", "here 600 kbit/s (expected 100 kbit/s to 1.60 Mbit/s)"),
        ([0.5, 0.59], 0.54, "ratio", "here 54 % (expected 50 to 59 %)"),
        ([193.0, 1156.0], 740.0, "packets", "here 740 packets (expected 193 to 1156 packets)"),
        ([3.0, 7.0], 5.0, "1", "here 5 (expected 3 to 7)"),
        ([0.0, 0.0], 0.0, "packets", "here 0 packets (expected 0 packets)"),
    ];
    for (expected, got, unit, expected_text) in table {
        let text = claims(&[row(expected, got, unit)], 100, Style::default());
        assert!(text.contains(expected_text), "{text}: {expected_text}");
    }
}

#[test]
fn a_note_has_the_width_of_the_table() {
    let claims = [row([0.1, 0.2], 0.15, "s"), ClaimRow { note: None, ..row([0.1, 0.2], 0.3, "s") }];
    let page = gallery(&[Exhibit { name: "x", about: "y", source: "z", charts: "", claims: &claims }]);
    assert_eq!(page.matches("<tr class=\"note\"><td colspan=\"4\">Why &lt; that.</td></tr>").count(), 1);
    assert!(
        page.contains("<td class=\"good\">150 ms</td>") && page.contains("<td class=\"bad\">300 ms</td>")
    );
    assert!(page.contains("1 of 2 claims come out, in 1 scenarios"));
}

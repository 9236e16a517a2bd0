//! The page of a sweep.
use fathom_report::sweep_page;

fn table(rows: &[&str]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn one_chart_a_measure_and_one_line_a_combination() {
    let rows = [
        "hop.0.up.rate,queue,seed,udp_rtt_s p50,queue_drops_packets last,digest",
        "1mbit,codel,1,0.05,10,a",
        "1mbit,codel,2,0.07,12,b",
        "1mbit,<pie>,1,0.08,,c",
        "10mbit,codel,1,0.02,5,d",
        "10mbit,<pie>,1,0.03,7,e",
    ];
    let page = sweep_page(&table(&rows), 3);
    assert_eq!(page.matches("<svg").count(), 2);
    // Two lines in each; the first chart has four points (two seeds are one), the second three.
    assert_eq!(page.matches("stroke-width=\"2\"").count(), 4);
    assert_eq!(page.matches("<circle").count(), 4 + 3);
    assert!(page.contains("&lt;pie&gt;") && !page.contains("<pie>"));
    assert!(page.contains("5 cells"));
}

#[test]
fn odd_tables_make_a_page_too() {
    for rows in
        [&[][..], &["seed,digest"], &["seed,m,digest", "1,,x"], &["a,seed,m,digest", "x,1,2,d", "y,1,-3,d"]]
    {
        let table = table(rows);
        let keys = table.first().map_or(0, |names| names.len().saturating_sub(2).clamp(1, 2));
        assert!(sweep_page(&table, keys).contains("</html>"), "{rows:?}");
    }
}

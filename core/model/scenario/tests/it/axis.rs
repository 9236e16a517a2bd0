//! Axes and grid cells compared with hand-written ones.
use fathom_scenario::{Axis, Grid};

#[test]
fn values() {
    let table: [(&str, &[&str]); 6] = [
        ("load.up_flows=1,4,16", &["1", "4", "16"]),
        ("hop.0.up.queue=fq_codel, fifo limit 64kb", &["fq_codel", "fifo limit 64kb"]),
        ("hop.0.up.rate=1mbit..10mbit/4", &["1mbit", "4mbit", "7mbit", "10mbit"]),
        ("hop.0.up.rate=1mbit..1000mbit*4", &["1mbit", "10mbit", "100mbit", "1000mbit"]),
        ("hop.0.up.delay=0ms..10ms/4", &["0ms", "3.33333ms", "6.66667ms", "10ms"]),
        ("load.up_flows=1..3/3", &["1", "2", "3"]),
    ];
    for (text, values) in table {
        let axis: Axis = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(axis.values, values, "{text}");
    }
}

#[test]
fn refusals() {
    let table = [
        ("rate", "invalid axis"),
        ("rate=", "invalid axis"),
        ("rate=1,,2", "value 2 is empty"),
        ("rate=1mbit..2mbit", "the number of values is missing"),
        ("rate=1mbit..2mbit/1", "2 to 100000"),
        ("rate=1mbit..2gbit/5", "the first and last units differ"),
        ("rate=0mbit..2mbit*5", "above 0"),
        ("rate=x..2mbit*5", "expected a number"),
    ];
    for (text, word) in table {
        let error = text.parse::<Axis>().expect_err(text).to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn cells_in_order() {
    let axes = ["a=1,2", "b=x,y,z"].map(|text| text.parse().unwrap()).to_vec();
    let grid = Grid { axes, seeds: vec![7, 8] };
    assert_eq!(grid.len(), Some(12));
    let keys: Vec<String> = (0..12).map(|index| grid.key(index).join("")).collect();
    let expected = ["1x7", "1x8", "1y7", "1y8", "1z7", "1z8", "2x7", "2x8", "2y7", "2y8", "2z7", "2z8"];
    assert_eq!(keys, expected);
    let many = Grid { axes: vec!["a=1..2/100000".parse().unwrap(); 4], seeds: vec![1] };
    assert_eq!(many.len(), None);
}

//! Compares `golden/size.txt`, calculated by hand from the project's sources; never rewritten.
use crate::sum::value;
use fathom_size::CASES;

const TABLE: &str = include_str!("../../../../../golden/size.txt");

/// A row: the question, the calculation, its result with unit, and the displayed text.
struct Row<'a> {
    asked: &'a str,
    sum: &'a str,
    result: f64,
    unit: &'a str,
    shown: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let is_row = |line: &&str| line.contains('|') && !line.starts_with('#');
    TABLE.lines().filter(is_row).map(row).collect()
}

fn row(line: &'static str) -> Row<'static> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [asked, sum, result, shown] = cells[..] else { panic!("{line}") };
    let (number, unit) = result.split_once(' ').unwrap_or((result, ""));
    Row { asked, sum, result: number.replace(',', "").parse().expect(line), unit, shown }
}

#[test]
fn calculations_give_their_results() {
    for row in rows() {
        let (got, want) = (value(row.sum), row.result);
        assert!((got - want).abs() <= want.abs() * 5e-4, "{} = {got}, expected {want} {}", row.sum, row.unit);
    }
}

#[test]
fn every_published_case_is_calculated() {
    let rows = rows();
    assert_eq!(rows.len(), CASES.len());
    for (row, case) in rows.iter().zip(&CASES) {
        assert_eq!(row.asked, case.asked, "the order of golden/size.txt is that of the cases");
        assert_eq!(case.outcome().unwrap(), row.shown, "{}: {}", case.says, case.asked);
    }
}

#[test]
fn the_displayed_text_equals_the_result() {
    for row in rows() {
        let words: Vec<&str> = row.shown.split_whitespace().collect();
        let shown: f64 = words[0].replace(',', "").parse().unwrap();
        let scale = match (words.get(1).copied().unwrap_or_default(), row.unit) {
            ("ms", "s") => 1e-3,
            ("kB", "B") => 1e3,
            ("MB", "B") | ("Mbit", "bit") | ("Mbit/s", "bit/s") => 1e6,
            ("GB", "B") => 1e9,
            ("%", "") => 1e-2,
            (shown_unit, unit) => {
                assert!(shown_unit == unit || unit.is_empty(), "{shown_unit} for {unit}");
                1.0
            }
        };
        let (got, want) = (shown * scale, row.result);
        let decimals = words[0].split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let half_a_digit = scale * 0.501 / 10_f64.powi(decimals as i32);
        assert!((got - want).abs() <= half_a_digit, "{} for {want} {}", row.shown, row.unit);
    }
}

//! SmokePing's patterns, compared with a naive oracle and with SmokePing's own results.
use fathom_units::Rng;
use fathom_watch_alert::{Kind, Pattern, Semantics, Value};

const TABLE: &str = include_str!("../../../../../golden/watch/smokeping_patterns.txt");

fn value(word: &str) -> Value {
    match word {
        "S" => Value::Start,
        "U" => Value::Unknown,
        number => Value::Number(number.parse().unwrap()),
    }
}

fn kind(word: &str) -> Kind {
    if word == "rtt" { Kind::Rtt } else { Kind::Loss }
}

#[test]
fn smokeping_itself_answers_the_same() {
    let mut lines = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let [of, text, rounds, want] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let values: Vec<Value> = rounds.split(' ').map(value).collect();
        let pattern = Pattern::parse(text, kind(of), Semantics::Smokeping).unwrap();
        assert_eq!(pattern.matches(&values), want == "1", "{line}");
        lines += 1;
    }
    assert!(lines > 400, "{lines}");
}

#[test]
fn patterns_of_the_manual_match_where_smokeping_does_not() {
    let of = |semantics| Pattern::parse(">10%,*10*,>10%", Kind::Loss, semantics).unwrap();
    let found = |semantics| -> Vec<usize> {
        let values = |gap: usize| {
            let quiet = vec![Value::Number(0.0); gap];
            [vec![Value::Number(20.0)], quiet, vec![Value::Number(20.0)]].concat()
        };
        (0..=12)
            .filter(|gap| of(semantics).matches(&[vec![Value::Number(0.0); 14], values(*gap)].concat()))
            .collect()
    };
    assert_eq!(found(Semantics::Documented), (0..=10).collect::<Vec<_>>());
    assert_eq!(found(Semantics::Smokeping), (0..=5).collect::<Vec<_>>());
}

/// Tries all gaps. `parts` and `values` must match up to their ends.
fn oracle(parts: &[&str], values: &[f64]) -> bool {
    let Some((last, parts)) = parts.split_last() else { return true };
    if let Some(most) = last.strip_prefix('*') {
        let most: usize = most.trim_end_matches('*').parse().unwrap();
        return (0..=most.min(values.len())).any(|gap| oracle(parts, &values[..values.len() - gap]));
    }
    let Some((value, values)) = values.split_last() else { return false };
    let limit: f64 = last.trim_start_matches(['>', '<', '=']).trim_end_matches('%').parse().unwrap();
    let fits = if last.starts_with('>') { *value > limit } else { *value <= limit };
    fits && oracle(parts, values)
}

#[test]
fn a_naive_search_finds_the_same() {
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let words: Vec<String> = (0..1 + rng.below(6))
            .map(|index| match rng.below(3) {
                0 if index > 0 => format!("*{}*", 1 + rng.below(5)),
                1 => ">50%".to_owned(),
                _ => "<=50%".to_owned(),
            })
            .collect();
        let parts: Vec<&str> = words.iter().map(String::as_str).collect();
        let values: Vec<f64> = (0..rng.below(14)).map(|_| rng.below(2) as f64 * 100.0).collect();
        let pattern = Pattern::parse(&words.join(","), Kind::Loss, Semantics::Documented).unwrap();
        let rounds: Vec<Value> = values.iter().map(|v| Value::Number(*v)).collect();
        assert_eq!(pattern.matches(&rounds), oracle(&parts, &values), "seed {seed}: {words:?} {values:?}");
    }
}

//! Conversion of SmokePing's databases to samples.
use super::encode::{Made, MadeArchive, encode};
use fathom_units::Rng;
use fathom_watch_import::rrd::Layout;
use fathom_watch_import::smokeping::{Rounds, rounds};
use fathom_watch_samples::{Code, Stored};

const NONE: f64 = f64::NAN;
/// End of the newest row, a multiple of all row widths used here.
const END_S: u64 = 1_700_006_400;

fn database(pings: usize, archives: Vec<MadeArchive>) -> Vec<u8> {
    let names = ["uptime", "loss", "median"].map(str::to_owned).into_iter();
    let sources = names.chain((1..=pings).map(|n| format!("ping{n}"))).collect();
    encode(&Made {
        version: 3,
        layout: Layout::ALL[0],
        step_s: 300,
        updated_s: END_S + 17,
        sources,
        archives,
    })
}

fn archive(steps: u64, rows: Vec<Vec<f64>>) -> MadeArchive {
    let newest = rows.len() / 2;
    MadeArchive { function: "AVERAGE", steps, rows, newest }
}

fn read(bytes: &[u8]) -> Rounds {
    rounds(&fathom_watch_import::rrd::read(bytes).expect("the encoder wrote it"))
        .expect("a database of SmokePing")
}

/// Loss and sorted values in milliseconds of a round.
fn counted(samples: &[Stored]) -> (usize, Vec<u64>) {
    let mut values: Vec<u64> =
        samples.iter().filter_map(|s| s.code.value()).map(|v| (v * 1_000.0).round() as u64).collect();
    values.sort_unstable();
    (samples.iter().filter(|s| s.code == Code::LOST).count(), values)
}

/// One row per case: loss, median, values, and the expected result.
#[test]
fn one_round() {
    type Case = (f64, f64, [f64; 4], usize, &'static [u64]);
    let cases: [Case; 8] = [
        (0.0, 0.03, [0.01, 0.02, 0.03, 0.04], 0, &[10, 20, 30, 40]),
        // SmokePing puts half of the unknown values first.
        (2.0, 0.02, [NONE, 0.01, 0.02, NONE], 2, &[10, 20]),
        (4.0, NONE, [NONE; 4], 4, &[]),
        (NONE, NONE, [NONE; 4], 0, &[]),
        // Two rounds blended by RRDtool: a value missing from one of them is unknown.
        (1.4, 0.02, [NONE, 0.02, NONE, NONE], 1, &[20, 20, 20]),
        (0.4, 0.02, [0.01, 0.02, 0.03, 0.04], 0, &[10, 20, 30, 40]),
        // Only the median is known.
        (1.0, 0.02, [NONE; 4], 1, &[20, 20, 20]),
        (NONE, 0.02, [0.01, 0.02, 0.03, NONE], 1, &[10, 20, 30]),
    ];
    for (loss, median, pings, lost, values) in cases {
        let row = [&[NONE, loss, median], pings.as_slice()].concat();
        let made = read(&database(4, vec![archive(1, vec![row])]));
        assert_eq!(counted(&made.samples), (lost, values.to_vec()), "loss {loss}, {pings:?}");
        let inside = (END_S - 300) * 1_000..END_S * 1_000;
        assert!(made.samples.iter().all(|s| inside.contains(&s.at_ms)), "{:?}", made.samples);
        assert!(
            made.samples.windows(2).all(|pair| pair[1].at_ms - pair[0].at_ms == 75_000),
            "{:?}",
            made.samples
        );
        assert_eq!((made.averaged, made.pings), (None, 4));
    }
}

/// Averages of 12 rounds reach further back than the rounds; rounds take precedence.
#[test]
fn averages_only_where_no_round_reaches() {
    let round = |ms: f64| vec![NONE, 0.0, ms, ms, ms];
    let bytes = database(
        2,
        vec![
            archive(12, (0..10).map(|_| round(0.5)).collect()),
            archive(1, (0..30).map(|n| if n < 6 { vec![NONE; 5] } else { round(0.1) }).collect()),
            MadeArchive { function: "MAX", steps: 12, rows: vec![round(9.0)], newest: 0 },
        ],
    );
    let made = read(&bytes);
    let (first_round_ms, first_average_ms) = ((END_S - 24 * 300) * 1_000, (END_S - 10 * 3_600) * 1_000);
    for sample in &made.samples {
        let wanted = if sample.at_ms < first_round_ms { 0.5 } else { 0.1 };
        let value = sample.code.value().unwrap();
        assert!((value - wanted).abs() < wanted * 0.02, "{} {value}", sample.at_ms);
    }
    assert_eq!((made.rounds, made.averages, made.samples.len()), (24, 8, 24 * 2 + 8 * 2));
    let (from, until) = made.averaged.unwrap();
    assert_eq!(from.0, first_average_ms * 1_000_000);
    assert!(until.0 < first_round_ms * 1_000_000);
}

/// Fractions of lost probes in averages add up.
#[test]
fn loss_is_right_in_the_sum() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let mut sum = 0.0;
        let mut rows = Vec::new();
        for _ in 0..500 {
            let loss = rng.below(240) as f64 / 120.0;
            sum += loss;
            rows.push([&[NONE, loss, 0.02][..], &[0.02; 20]].concat());
        }
        let made = read(&database(20, vec![archive(12, rows)]));
        let lost = counted(&made.samples).0 as f64;
        assert!((lost - sum).abs() <= 1.0, "seed {seed}: {lost} of {sum}");
        assert_eq!(made.samples.len(), 500 * 20);
    }
}

/// The order within a round is shuffled reproducibly and has no trend: sorted values would look
/// like a growing queue.
#[test]
fn the_order_of_a_round_has_no_trend() {
    let values: Vec<f64> = (1..=20).map(f64::from).collect();
    let rows = (0..400).map(|_| [&[NONE, 0.0, 11.0][..], &values].concat()).collect();
    let bytes = database(20, vec![archive(1, rows)]);
    let made = read(&bytes);
    assert_eq!(made, read(&bytes));
    for place in 0..20 {
        let of = made.samples.iter().skip(place).step_by(20).filter_map(|s| s.code.value());
        let mean = of.sum::<f64>() / 400.0;
        // The mean of 400 of these has a standard deviation of 0.29.
        assert!((mean - 10.5).abs() < 1.5, "place {place}: {mean}");
    }
}

#[test]
fn other_databases_are_refused() {
    let made = Made {
        version: 3,
        layout: Layout::ALL[0],
        step_s: 60,
        updated_s: END_S,
        sources: vec!["traffic_in".into(), "traffic_out".into()],
        archives: vec![archive(1, vec![vec![1.0, 2.0]])],
    };
    let bytes = encode(&made);
    let error = rounds(&fathom_watch_import::rrd::read(&bytes).unwrap()).unwrap_err();
    assert!(error.starts_with("is not a SmokePing database"), "{error}");
}

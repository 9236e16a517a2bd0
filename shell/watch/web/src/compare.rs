//! Compares two periods: quantiles, and the distribution of all delays.
use crate::past::{Past, Series, unread};
use crate::range::Range;
use crate::smoke::{seconds, suffix};
use fathom_watch_samples::{Sketch, Tally, scale};
use fathom_web::Refusal;
use serde_json::{Value, json};

/// Quantiles that are reported.
const SHARES: [f64; 9] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Both periods as JSON.
pub(crate) fn periods(past: &mut dyn Past, sides: &[(Series, Range); 2]) -> Result<Vec<u8>, Refusal> {
    let [first, second] = sides;
    let (first, second) = (period(past, first)?, period(past, second)?);
    Ok(format!("{}\n", json!({ "first": first, "second": second })).into_bytes())
}

fn period(past: &mut dyn Past, (series, range): &(Series, Range)) -> Result<Value, Refusal> {
    let (mut tally, mut sketch) = (Tally::default(), Sketch::default());
    for column in past.columns(series.id, range.walls(), 1).map_err(unread)? {
        tally.merge(&column.tally);
        sketch.merge(&column.sketch);
    }
    let unit = suffix(series.unit);
    let count = sketch.count();
    let quantiles: Vec<Value> = SHARES.iter().map(|share| json!([share, sketch.quantile(*share)])).collect();
    Ok(json!({
        "series": series.id, "from_s": seconds(range.from), "to_s": seconds(range.to),
        "tally": tally_of(&tally), "loss_ratio": tally.loss_ratio(),
        format!("min_{unit}"): sketch.min(),
        format!("max_{unit}"): sketch.max(),
        format!("mean_{unit}"): (count > 0).then(|| sketch.sum() / count as f64),
        format!("quantiles_{unit}"): quantiles,
        format!("ecdf_{unit}"): ecdf(&sketch),
    }))
}

fn tally_of(t: &Tally) -> Value {
    json!({
        "sent": t.sent, "answered": t.answered, "late": t.late, "lost": t.lost, "failed": t.failed,
        "duplicates": t.duplicates, "reordered": t.reordered,
    })
}

/// Upper bounds of the buckets, and the cumulative share up to each.
fn ecdf(sketch: &Sketch) -> Vec<Value> {
    let all = sketch.count().max(1) as f64;
    let mut below = sketch.zero_count();
    let zero = (below > 0).then(|| json!([0.0, below as f64 / all]));
    let steps = sketch.buckets().map(|(bucket, count)| {
        below += count;
        json!([scale::value_of(bucket), below as f64 / all])
    });
    zero.into_iter().chain(steps).collect()
}

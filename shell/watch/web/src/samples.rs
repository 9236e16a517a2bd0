//! Streams every sample of a range: a whole year would not fit into memory at either end.
use crate::app::App;
use crate::past::{Series, unread};
use crate::range::Range;
use crate::smoke::{seconds, suffix};
use fathom_units::WallTime;
use fathom_watch_samples::{Code, Stored};
use fathom_web::Refusal;
use hyper::body::Bytes;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Period read at once.
const STEP_NS: u64 = 6 * 3_600 * 1_000_000_000;

/// CSV lines, or a JSON object with an array. If the history fails on the way, the response ends
/// with a line that says so.
pub(crate) fn stream(app: &Arc<App>, series: Series, range: Range, csv: bool) -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(1);
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let (mut from, mut first) = (range.from, true);
        let mut piece = head(&series, csv);
        while from < range.to {
            let to = from.saturating_add(STEP_NS).min(range.to);
            let read = tokio::select! {
                read = read(&app, series.id, from..to) => read,
                () = sender.closed() => return,
            };
            match read {
                Ok((samples, next)) => {
                    samples.iter().for_each(|sample| {
                        add(&mut piece, sample, csv, std::mem::replace(&mut first, false));
                    });
                    from = next;
                }
                Err(refusal) => {
                    piece.push_str(&broken(&refusal.text, csv));
                    let _ = sender.send(Bytes::from(piece)).await;
                    return;
                }
            }
            if !piece.is_empty() && sender.send(Bytes::from(std::mem::take(&mut piece))).await.is_err() {
                return;
            }
        }
        // A client that disconnected needs no end.
        let _ = sender.send(Bytes::from(if csv { "" } else { "]}\n" })).await;
    });
    receiver
}

/// The samples of a period, and the time from which to read on: periods without samples are
/// skipped.
async fn read(app: &App, series: u32, period: std::ops::Range<u64>) -> Result<(Vec<Stored>, u64), Refusal> {
    app.past
        .ask(move |past| {
            let (from, to) = (WallTime(period.start), WallTime(period.end));
            let samples = past.samples(series, from..to).map_err(unread)?;
            if !samples.is_empty() {
                return Ok((samples, to.0));
            }
            let next = past.next(series, to).map_err(unread)?;
            Ok((samples, next.map_or(u64::MAX, |next| next.0.max(to.0))))
        })
        .await
}

fn head(series: &Series, csv: bool) -> String {
    let unit = suffix(series.unit);
    if csv {
        return format!("at_s,outcome,value_{unit}\r\n");
    }
    let key = json!({ "series": series.id, "target": series.target, "probe": series.probe, "unit": series.unit.word() });
    let open = key.to_string();
    format!("{},\"keys\":[\"at_s\",\"outcome\",\"value_{unit}\"],\"samples\":[", open.trim_end_matches('}'))
}

fn broken(why: &str, csv: bool) -> String {
    if csv { format!("# {why}\r\n") } else { format!("],\"error\":{}}}\n", json!(why)) }
}

fn outcome(code: Code) -> &'static str {
    match code {
        Code::LOST => "lost",
        Code::FAILED => "failed",
        late if late.is_late() => "late",
        _ => "answered",
    }
}

fn add(text: &mut String, sample: &Stored, csv: bool, first: bool) {
    let at = seconds(sample.at().0);
    let word = outcome(sample.code);
    let value = sample.code.value().map(|value| json!(value).to_string());
    // Writing to a String cannot fail.
    let _ = match (csv, value) {
        (true, value) => write!(text, "{at:.3},{word},{}\r\n", value.unwrap_or_default()),
        (false, value) => {
            let comma = if first { "" } else { "," };
            write!(text, "{comma}\n[{at:.3},\"{word}\",{}]", value.unwrap_or_else(|| "null".into()))
        }
    };
}

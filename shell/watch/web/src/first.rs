//! Data embedded in the page, so that its first view needs no further request: the rows that a
//! screen shows, with their sparklines. The others arrive with the events.
use crate::api;
use crate::app::App;
use crate::row::{key, row, state};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fathom_watch_plan::TargetNow;
use fathom_web::Refusal;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// Number of rows on a large screen.
const ROWS: usize = 30;

/// The content to add to the head of the page.
pub(crate) async fn head(app: &App) -> Result<String, Refusal> {
    let targets = app.targets().await?;
    let rows = first_rows(&targets);
    let series = rows.iter().map(|target| target.series).collect();
    // If the history cannot be read, rows without sparklines are better than nothing.
    let sparks = api::page_sparks(app, Some(series)).await.unwrap_or_default();
    Ok(written(&rows, &sparks))
}

fn written(rows: &[&TargetNow], sparks: &[u8]) -> String {
    let rows: Vec<Value> = rows.iter().map(|target| row(target)).collect();
    let first = json!({ "targets": rows, "sparks": STANDARD.encode(sparks) });
    // A name may contain characters that would end the script element.
    let first = first.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"first\">{first}</script>")
}

/// The rows that the page shows first: the worst, then by group and name.
fn first_rows(targets: &[TargetNow]) -> Vec<&TargetNow> {
    let mut order: Vec<&TargetNow> = targets.iter().collect();
    order.sort_by_cached_key(|target| rank(target));
    order.truncate(ROWS);
    order
}

/// The order of `sorted` in `ui/src/watch/overview.ts`, except for non-Latin letters. A row that
/// the page puts elsewhere gets its sparkline with the others.
fn rank(target: &TargetNow) -> (u8, Reverse<u64>, Vec<Piece>) {
    const STATES: [&str; 4] = ["failing", "trouble", "unknown", "fine"];
    const LOSS_STEPS: f64 = 20.0;
    let state = state(target);
    let place = STATES.iter().position(|one| *one == state).unwrap_or(STATES.len());
    let lost = target.tally.loss_ratio().filter(|_| state != "fine").unwrap_or(0.0);
    let name = format!("{} {}", target.group, key(target).replace('\n', " "));
    (place as u8, Reverse((lost * LOSS_STEPS).round() as u64), pieces(&name))
}

/// A part of a name, for natural order: `line 9` comes before `line 10`.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Piece {
    Number(u64),
    Text(String),
}

fn pieces(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        match (letter.to_digit(10).map(u64::from), pieces.last_mut()) {
            (Some(digit), Some(Piece::Number(number))) => {
                *number = number.saturating_mul(10).saturating_add(digit);
            }
            (Some(digit), _) => pieces.push(Piece::Number(digit)),
            (None, Some(Piece::Text(text))) => text.push(letter),
            (None, _) => pieces.push(Piece::Text(letter.into())),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::target;
    use fathom_watch_samples::Tally;

    fn numbered(series: u32, name: &str) -> TargetNow {
        TargetNow { series, ..target(name) }
    }

    #[test]
    fn the_worst_are_first_then_names_in_natural_order() {
        let mut lossy = numbered(4, "z");
        lossy.tally = Tally { sent: 60, answered: 40, lost: 20, ..Tally::default() };
        let mut worse = numbered(5, "zz");
        worse.tally = Tally { sent: 60, answered: 20, lost: 40, ..Tally::default() };
        let mut unknown = numbered(6, "a");
        (unknown.last, unknown.tally) = (None, Tally::default());
        let all =
            [numbered(1, "line 10"), numbered(2, "line 9"), numbered(3, "Line 1"), lossy, worse, unknown];
        let order = |of: &[TargetNow]| first_rows(of).iter().map(|t| t.series).collect::<Vec<u32>>();
        assert_eq!(order(&all), [5, 4, 6, 3, 2, 1]);
        let many: Vec<TargetNow> = (0..100).map(|n| numbered(n, &format!("line {n}"))).collect();
        assert_eq!(order(&many), (0..ROWS as u32).collect::<Vec<u32>>());
    }

    #[test]
    fn no_name_ends_the_element() {
        let mut bad = numbered(7, "</script><script>alert(1)</script>");
        bad.alerts = vec!["<!--".into()];
        let head = written(&[&bad], b"FOV1");
        assert_eq!(head.matches('<').count(), 2, "{head}");
        let text = head.split_once("id=\"first\">").unwrap().1.strip_suffix("</script>").unwrap();
        let first: Value = serde_json::from_str(text).unwrap();
        assert_eq!(first["targets"][0]["name"], "</script><script>alert(1)</script>");
        assert_eq!(first["sparks"], "Rk9WMQ==");
    }
}

//! The endpoints under `/api/v1`: their parameters, and where their data comes from. Described in
//! `docs/openapi.json`.
use crate::app::{App, now_ns};
use crate::past::{Past, Series, unread};
use crate::range::{Range, SETTLED_NS};
use crate::row::row;
use crate::{compare, findings, heatmap, hub, overview, samples, smoke};
use fathom_web::{Age, Query, Refusal, Reply, Whole, lock, no_store, pieces, quoted};
use hyper::StatusCode;
use hyper::http::request::Parts;
use serde_json::{Value, json};
use std::sync::Arc;

/// Two columns per pixel of the widest screens.
const MAX_COLUMNS: u64 = 8_192;

/// Format of a response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Csv,
    Binary,
}

impl Form {
    fn take(query: &mut Query, allowed: &[&str]) -> Result<Form, Refusal> {
        let text = query.take("format").unwrap_or_else(|| "json".into());
        match text.as_str() {
            "json" if allowed.contains(&"json") => Ok(Form::Json),
            "csv" if allowed.contains(&"csv") => Ok(Form::Csv),
            "binary" if allowed.contains(&"binary") => Ok(Form::Binary),
            _ => Err(Refusal::bad(format!("unknown format {}: try {}", quoted(&text), allowed.join(" or ")))),
        }
    }
    fn content_type(self) -> &'static str {
        match self {
            Form::Json => "application/json",
            Form::Csv => "text/csv; charset=utf-8",
            Form::Binary => "application/octet-stream",
        }
    }
}

fn whole(form: Form, bytes: Vec<u8>, age: Age, request: &Parts) -> Reply {
    Whole { content_type: form.content_type(), bytes, age }.reply(&request.headers)
}

fn changing(value: &Value, request: &Parts) -> Reply {
    whole(Form::Json, format!("{value}\n").into_bytes(), Age::Changing, request)
}

/// Responds to a request under `/api/v1/`.
pub(crate) async fn answer(app: &Arc<App>, name: &str, request: &Parts) -> Result<Reply, Refusal> {
    let query = Query::parse(request.uri.query().unwrap_or_default())?;
    match name {
        "targets" => targets(app, query, request).await,
        "series" => series(app, query, request).await,
        "live" => live(app, query, request).await,
        "overview" => overview(app, query, request).await,
        "smoke" => smoke(app, query, request).await,
        "samples" => samples(app, query).await,
        "events" => events(app, query, request).await,
        "heatmap" => heatmap(app, query, request).await,
        "compare" => compare(app, query, request).await,
        "findings" => findings(app, query, request).await,
        _ => Err(Refusal::new(
            StatusCode::NOT_FOUND,
            format!("/api/v1/{} does not exist: see /api/v1/openapi.json", quoted(name).trim_matches('"')),
        )),
    }
}

async fn targets(app: &Arc<App>, query: Query, request: &Parts) -> Result<Reply, Refusal> {
    query.finish()?;
    let (targets, troubles) = app.now().await?;
    let rows: Vec<Value> = targets.iter().map(row).collect();
    let now_s = smoke::seconds(now_ns());
    Ok(changing(&json!({ "now_s": now_s, "targets": rows, "troubles": hub::shown(&troubles) }), request))
}

async fn series(app: &Arc<App>, query: Query, request: &Parts) -> Result<Reply, Refusal> {
    query.finish()?;
    let all = app.past.ask(|past| past.series().map_err(unread)).await?;
    let rows: Vec<Value> = all
        .iter()
        .map(|s| json!({ "series": s.id, "target": s.target, "probe": s.probe, "unit": s.unit.word() }))
        .collect();
    Ok(changing(&json!({ "series": rows }), request))
}

async fn live(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let given = request.headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let last_id = given.or_else(|| query.take("last_event_id"));
    query.finish()?;
    // Without listeners, the hub was not updated.
    let (targets, troubles) = app.now().await?;
    app.hub.update(&targets, &troubles);
    Ok(no_store(pieces("text/event-stream", app.hub.listen(last_id.as_deref()))))
}

async fn overview(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let range = Range::take(&mut query, "from", "to")?;
    let count = columns_of(&mut query, overview::PAGE_COLUMNS as usize)?;
    let form = Form::take(&mut query, &["json", "binary"])?;
    query.finish()?;
    let bytes = sparks(app, None, (range, count), form).await?;
    Ok(whole(form, bytes, Age::Changing, request))
}

/// Sparklines of the given series, or of all watched ones.
async fn sparks(
    app: &App,
    some: Option<Vec<u32>>,
    (range, count): (Range, usize),
    form: Form,
) -> Result<Vec<u8>, Refusal> {
    let is_whole = some.is_none();
    let ids = match some {
        Some(some) => some,
        None => app.targets().await?.iter().map(|target| target.series).collect(),
    };
    let settled_ns = now_ns().saturating_sub(SETTLED_NS);
    let wanted = overview::Wanted { ids, is_whole, range, count, settled_ns };
    let cache = Arc::clone(&app.cache);
    app.past
        .ask_parallel(move |first, readers| {
            // Concurrent requests wait here and find the cache filled.
            let sparks = overview::sparks(&mut lock(&cache), readers, first, &wanted)?;
            Ok(match form {
                Form::Binary => overview::binary(&sparks, range, count),
                _ => overview::as_json(&sparks, range),
            })
        })
        .await
}

/// Fills the cache for the overview, so that the first visitor does not wait.
pub(crate) async fn warm(app: &App) {
    // If the history cannot be read, the next request reports it.
    let _ = page_sparks(app, None).await;
}

/// The sparklines that the page shows, of the given series or of all.
pub(crate) async fn page_sparks(app: &App, some: Option<Vec<u32>>) -> Result<Vec<u8>, Refusal> {
    let to = now_ns().div_ceil(overview::PAGE_WIDTH_NS) * overview::PAGE_WIDTH_NS;
    let range = Range { from: to - overview::PAGE_COLUMNS * overview::PAGE_WIDTH_NS, to };
    sparks(app, some, (range, overview::PAGE_COLUMNS as usize), Form::Binary).await
}

async fn smoke(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let id = series_of(&mut query)?;
    let range = Range::take(&mut query, "from", "to")?;
    let count = columns_of(&mut query, 1_200)?;
    let form = Form::take(&mut query, &["json", "csv", "binary"])?;
    query.finish()?;
    let age = range.age(now_ns());
    let bytes = app
        .past
        .ask(move |past| {
            let series = find(past, id)?;
            let columns = past.columns(id, range.walls(), count).map_err(unread)?;
            Ok(match form {
                Form::Binary => smoke::binary(series.unit, columns, range.from, range.to, count),
                Form::Csv => smoke::as_csv(&series, &columns),
                Form::Json => smoke::as_json(&series, &columns),
            })
        })
        .await?;
    Ok(whole(form, bytes, age, request))
}

async fn samples(app: &Arc<App>, mut query: Query) -> Result<Reply, Refusal> {
    let id = series_of(&mut query)?;
    let range = Range::take(&mut query, "from", "to")?;
    let form = Form::take(&mut query, &["json", "csv"])?;
    query.finish()?;
    let series = app.past.ask(move |past| find(past, id)).await?;
    let source = samples::stream(app, series, range, form == Form::Csv);
    Ok(no_store(pieces(form.content_type(), source)))
}

async fn events(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let range = Range::take(&mut query, "from", "to")?;
    query.finish()?;
    let found = app.past.ask(move |past| past.events(range.walls()).map_err(unread)).await?;
    let happened = found.iter().map(|event| {
        json!({
            "at_s": smoke::seconds(event.at.0), "until_s": event.until.map(|until| smoke::seconds(until.0)),
            "series": event.series, "kind": event.kind, "text": event.text, "value": event.value, "report": null,
        })
    });
    let tested = app.results(range).await?;
    let tests = tested.iter().map(|test| {
        json!({
            "at_s": smoke::seconds(test.at.0), "until_s": smoke::seconds(test.until.0), "series": null,
            "kind": "test", "text": test.text, "value": null, "report": test.name,
        })
    });
    Ok(changing(&json!({ "events": happened.chain(tests).collect::<Vec<_>>() }), request))
}

async fn findings(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let range = Range::take(&mut query, "from", "to")?;
    let zone = findings::zone_of_query(query.take("utc_offset_s"), query.take("utc_offset_from"))?;
    query.finish()?;
    let found =
        app.past.ask(move |past| findings::find_in_months(past, range.walls(), zone).map_err(unread)).await?;
    Ok(changing(&findings::findings_json(&found), request))
}

async fn heatmap(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let id = series_of(&mut query)?;
    let range = Range::take(&mut query, "from", "to")?;
    let offset_s = heatmap::offset_of(query.take("utc_offset_s"))?;
    query.finish()?;
    let bytes = app
        .past
        .ask(move |past| {
            let series = find(past, id)?;
            heatmap::hours(past, &series, range, offset_s)
        })
        .await?;
    Ok(whole(Form::Json, bytes, range.age(now_ns()), request))
}

async fn compare(app: &Arc<App>, mut query: Query, request: &Parts) -> Result<Reply, Refusal> {
    let id = series_of(&mut query)?;
    let other = query.whole("series2", 0, u64::from(u32::MAX))?.map_or(id, |number| number as u32);
    let first = Range::take(&mut query, "from", "to")?;
    let second = Range::take(&mut query, "from2", "to2")?;
    query.finish()?;
    let now = now_ns();
    let age = if first.age(now) == second.age(now) { first.age(now) } else { Age::Changing };
    let bytes = app
        .past
        .ask(move |past| {
            let sides = [(find(past, id)?, first), (find(past, other)?, second)];
            compare::periods(past, &sides)
        })
        .await?;
    Ok(whole(Form::Json, bytes, age, request))
}

fn series_of(query: &mut Query) -> Result<u32, Refusal> {
    let id = query.whole("series", 0, u64::from(u32::MAX))?;
    let id = id.ok_or_else(|| Refusal::bad("parameter series is missing: /api/v1/series lists them"))?;
    Ok(id as u32)
}

fn columns_of(query: &mut Query, usual: usize) -> Result<usize, Refusal> {
    Ok(query.whole("cols", 1, MAX_COLUMNS)?.map_or(usual, |count| count as usize))
}

fn find(past: &mut dyn Past, id: u32) -> Result<Series, Refusal> {
    let all = past.series().map_err(unread)?;
    let missing =
        || Refusal::new(StatusCode::NOT_FOUND, format!("no series {id}: /api/v1/series lists them"));
    all.into_iter().find(|series| series.id == id).ok_or_else(missing)
}

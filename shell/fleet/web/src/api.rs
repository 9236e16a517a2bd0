//! The endpoints under `/api/v1`. Each answers with one JSON object.
use crate::request::{Scope, not_before, selector, span};
use crate::routes::App;
use fathom_fleet_query::answer::{self, BLOATED_S, Buffers};
use fathom_fleet_query::{QueryError, Span, evidence};
use fathom_fleet_view::{
    Change, ChangeKind, Fleet, Site, changes, changes_document, drain_s, groups, lines, outliers, scatter,
    sites_document, together_document,
};
use fathom_units::{Direction, WallTime};
use fathom_web::{Age, Query, Refusal, Reply, Whole, quoted};
use hyper::StatusCode;
use hyper::http::request::Parts;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sites of an answer at most: the page shows those with the largest lag, those that changed, and
/// those that are searched for.
const MAX_SITES: u64 = 1_000;
/// Lines up to which each is a point of the plot.
const MAX_POINTS: usize = 20_000;
/// Values of a label that the page offers.
const MAX_VALUES: usize = 200;
/// Longest period before and after a change, in days.
const MAX_DAYS: u64 = 3_660;
const DAY_NS: u64 = 86_400_000_000_000;

/// Responds to a request under `/api/v1/`.
pub(crate) async fn answer(app: &Arc<App>, name: &str, request: &Parts) -> Result<Reply, Refusal> {
    let query = Query::parse(request.uri.query().unwrap_or_default())?;
    let value = match name {
        "sites" => sites(app, query).await?,
        "buffers" => buffers(app, query).await?,
        "changes" => changed(app, query).await?,
        "trend" => trend(app, query).await?,
        "together" => together(app, query).await?,
        "site" => site(app, query).await?,
        _ => {
            let text = format!("{} does not exist", quoted(request.uri.path()));
            return Err(Refusal::new(StatusCode::NOT_FOUND, text));
        }
    };
    let bytes = format!("{value}\n").into_bytes();
    Ok(Whole { content_type: "application/json", bytes, age: Age::Changing }.reply(&request.headers))
}

async fn sites(app: &Arc<App>, mut query: Query) -> Result<Value, Refusal> {
    let scope = Scope::take(&mut query)?;
    let by = query.take("by").filter(|label| !label.is_empty());
    let search = query.take("search").unwrap_or_default().to_lowercase();
    let most = query.whole("limit", 1, MAX_SITES)?.unwrap_or(MAX_SITES) as usize;
    query.finish()?;
    app.ask(move |sources| {
        let fleet = sources.fleet(&scope)?;
        let grouped = by.map(|label| {
            let all = groups(&fleet, &label, BLOATED_S);
            (label, all)
        });
        let (tested, bloated) = answer::counts(&fleet);
        let mut unusual = grouped.as_ref().map_or_else(Vec::new, |(label, _)| outliers(&fleet, label));
        unusual.truncate(MAX_SITES as usize);
        let ranked = fleet.by_lag();
        let is_wanted = |site: &&&Site| search.is_empty() || site.name.to_lowercase().contains(&search);
        let found: Vec<&Site> = ranked.iter().filter(is_wanted).copied().collect();
        let shown: Vec<&Site> = found.iter().take(most).copied().collect();
        let mut value = sites_document(
            &shown,
            grouped.as_ref().map(|(label, all)| (label.as_str(), all.as_slice())),
            &unusual,
        );
        if let Some(fields) = value.as_object_mut() {
            fields.insert("values".to_owned(), values(&fleet));
        }
        Ok(with_counts(value, &[("tested", tested), ("bloated", bloated), ("found", found.len())]))
    })
    .await
}

/// An object with these numbers of sites.
fn with_counts(mut object: Value, counts: &[(&str, usize)]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())));
    }
    object
}

/// The labels of the sites, each with its values.
fn values(fleet: &Fleet) -> Value {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in fleet.sites().flat_map(|site| site.labels.iter()) {
        let known = all.entry(name).or_default();
        if known.len() < MAX_VALUES {
            known.insert(value);
        }
    }
    let labels: Map<String, Value> =
        all.into_iter().map(|(name, values)| (name.to_owned(), json!(values))).collect();
    labels.into()
}

async fn buffers(app: &Arc<App>, mut query: Query) -> Result<Value, Refusal> {
    let scope = Scope::take(&mut query)?;
    let by = query.take("by").filter(|label| !label.is_empty());
    let text = query.take("direction").unwrap_or_else(|| "up".to_owned());
    query.finish()?;
    let direction: Direction = text.parse().map_err(|_| {
        Refusal::bad(format!("direction: invalid value {} (expected up or down)", quoted(&text)))
    })?;
    app.ask(move |sources| {
        let fleet = sources.fleet(&scope)?;
        let plot = scatter(&fleet, direction, by.as_deref(), MAX_POINTS);
        // A cell of a density may have lines on both sides of the limit.
        let delays = || lines(&fleet, direction).map(|(_, (rate, buffer))| drain_s(rate, buffer));
        let bloated = delays().filter(|delay| *delay >= BLOATED_S).count();
        let counts = [("lines", delays().count()), ("bloated", bloated)];
        Ok(with_counts(Buffers { direction, plot }.document(MAX_POINTS), &counts))
    })
    .await
}

async fn changed(app: &Arc<App>, mut query: Query) -> Result<Value, Refusal> {
    let of = selector(&mut query)?;
    let (at, now) = (WallTime(query.moment_ns("at")?), WallTime(query.moment_ns("now")?));
    let days = query.whole("days", 1, MAX_DAYS)?.unwrap_or(7);
    query.finish()?;
    let end = WallTime(at.0.saturating_add(days * DAY_NS)).min(now);
    if at >= end {
        return Err(not_before("at", "now"));
    }
    let before = Span { from: WallTime(at.0.saturating_sub(days * DAY_NS)), to: at };
    let after = Span { from: at, to: end };
    app.ask(move |sources| {
        let earlier = sources.fleet(&Scope { of: of.clone(), span: before })?;
        let later = sources.fleet(&Scope { of, span: after })?;
        let mut all = changes(&earlier, &later);
        let count = |kind| all.iter().filter(|change| change.kind() == kind).count();
        let known = all.len() - count(ChangeKind::Unknown);
        let counts = [
            ("better", count(ChangeKind::Better)),
            ("worse", count(ChangeKind::Worse)),
            ("known", known),
            ("found", all.len()),
        ];
        all.sort_by(Change::by_importance);
        all.truncate(MAX_SITES as usize);
        Ok(with_counts(changes_document(&all), &counts))
    })
    .await
}

async fn trend(app: &Arc<App>, mut query: Query) -> Result<Value, Refusal> {
    let scope = Scope::take(&mut query)?;
    let by = query.take("by").filter(|label| !label.is_empty());
    query.finish()?;
    app.ask(move |sources| {
        answer::trends(sources.source, &scope.of, scope.span, by.as_deref()).map(|trends| trends.document())
    })
    .await
}

async fn together(app: &Arc<App>, mut query: Query) -> Result<Value, Refusal> {
    let scope = Scope::take(&mut query)?;
    query.finish()?;
    app.ask(move |sources| {
        answer::slow_together(sources.source, &scope.of, scope.span).map(|all| together_document(&all))
    })
    .await
}

async fn site(app: &Arc<App>, mut query: Query) -> Result<Value, Refusal> {
    let span = span(&mut query)?;
    let name = query.need("name")?;
    query.finish()?;
    app.ask(move |sources| {
        answer::site(sources.source, sources.results, &name, span).map(|history| history.document())
    })
    .await
}

/// The report of a result that a site has in a period; `None` if it has none of this name.
pub(crate) async fn result(
    app: &Arc<App>,
    site: String,
    name: String,
    request: &Parts,
) -> Result<Option<String>, Refusal> {
    let mut query = Query::parse(request.uri.query().unwrap_or_default())?;
    let span = span(&mut query)?;
    query.finish()?;
    app.ask(move |sources| {
        // Only files that the source lists are opened.
        let files = sources.results.results(&site, span)?;
        let file = files.into_iter().find(|file| file.name == name);
        let failed = |why| QueryError { object: name, why };
        file.map(|file| evidence::page(&file)).transpose().map_err(failed)
    })
    .await
}

//! Dispatches requests, and asks the source on other threads.
use crate::api;
use crate::assets::{ASSETS, PAGE};
use crate::cache::Cache;
use crate::request::Scope;
use fathom_fleet_query::{QueryError, Source};
use fathom_fleet_view::Fleet;
use fathom_web::{About, Refusal, Reply, Routes, decode, document, lock, page, quoted};
use hyper::StatusCode;
use hyper::http::request::Parts;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Questions at once: more would only wait for the same engine or disk.
const MAX_QUESTIONS: usize = 4;
/// Maximum time that a question waits for others.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// What the requests share.
pub(crate) struct App {
    source: Arc<dyn Source>,
    results: Arc<dyn Source>,
    cache: Mutex<Cache>,
    places: Arc<Semaphore>,
}

/// What a question may use.
pub(crate) struct Sources<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) results: &'a dyn Source,
    cache: &'a Mutex<Cache>,
}

impl Sources<'_> {
    /// The sites of a scope, which may have been asked for before.
    pub(crate) fn fleet(&self, scope: &Scope) -> Result<Arc<Fleet>, QueryError> {
        if let Some(known) = lock(self.cache).get(scope, Instant::now()) {
            return Ok(known);
        }
        let fleet = Arc::new(self.source.fleet(&scope.of, scope.span)?);
        lock(self.cache).add(scope.clone(), Instant::now(), Arc::clone(&fleet));
        Ok(fleet)
    }
}

impl App {
    pub(crate) fn new(source: Arc<dyn Source>, results: Arc<dyn Source>) -> App {
        let places = Arc::new(Semaphore::new(MAX_QUESTIONS));
        App { source, results, cache: Mutex::default(), places }
    }
    /// Asks on another thread, when one is free.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Sources<'_>) -> Result<T, QueryError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let waited = timeout(MAX_WAIT, Arc::clone(&self.places).acquire_owned()).await;
        let broken = || Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: try again");
        let place = waited.map_err(|_| Refusal::later("too many requests", 5))?;
        // The semaphore is never closed.
        let place = place.map_err(|_| broken())?;
        let app = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || {
            let _place = place;
            let sources =
                Sources { source: app.source.as_ref(), results: app.results.as_ref(), cache: &app.cache };
            question(&sources)
        });
        let answer = asked.await.map_err(|_| broken())?;
        answer.map_err(|error| Refusal::new(StatusCode::BAD_GATEWAY, error.to_string()))
    }
}

impl Routes for App {
    const ABOUT: About = About {
        name: "fleet",
        command: "fathom fleet page",
        style: "/fleet.css",
        assets: ASSETS,
        threads: MAX_QUESTIONS,
    };

    async fn get(self: &Arc<Self>, request: &Parts, asks_password: bool) -> Result<Reply, Refusal> {
        let path = request.uri.path();
        if path == "/" {
            return Ok(page(PAGE, "", asks_password, &request.headers));
        }
        let missing = || Refusal::new(StatusCode::NOT_FOUND, format!("{} does not exist", quoted(path)));
        if let Some((site, name)) = path.strip_prefix("/results/").and_then(|rest| rest.split_once('/')) {
            let result = api::result(self, decode(site)?, decode(name)?, request).await?;
            return result.map(document).ok_or_else(missing);
        }
        match path.strip_prefix("/api/v1/") {
            Some(name) => api::answer(self, name, request).await,
            None => Err(missing()),
        }
    }
}

//! Dispatches requests to handlers.
use crate::app::{App, broken};
use crate::assets::{ASSETS, PAGE};
use crate::metrics::{Form, expose};
use crate::past::MAX_READERS;
use crate::{api, first, server};
use fathom_web::{About, Age, Refusal, Reply, Routes, Share, Whole, decode, document, page, quoted};
use hyper::StatusCode;
use hyper::http::request::Parts;
use std::sync::Arc;

impl Routes for App {
    const ABOUT: About = About {
        name: "watch",
        command: "fathom watch",
        style: "/watch.css",
        assets: ASSETS,
        // Those of queries, one for result files, and two for the state of the targets and
        // `/metrics`, which take milliseconds.
        threads: MAX_READERS + 3,
    };

    fn share(&self, path: &str) -> Share {
        match path {
            // Always answered: a monitor that fails must not go unnoticed.
            "/metrics" => Share::Free,
            // These last until the client disconnects.
            "/api/v1/live" | "/api/v1/samples" => Share::Stream,
            _ => Share::Query,
        }
    }

    async fn get(self: &Arc<Self>, request: &Parts, asks_password: bool) -> Result<Reply, Refusal> {
        let path = request.uri.path();
        match path {
            "/" => return Ok(page(PAGE, &first::head(self).await?, asks_password, &request.headers)),
            "/metrics" => return self.metrics(request).await,
            _ => {}
        }
        if let Some(name) = path.strip_prefix("/reports/") {
            return self.report(decode(name)?).await;
        }
        match path.strip_prefix("/api/v1/") {
            Some(name) => api::answer(self, name, request).await,
            None => Err(Refusal::new(StatusCode::NOT_FOUND, format!("{} does not exist", quoted(path)))),
        }
    }

    fn start(self: &Arc<Self>) {
        tokio::spawn(server::update_pages(Arc::clone(self)));
        tokio::spawn(server::warm(Arc::clone(self)));
    }
}

impl App {
    async fn metrics(&self, request: &Parts) -> Result<Reply, Refusal> {
        let form = Form::wanted(&request.headers);
        let live = Arc::clone(&self.live);
        let made = tokio::task::spawn_blocking(move || {
            expose(&live.totals(), &live.host(), &live.tests(), &live.own(), form)
        })
        .await;
        let bytes = made.map_err(|_| broken())?;
        Ok(Whole { content_type: form.content_type(), bytes, age: Age::Changing }.reply(&request.headers))
    }

    async fn report(&self, name: String) -> Result<Reply, Refusal> {
        let what = quoted(&name);
        let made = self.read_file(move |live| live.report(&name)).await?;
        let text = format!("no report {what}: it may have been removed since it was listed");
        made.map(document).ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, text))
    }
}

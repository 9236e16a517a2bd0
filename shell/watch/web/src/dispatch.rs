//! Dispatches requests to handlers.
use crate::app::{App, broken};
use crate::guard::{MAX_FORM_BYTES, seal};
use crate::metrics::{Form, expose};
use crate::query::{decode, quoted};
use crate::reply::{Age, Refusal, Reply, Whole, document, see_other};
use crate::shares::Place;
use crate::{api, assets, first};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, header};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Timeout of receiving a form with one field.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

impl App {
    /// Responds to a request of the connection at `place`.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        from: IpAddr,
        place: &Place,
    ) -> Reply {
        let (parts, body) = request.into_parts();
        let reply = match self.guard.check_form(&parts) {
            Err(refusal) => Err(refusal),
            Ok(()) if parts.method == Method::POST => self.post(&parts, body, from).await,
            Ok(()) => self.get(&parts, from, place).await,
        };
        seal(reply.unwrap_or_else(|refusal| refusal.reply()))
    }

    async fn post(&self, request: &Parts, body: Incoming, from: IpAddr) -> Result<Reply, Refusal> {
        if request.uri.path() == "/logout" {
            return Ok(self.guard.log_out(&request.headers));
        }
        let read = tokio::time::timeout(FORM_TIMEOUT, Limited::new(body, MAX_FORM_BYTES).collect()).await;
        let slow = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "the form did not arrive within 10 s");
        let large = |_| {
            let text = format!("the form is truncated or has more than {MAX_FORM_BYTES} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
        };
        let form = read.map_err(slow)?.map_err(large)?.to_bytes();
        self.guard.log_in(&form, from)
    }

    async fn get(self: &Arc<Self>, request: &Parts, from: IpAddr, place: &Place) -> Result<Reply, Refusal> {
        let path = request.uri.path();
        if let Some(reply) = assets::open(path, &request.headers) {
            return Ok(reply);
        }
        if let Err(refusal) = self.guard.check_who(&request.headers, from) {
            let browser = path == "/" && !request.headers.contains_key(header::AUTHORIZATION);
            return if browser { Ok(see_other("/login")) } else { Err(refusal) };
        }
        match path {
            // Always answered: a monitor that fails must not go unnoticed.
            "/metrics" => return self.metrics(request).await,
            // These last until the client disconnects.
            "/api/v1/live" | "/api/v1/samples" => place.stream()?,
            _ => place.query()?,
        }
        let reply = self.query(request, path).await;
        if !matches!(path, "/api/v1/live" | "/api/v1/samples") || reply.is_err() {
            place.rest();
        }
        reply
    }

    async fn query(self: &Arc<Self>, request: &Parts, path: &str) -> Result<Reply, Refusal> {
        if path == "/" {
            return Ok(assets::page(self.guard.asks(), &first::head(self).await?, &request.headers));
        }
        if let Some(name) = path.strip_prefix("/reports/") {
            return self.report(decode(name)?).await;
        }
        match path.strip_prefix("/api/v1/") {
            Some(name) => api::answer(self, name, request).await,
            None => Err(Refusal::new(StatusCode::NOT_FOUND, format!("{} does not exist", quoted(path)))),
        }
    }

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

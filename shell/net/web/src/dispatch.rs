//! Dispatches requests: to the login, to files, and to the page.
use crate::assets;
use crate::guard::{Guard, MAX_FORM_BYTES, seal};
use crate::reply::{Refusal, Reply, see_other};
use crate::routes::{Routes, Share};
use crate::shares::{Connections, Place};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, header};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Timeout of receiving a form with one field.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// State shared by all connections.
pub(crate) struct Site<R> {
    pub(crate) guard: Guard,
    pub(crate) connections: Arc<Connections>,
    pub(crate) routes: Arc<R>,
}

impl<R: Routes> Site<R> {
    /// Responds to a request of the connection at `place`.
    pub(crate) async fn answer(&self, request: Request<Incoming>, from: IpAddr, place: &Place) -> Reply {
        let (parts, body) = request.into_parts();
        let reply = match self.guard.check_form(&parts) {
            Err(refusal) => Err(refusal),
            Ok(()) if parts.method == Method::POST => self.post(&parts, body, from).await,
            Ok(()) => self.get(&parts, from, place).await,
        };
        seal(reply.unwrap_or_else(|refusal| refused(&refusal, R::ABOUT.command)))
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

    async fn get(&self, request: &Parts, from: IpAddr, place: &Place) -> Result<Reply, Refusal> {
        let path = request.uri.path();
        if let Some(reply) = assets::open(&R::ABOUT, path, &request.headers) {
            return Ok(reply);
        }
        if let Err(refusal) = self.guard.check_who(&request.headers, from) {
            let browser = path == "/" && !request.headers.contains_key(header::AUTHORIZATION);
            return if browser { Ok(see_other("/login")) } else { Err(refusal) };
        }
        let share = self.routes.share(path);
        match share {
            Share::Free => {}
            Share::Query => place.query()?,
            Share::Stream => place.stream()?,
        }
        let reply = self.routes.get(request, self.guard.asks()).await;
        if share == Share::Query || (share == Share::Stream && reply.is_err()) {
            place.rest();
        }
        reply
    }
}

fn refused(refusal: &Refusal, realm: &str) -> Reply {
    let mut reply = refusal.reply();
    if refusal.status == StatusCode::UNAUTHORIZED
        && let Ok(scheme) = HeaderValue::from_str(&format!("Bearer realm=\"{realm}\""))
    {
        reply.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    reply
}

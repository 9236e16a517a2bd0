//! Requests: who sends them, and who handles them.
use crate::body;
use crate::caller::{Caller, bearer};
use crate::counts::{Counts, Endpoint};
use crate::event::{EventKind, Events};
use crate::forward::Forwarder;
use crate::objects::{self, Objects};
use crate::places::Place;
use crate::registry_file::{ChangeError, RegistryFile};
use crate::reply::{Reply, json, refused, text};
use crate::secrets::{new_secret, now_ms};
use crate::sites::Sites;
use crate::write;
use fathom_fleet_admission::{Change, Digest, KEY_PREFIX, Labels, Registry, RegistryError, SiteName};
use fathom_web::Refusal;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap};
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json as value};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Maximum size of an enrollment.
const MAX_ENROLLMENT_BYTES: u64 = 16 << 10;
const RETRY_S: u64 = 10;

/// What all connections share.
pub(crate) struct App {
    pub(crate) registry: RegistryFile,
    pub(crate) forwarder: Option<Forwarder>,
    pub(crate) objects: Option<Arc<Objects>>,
    pub(crate) sites: Sites,
    pub(crate) counts: Counts,
    pub(crate) events: Events,
    /// Kilobytes that bodies may take.
    pub(crate) memory: Semaphore,
    /// Requests that are checked and forwarded.
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) uploads: Semaphore,
    /// Changes of the registry that wait.
    pub(crate) changes: Arc<Semaphore>,
    pub(crate) is_engine_up: AtomicBool,
    pub(crate) salt: [u8; 16],
    pub(crate) body_timeout: Duration,
    pub(crate) grace_ms: u64,
    pub(crate) metrics_password: Option<Digest>,
}

/// Runs what blocks on a thread for that.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error"))
}

impl App {
    /// Answers a request.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        from: IpAddr,
        place: &Place,
    ) -> Reply {
        let (parts, mut incoming) = request.into_parts();
        let path = parts.uri.path();
        let endpoint = endpoint(path);
        let answered = match allowed(endpoint, &parts.method) {
            Err(refusal) => Err(refusal),
            Ok(()) => self.handle(endpoint, &parts.headers, path, (&mut incoming, from, place)).await,
        };
        let mut reply = answered.unwrap_or_else(refused);
        if reply.status() == StatusCode::METHOD_NOT_ALLOWED {
            let method = allowed_method(endpoint);
            reply.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static(method));
        }
        // A client without a valid key connects again, without the place of those who have one.
        if matches!(reply.status().as_u16(), 401 | 403 | 409) {
            reply.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        }
        self.counts.count(endpoint, reply.status());
        if !reply.status().is_success() {
            body::discard(incoming).await;
        }
        reply
    }

    async fn handle(
        self: &Arc<Self>,
        endpoint: Endpoint,
        headers: &HeaderMap,
        path: &str,
        (incoming, from, place): (&mut Incoming, IpAddr, &Place),
    ) -> Result<Reply, Refusal> {
        match endpoint {
            Endpoint::Enroll => return self.enroll(incoming).await,
            Endpoint::Metrics => return self.metrics(headers, from),
            Endpoint::Other => return Err(Refusal::new(StatusCode::NOT_FOUND, "not found")),
            Endpoint::Key | Endpoint::Write | Endpoint::Objects => {}
        }
        let caller = self.caller(headers).await?;
        place.prove(&caller.site);
        match endpoint {
            Endpoint::Key => self.rotate(caller).await,
            Endpoint::Write => write::write(self, caller, headers, incoming).await,
            _ => objects::put(self, &caller, path.strip_prefix(OBJECTS).unwrap_or_default(), incoming).await,
        }
    }

    /// Changes the registry; the outer error is one of the disk.
    pub(crate) async fn change(
        self: &Arc<Self>,
        decide: impl FnOnce(&Registry) -> Result<Change, RegistryError> + Send + 'static,
    ) -> Result<Result<Change, RegistryError>, Refusal> {
        let busy = |_| Refusal::later("the gateway is busy", RETRY_S);
        let permit = Arc::clone(&self.changes).acquire_owned().await.map_err(busy)?;
        let app = Arc::clone(self);
        let changed = blocking(move || {
            let _permit = permit;
            app.registry.change(now_ms(), decide)
        });
        match changed.await? {
            Ok(change) => Ok(Ok(change)),
            Err(ChangeError::Refused(error)) => Ok(Err(error)),
            Err(ChangeError::State(error)) => {
                self.events.report(EventKind::State(error.to_string()), now_ms());
                Err(Refusal::later("the gateway is busy", RETRY_S))
            }
        }
    }

    async fn enroll(self: &Arc<Self>, incoming: &mut Incoming) -> Result<Reply, Refusal> {
        let bytes = body::read(incoming, MAX_ENROLLMENT_BYTES, self.body_timeout).await?;
        let bad = || Refusal::bad("invalid request");
        let request: Value = serde_json::from_slice(&bytes).map_err(|_| bad())?;
        let token = Digest::of(request["token"].as_str().ok_or_else(bad)?);
        let invalid = |error: fathom_fleet_admission::NameError| Refusal::bad(error.to_string());
        let site = SiteName::parse(request["site"].as_str().ok_or_else(bad)?).map_err(invalid)?;
        let labels = labels_of(&request["labels"]).ok_or_else(bad)?;
        let labels = Labels::parse(labels).map_err(invalid)?;
        let (key, digest) =
            new_secret(KEY_PREFIX).map_err(|_| Refusal::later("no random numbers", RETRY_S))?;
        let name = site.clone();
        let decide = move |registry: &Registry| registry.enroll(&token, (&name, &labels), &digest, now_ms());
        match self.change(decide).await? {
            Ok(Change::Enrolled { labels: enrolled, .. }) => {
                self.events.report(EventKind::Enrolled(site.clone()), now_ms());
                let all: serde_json::Map<String, Value> =
                    enrolled.iter().map(|(label, text)| (label.to_owned(), text.into())).collect();
                Ok(json(&value!({ "key": key, "site": site.as_str(), "labels": all })))
            }
            Ok(_) => Err(Refusal::later("the gateway is busy", 1)),
            Err(error) => Err(Refusal::new(refused_with(&error), error.to_string())),
        }
    }

    async fn rotate(self: &Arc<Self>, caller: Caller) -> Result<Reply, Refusal> {
        let (key, digest) =
            new_secret(KEY_PREFIX).map_err(|_| Refusal::later("no random numbers", RETRY_S))?;
        let changed = self.change(move |registry| registry.rotate(&caller.key, &digest, now_ms())).await?;
        // Another request has replaced the key.
        changed.map_err(|_| Refusal::later("the gateway is busy", 1))?;
        Ok(json(&value!({ "key": key })))
    }

    /// Counts, for this host, or for a client with the password.
    fn metrics(&self, headers: &HeaderMap, from: IpAddr) -> Result<Reply, Refusal> {
        let is_proxied =
            ["forwarded", "x-forwarded-for", "via"].iter().any(|name| headers.contains_key(*name));
        let is_allowed = match bearer(headers) {
            Some(given) => self.metrics_password == Some(Digest::of(given)),
            None => {
                from.to_canonical().is_loopback()
                    && !is_proxied
                    && !headers.contains_key(header::AUTHORIZATION)
            }
        };
        if !is_allowed {
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, "wrong password"));
        }
        let (all, revoked) = {
            let registry = self.registry.read();
            let revoked = registry.sites().iter().filter(|site| site.revoked_ms.is_some()).count();
            (registry.sites().len(), revoked)
        };
        Ok(text("text/plain; version=0.0.4", StatusCode::OK, self.counts.exposition(all, revoked)))
    }
}

const OBJECTS: &str = "/api/v1/objects/";

fn endpoint(path: &str) -> Endpoint {
    match path {
        "/api/v1/enroll" => Endpoint::Enroll,
        "/api/v1/key" => Endpoint::Key,
        "/api/v1/write" => Endpoint::Write,
        "/metrics" => Endpoint::Metrics,
        _ if path.starts_with(OBJECTS) => Endpoint::Objects,
        _ => Endpoint::Other,
    }
}

const fn allowed_method(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Objects => "PUT",
        Endpoint::Metrics => "GET",
        _ => "POST",
    }
}

fn allowed(endpoint: Endpoint, method: &Method) -> Result<(), Refusal> {
    if endpoint == Endpoint::Other || method.as_str() == allowed_method(endpoint) {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"))
}

/// The labels of an enrollment, an object of texts.
fn labels_of(labels: &Value) -> Option<Vec<(&str, &str)>> {
    match labels {
        Value::Null => Some(Vec::new()),
        Value::Object(all) => {
            all.iter().map(|(name, label)| Some((name.as_str(), label.as_str()?))).collect()
        }
        _ => None,
    }
}

const fn refused_with(error: &RegistryError) -> StatusCode {
    match error {
        RegistryError::UnknownToken | RegistryError::Expired => StatusCode::UNAUTHORIZED,
        RegistryError::Enrolled(_) => StatusCode::CONFLICT,
        RegistryError::OtherSite(_) | RegistryError::OtherLabels(_) => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    }
}

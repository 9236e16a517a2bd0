//! Who sends a request.
use crate::api::App;
use crate::event::EventKind;
use crate::registry_file::ChangeError;
use crate::secrets::now_ms;
use fathom_fleet_admission::{Authentication, Digest, Labels, Registry, RegistryError, SiteName};
use fathom_web::Refusal;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The site of a request.
pub(crate) struct Caller {
    pub(crate) site: SiteName,
    pub(crate) labels: Labels,
    pub(crate) key: Digest,
}

enum Known {
    Caller(Caller),
    First,
}

impl App {
    /// The site whose key the request has.
    pub(crate) async fn caller(self: &Arc<Self>, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let needed = || Refusal::new(StatusCode::UNAUTHORIZED, "missing or wrong token");
        let key = Digest::of(bearer(headers).ok_or_else(needed)?);
        if let Known::Caller(caller) = self.known(&key)? {
            return Ok(caller);
        }
        // The first use of a new key ends the one before, which must outlive a crash.
        let changed = self.change(move |registry| registry.first_use(&key, now_ms())).await?;
        match (changed, self.known(&key)?) {
            // Another request may have been the first one.
            (Ok(_) | Err(RegistryError::Key), Known::Caller(caller)) => Ok(caller),
            _ => Err(Refusal::later("the gateway is busy", 1)),
        }
    }

    fn known(self: &Arc<Self>, key: &Digest) -> Result<Known, Refusal> {
        let registry = self.registry.read();
        match registry.authenticate(key, now_ms(), self.grace_ms) {
            Authentication::Current(site) => {
                Ok(Known::Caller(Caller { site: site.name.clone(), labels: site.labels.clone(), key: *key }))
            }
            Authentication::FirstUse(_) => Ok(Known::First),
            Authentication::JustReplaced(site) => {
                Err(Refusal::later(format!("site {}: the key was replaced", site.name), 1))
            }
            Authentication::Duplicate(site) => {
                self.counts.duplicates.fetch_add(1, Ordering::Relaxed);
                self.record_duplicate(site.name.clone());
                let text =
                    format!("site {}: another machine has a newer key: enroll this one again", site.name);
                // Not 409, with which some engines reject points that are older than others.
                Err(Refusal::new(StatusCode::FORBIDDEN, text))
            }
            Authentication::Revoked(site) => {
                Err(Refusal::new(StatusCode::FORBIDDEN, format!("site {} is revoked", site.name)))
            }
            Authentication::Unknown => {
                Err(Refusal::new(StatusCode::UNAUTHORIZED, "unknown key: enroll this machine"))
            }
        }
    }

    /// Reports a duplicate, and writes it to the registry once an hour.
    fn record_duplicate(self: &Arc<Self>, site: SiteName) {
        self.events.report(EventKind::Duplicate(site.clone()), now_ms());
        let Ok(permit) = Arc::clone(&self.changes).try_acquire_owned() else { return };
        if self.registry.read().duplicate(&site, now_ms()).is_none() {
            return;
        }
        let app = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let decide = |registry: &Registry| registry.duplicate(&site, now_ms()).ok_or(RegistryError::Key);
            if let Err(ChangeError::State(error)) = app.registry.change(now_ms(), decide) {
                app.events.report(EventKind::State(error.to_string()), now_ms());
            }
        });
    }
}

/// The bearer key or password of a request that has one.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    let (scheme, key) = one.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

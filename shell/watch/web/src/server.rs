//! Serves the page, and runs tasks in addition to its requests.
use crate::api;
use crate::app::{App, now_ns};
use crate::hub::Hub;
use crate::now::Live;
use crate::past::{OpenPast, Pool};
use fathom_web::{Server, WebConfig, WebError};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Loopback, on a port without a registered service.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8077);

/// Changes are shown within a second; with many targets, values change all the time and are sent
/// less often.
const MIN_TICK: Duration = Duration::from_secs(1);
const TARGETS_PER_SECOND: usize = 250;
const MAX_TICK: Duration = Duration::from_secs(10);
/// Width of an overview column.
const WARM_EVERY: Duration = Duration::from_nanos(crate::overview::PAGE_WIDTH_NS);

/// Serves the page until the result is dropped. `open_past` opens a reader of the history; it is
/// called for each reading thread.
///
/// # Errors
/// If the address is in use, the password file cannot be trusted, or the system provides no thread.
pub fn serve(config: &WebConfig, live: Arc<dyn Live>, open_past: Box<OpenPast>) -> Result<Server, WebError> {
    let app = App {
        live,
        past: Arc::new(Pool::new(open_past)),
        hub: Arc::new(Hub::new(now_ns())),
        cache: Arc::default(),
        files: Arc::new(Semaphore::new(1)),
    };
    fathom_web::serve(config, Arc::new(app))
}

/// Prepares what a page shows first.
pub(crate) async fn warm(app: Arc<App>) {
    loop {
        api::warm(&app).await;
        tokio::time::sleep(WARM_EVERY).await;
    }
}

/// Sends changes to open pages.
pub(crate) async fn update_pages(app: Arc<App>) {
    loop {
        let mut tick = MIN_TICK;
        if app.hub.has_listeners()
            && let Ok((targets, troubles)) = app.now().await
        {
            app.hub.update(&targets, &troubles);
            tick = Duration::from_millis((targets.len() * 1_000 / TARGETS_PER_SECOND) as u64);
        }
        tokio::time::sleep(tick.clamp(MIN_TICK, MAX_TICK)).await;
    }
}

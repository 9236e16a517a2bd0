//! The page of `fathom fleet`, and its API, over any source of a fleet. `docs/fleet.md` describes
//! the API.
//!
//! ```text
//!  thread "web"     one loop (tokio): accepts, parses, checks, responds
//!    |-- blocking   a few threads: questions to the source
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod api;
mod assets;
mod cache;
mod request;
mod routes;

use fathom_fleet_query::Source;
use fathom_web::{Server, WebConfig, WebError};
use routes::App;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Loopback, on a port without a registered service.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8079);

/// Serves the page until the server is dropped. `results` knows the result files; it may be the
/// same source.
///
/// # Errors
/// An address that is in use, or a password file or certificate that cannot be read or created.
pub fn serve(
    config: &WebConfig,
    source: Arc<dyn Source>,
    results: Arc<dyn Source>,
) -> Result<Server, WebError> {
    fathom_web::serve(config, Arc::new(App::new(source, results)))
}

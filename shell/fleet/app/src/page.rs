//! The page of a fleet.
use crate::question::Fleet;
use fathom_app::{AppError, CancelToken};
use fathom_fleet_web::serve;
use std::net::SocketAddr;
use std::path::PathBuf;

pub use fathom_fleet_web::DEFAULT_LISTEN;
pub use fathom_web::{Certificate, WebConfig};

/// Interval of checks for cancellation.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(200);

/// What the page reports.
#[derive(Debug)]
pub enum PageProgress {
    /// It takes requests.
    Ready {
        /// Its address.
        address: SocketAddr,
        /// Whether it uses TLS.
        is_secure: bool,
        /// SHA-256 of its certificate, if that is self-signed.
        fingerprint: Option<String>,
        /// A password that was made for it, and its file.
        new_password: Option<(String, PathBuf)>,
    },
    /// A file that was left out because it is damaged.
    Damaged(String),
}

/// Serves the page until `cancel`.
///
/// # Errors
/// If it cannot be started.
pub fn serve_page(
    fleet: &Fleet,
    config: &WebConfig,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(PageProgress),
) -> Result<(), AppError> {
    let (source, results) = fleet.sources();
    let server = serve(config, source, results)?;
    progress(PageProgress::Ready {
        address: server.address,
        is_secure: server.is_secure,
        fingerprint: server.fingerprint.clone(),
        new_password: server.new_password.clone().zip(config.secret_file.clone()),
    });
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK_EVERY);
        fleet.damaged().into_iter().for_each(|what| progress(PageProgress::Damaged(what)));
    }
    Ok(())
}

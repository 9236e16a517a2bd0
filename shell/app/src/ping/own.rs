//! Targets of a build without the protocols of others: hosts, and servers that run `fathom serve`.
use crate::test::only_own;
use fathom_client::{
    Family, Limits, PingConfig, PingProbe, PingTarget, TestError, ping_session, resolve_server,
};
use std::sync::atomic::AtomicBool;

/// What is pinged, and how.
#[derive(Clone, Debug)]
pub struct PingRequest {
    /// Host, or `udp://` and a server.
    pub target: String,
    /// Restricts the address family; `None` takes the first address.
    pub family: Option<Family>,
    /// Token of `fathom serve`.
    pub token: Option<String>,
}

/// The target of a ping. Of a server, it opens a session.
pub(super) fn ping_target(
    request: &PingRequest,
    config: &PingConfig,
    stop: &AtomicBool,
) -> Result<PingTarget, TestError> {
    let PingRequest { target, family, token } = request;
    let name = target.clone();
    if let Some(server) = target.strip_prefix("udp://") {
        let limits = Limits { stop, clock: config.clock, patience: config.timeout };
        let session = ping_session(server.trim_end_matches('/'), *family, token.clone(), &limits)?;
        return Ok(PingTarget { name, ..session });
    }
    if target.contains("://") {
        return Err(only_own(target));
    }
    let found = resolve_server(target, 0, *family)?;
    let address = found.first().copied().ok_or_else(|| TestError::Host(format!("{target}: no address")))?;
    Ok(PingTarget { name, address, probe: PingProbe::Icmp, session: None })
}

//! Servers on the local network.
pub use fathom_discovery::Found;

/// Wait for servers that announce themselves. A responder delays its answer by up to 0.12 s, and
/// does not repeat within 1 s what it has just announced (RFC 6762, section 6); the second query
/// follows after 1 s (section 5.2).
const DISCOVERY_WAIT: std::time::Duration = std::time::Duration::from_millis(1_500);

/// Servers on the local network that announce themselves, and that the user can use with or without
/// a token; none if multicast is not possible.
#[must_use]
pub fn servers_nearby(has_token: bool) -> Vec<Found> {
    let mut found = fathom_discovery::find(DISCOVERY_WAIT).unwrap_or_default();
    found.retain(|server| has_token || !server.requires_token);
    found
}

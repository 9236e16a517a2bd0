//! New keys and tokens.
use fathom_fleet_admission::{Digest, secret};
use std::io;

/// A new secret and its digest.
pub(crate) fn new_secret(prefix: &str) -> io::Result<(String, Digest)> {
    let mut random = [0; 32];
    fill(&mut random)?;
    let text = secret(prefix, &random);
    let digest = Digest::of(&text);
    Ok((text, digest))
}

/// Random bytes of the system.
pub(crate) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
}

/// The time in milliseconds since 1970-01-01 UTC.
pub(crate) fn now_ms() -> u64 {
    fathom_os::clock::wall_now().0 / 1_000_000
}

//! Flags of `fathom fleet page`.
use super::FleetPlaceArgs;
use clap::Args;
use fathom_fleet_app::page::DEFAULT_LISTEN;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Serve a page with all of these answers
///
/// Runs until Ctrl-C. On loopback it needs no password. Elsewhere it needs a password file, and has
/// a self-signed certificate next to it unless you give one.
#[derive(Args, Debug)]
pub(crate) struct FleetPageArgs {
    #[command(flatten)]
    pub(crate) place: FleetPlaceArgs,
    /// Listen address
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = DEFAULT_LISTEN)]
    pub(crate) listen: SocketAddr,
    /// File with the password
    ///
    /// Created with a random password if it does not exist.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "key_file")]
    pub(crate) certificate_file: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate_file")]
    pub(crate) key_file: Option<PathBuf>,
    /// Serve HTTP, for a proxy that does TLS
    #[arg(long, conflicts_with = "certificate_file")]
    pub(crate) no_tls: bool,
    /// Name of a proxy (repeatable)
    ///
    /// A page on loopback refuses requests under other names.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
}

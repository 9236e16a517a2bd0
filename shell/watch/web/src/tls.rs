//! TLS: the certificate of the page, given or self-signed.
use crate::config::{Certificate, WebError};
use fathom_os::error::without_code;
use fathom_os::files::read_at_most;
use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum size of a file, in bytes. A chain of certificates has a few kB.
const MAX_BYTES: u64 = 1 << 20;
/// Last year of a self-signed certificate. It is trusted by its fingerprint, so that a new one, not
/// an old one, would be suspicious.
const LAST_YEAR: i32 = 2099;

/// What the listener needs.
pub(crate) struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    /// SHA-256 of a self-signed certificate, as browsers show it.
    pub(crate) fingerprint: Option<String>,
}

impl Tls {
    /// Reads the certificate and its key. A self-signed one is created if its file does not exist.
    pub(crate) fn new(certificate: &Certificate) -> Result<Tls, WebError> {
        let (chain_file, key_file, is_own) = match certificate {
            Certificate::Files { chain, key } => (chain.clone(), key.clone(), false),
            Certificate::SelfSigned { folder, names } => {
                let files = (folder.join("page-certificate.pem"), folder.join("page-key.pem"));
                if !files.0.exists() {
                    make(&files, names)?;
                }
                (files.0, files.1, true)
            }
        };
        let chain = chain(&chain_file)?;
        let fingerprint = chain.first().filter(|_| is_own).map(fingerprint);
        let key = read_at_most(&key_file, MAX_BYTES).map_err(|e| fault(&key_file, without_code(&e)))?;
        let key = PrivateKeyDer::from_pem_slice(&key)
            .map_err(|_| fault(&key_file, "contains no private key in PEM format"))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| fault(&chain_file, e))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|e| fault(&chain_file, format_args!("and {}: {e}", key_file.display())))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), fingerprint })
    }
}

fn chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, WebError> {
    let bytes = read_at_most(file, MAX_BYTES).map_err(|e| fault(file, without_code(&e)))?;
    let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    chain
        .ok()
        .filter(|chain| !chain.is_empty())
        .ok_or_else(|| fault(file, "contains no certificate in PEM format"))
}

/// Writes the key first: a certificate without its key would never be replaced.
fn make((chain, key): &(PathBuf, PathBuf), names: &[String]) -> Result<(), WebError> {
    let (certificate, private) = self_signed(names).map_err(|e| fault(chain, e))?;
    write(key, &private, 0o600).map_err(|e| fault(key, without_code(&e)))?;
    write(chain, &certificate, 0o644).map_err(|e| fault(chain, without_code(&e)))
}

fn self_signed(names: &[String]) -> Result<(String, String), rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "fathom watch");
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(LAST_YEAR, 12, 31));
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

/// Replaces a file whose counterpart is missing, but no symbolic link.
fn write(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn fault(path: &Path, why: impl std::fmt::Display) -> WebError {
    WebError::Certificate { path: path.into(), why: why.to_string() }
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let hash = ring::cipher_suite::TLS13_AES_128_GCM_SHA256
        .tls13()
        .map(|suite| suite.common.hash_provider.hash(certificate));
    let mut text = String::new();
    for (at, byte) in hash.iter().flat_map(|hash| hash.as_ref()).enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{byte:02X}", if at == 0 { "" } else { ":" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let names = vec!["router.home".to_owned(), "192.0.2.1".to_owned()];
        let own = Certificate::SelfSigned { folder: folder.path().into(), names };
        let first = Tls::new(&own).unwrap().fingerprint.unwrap();
        assert_eq!(first.len(), 32 * 3 - 1, "{first}");
        assert_eq!(Tls::new(&own).unwrap().fingerprint.unwrap(), first);
        let key = folder.path().join("page-key.pem");
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&key).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        let chain = folder.path().join("page-certificate.pem");
        let given = Certificate::Files { chain: chain.clone(), key: key.clone() };
        assert!(Tls::new(&given).unwrap().fingerprint.is_none());
        std::fs::remove_file(&chain).unwrap();
        assert_ne!(Tls::new(&own).unwrap().fingerprint.unwrap(), first);
        for (file, text) in [(&key, "no private key"), (&chain, "no certificate")] {
            std::fs::write(file, "x").unwrap();
            let error = Tls::new(&given).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains(&*file.to_string_lossy()), "{error}");
        }
    }
}

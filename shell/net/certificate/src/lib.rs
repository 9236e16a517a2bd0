//! TLS of our own web servers: the certificate, given or self-signed.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use fathom_os::error::without_code;
use fathom_os::files::read_at_most;
use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum size of a file, in bytes. A chain of certificates has a few kB.
const MAX_BYTES: u64 = 1 << 20;
/// Last year of a self-signed certificate. It is trusted by its fingerprint, so that a new one, not
/// an old one, would be suspicious.
const LAST_YEAR: i32 = 2099;

/// A certificate and its private key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certificate {
    /// In PEM files.
    Files {
        /// The certificate, followed by those of its authorities.
        chain: PathBuf,
        /// The private key.
        key: PathBuf,
    },
    /// Self-signed, created in a directory if there is none.
    SelfSigned {
        /// The directory.
        folder: PathBuf,
        /// Hostnames and addresses in a new certificate.
        names: Vec<String>,
    },
    /// Self-signed, created at each start.
    Temporary {
        /// Hostnames and addresses in it.
        names: Vec<String>,
    },
}

/// Why a certificate or its key could not be read or created.
#[derive(Debug)]
pub struct CertificateError {
    /// The file; `None` for a temporary certificate.
    path: Option<PathBuf>,
    why: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        f.write_str(&self.why)
    }
}
impl std::error::Error for CertificateError {}

/// What a listener needs.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Settings of connections.
    pub config: Arc<ServerConfig>,
    /// SHA-256 of a self-signed certificate, as browsers show it.
    pub fingerprint: Option<String>,
}

impl Tls {
    /// Reads the certificate and its key, or creates them. `protocols` are offered to clients
    /// (ALPN), the preferred one first.
    ///
    /// # Errors
    /// Which file is missing or wrong.
    pub fn new(certificate: &Certificate, protocols: &[&[u8]]) -> Result<Tls, CertificateError> {
        let (path, chain, key, is_own) = match certificate {
            Certificate::Files { chain, key } => read(chain, key, false)?,
            Certificate::SelfSigned { folder, names } => {
                let files = (folder.join("page-certificate.pem"), folder.join("page-key.pem"));
                if !files.0.exists() {
                    make(&files, names)?;
                }
                read(&files.0, &files.1, true)?
            }
            Certificate::Temporary { names } => {
                let (own, key) = self_signed(names).map_err(|e| fault(None, e))?;
                (None, pem_chain(own.as_bytes(), None)?, pem_key(key.as_bytes(), None)?, true)
            }
        };
        let fingerprint = chain.first().filter(|_| is_own).map(fingerprint);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| fault(path.as_deref(), e))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|e| fault(path.as_deref(), format_args!("and its key: {e}")))?;
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Tls { config: Arc::new(config), fingerprint })
    }
}

type Chain = Vec<CertificateDer<'static>>;
/// A file, its certificates, their key, and whether we created them.
type Read = (Option<PathBuf>, Chain, PrivateKeyDer<'static>, bool);

fn read(chain: &Path, key: &Path, is_own: bool) -> Result<Read, CertificateError> {
    let content = |path| read_at_most(path, MAX_BYTES).map_err(|e| fault(Some(path), without_code(&e)));
    let certificates = pem_chain(&content(chain)?, Some(chain))?;
    Ok((Some(chain.into()), certificates, pem_key(&content(key)?, Some(key))?, is_own))
}

fn pem_key(bytes: &[u8], file: Option<&Path>) -> Result<PrivateKeyDer<'static>, CertificateError> {
    PrivateKeyDer::from_pem_slice(bytes).map_err(|_| fault(file, "contains no private key in PEM format"))
}

fn pem_chain(bytes: &[u8], file: Option<&Path>) -> Result<Chain, CertificateError> {
    let chain: Result<Chain, _> = CertificateDer::pem_slice_iter(bytes).collect();
    chain
        .ok()
        .filter(|chain| !chain.is_empty())
        .ok_or_else(|| fault(file, "contains no certificate in PEM format"))
}

/// Writes the key first: a certificate without its key would never be replaced.
fn make((chain, key): &(PathBuf, PathBuf), names: &[String]) -> Result<(), CertificateError> {
    let (certificate, private) = self_signed(names).map_err(|e| fault(Some(chain), e))?;
    write(key, &private, 0o600).map_err(|e| fault(Some(key), without_code(&e)))?;
    write(chain, &certificate, 0o644).map_err(|e| fault(Some(chain), without_code(&e)))
}

fn self_signed(names: &[String]) -> Result<(String, String), rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "fathom");
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
    let mut file = fathom_os::files::create_new(path, mode)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn fault(path: Option<&Path>, why: impl fmt::Display) -> CertificateError {
    CertificateError { path: path.map(Path::to_owned), why: why.to_string() }
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
        let first = Tls::new(&own, &[]).unwrap().fingerprint.unwrap();
        assert_eq!(first.len(), 32 * 3 - 1, "{first}");
        assert_eq!(Tls::new(&own, &[]).unwrap().fingerprint.unwrap(), first);
        let key = folder.path().join("page-key.pem");
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&key).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        let chain = folder.path().join("page-certificate.pem");
        let given = Certificate::Files { chain: chain.clone(), key: key.clone() };
        assert!(Tls::new(&given, &[]).unwrap().fingerprint.is_none());
        std::fs::remove_file(&chain).unwrap();
        assert_ne!(Tls::new(&own, &[]).unwrap().fingerprint.unwrap(), first);
        let temporary = Certificate::Temporary { names: vec!["localhost".to_owned()] };
        let of_a_start = || Tls::new(&temporary, &[]).unwrap().fingerprint.unwrap();
        assert_ne!(of_a_start(), of_a_start());
        for (file, text) in [(&key, "no private key"), (&chain, "no certificate")] {
            std::fs::write(file, "x").unwrap();
            let error = Tls::new(&given, &[]).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains(&*file.to_string_lossy()), "{error}");
        }
    }
}

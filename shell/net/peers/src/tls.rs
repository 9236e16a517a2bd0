//! TLS for connections to a server.
use fathom_client::{Encrypted, TestError};
use fathom_os::distribution::{Wanted, install_command};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// Certificate authorities that are trusted.
#[derive(Clone, Default)]
pub enum Trust {
    /// Those of this host.
    #[default]
    Host,
    /// Others.
    These(Vec<CertificateDer<'static>>),
}

impl Trust {
    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let certificates = match self {
            Trust::Host => rustls_native_certs::load_native_certs().certs,
            Trust::These(certificates) => certificates.clone(),
        };
        roots.add_parsable_certificates(certificates);
        roots
    }
}

/// TLS for connections to one host.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// Settings of TLS with HTTP/1.1.
pub(crate) fn client_config(trust: &Trust) -> Result<Arc<ClientConfig>, TestError> {
    let roots = trust.roots();
    if roots.is_empty() {
        let command = install_command(Path::new("/"), Wanted::Certificates, "");
        return Err(TestError::Host(format!("no certificate authorities ({command})")));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| TestError::Host(format!("TLS: {e}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

impl Tls {
    /// TLS to `host`.
    pub(crate) fn to(host: &str, config: Arc<ClientConfig>) -> Result<Tls, TestError> {
        // Brackets are part of an IPv6 address in a URL only.
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|e| TestError::Server { server: host.to_owned(), problem: format!("TLS: {e}") })?;
        Ok(Tls { config, name })
    }
    /// The same with another protocol above it (ALPN).
    pub(crate) fn with_protocol(&self, name: &[u8]) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = vec![name.to_vec()];
        Tls { config: Arc::new(config), name: self.name.clone() }
    }
    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        self.config.clone()
    }
    pub(crate) fn name(&self) -> ServerName<'static> {
        self.name.clone()
    }
    /// Starts a connection.
    pub(crate) fn start(&self) -> Result<ClientConnection, String> {
        ClientConnection::new(self.config.clone(), self.name.clone()).map_err(|e| format!("TLS: {e}"))
    }
}

/// The end of a connection for probes.
pub(crate) struct TlsProbe(pub(crate) ClientConnection);

impl Encrypted for TlsProbe {
    fn receive(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut plain = Vec::new();
        while !bytes.is_empty() {
            self.0.read_tls(&mut bytes).map_err(|e| format!("TLS: {e}"))?;
            self.0.process_new_packets().map_err(|e| format!("TLS: {e}"))?;
            match self.0.reader().read_to_end(&mut plain) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(format!("TLS: {error}")),
            }
        }
        Ok(plain)
    }
    fn encrypt(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.writer().write_all(bytes).map_err(|e| format!("TLS: {e}"))
    }
    fn take_output(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        // Writing to memory does not fail.
        while self.0.wants_write() && self.0.write_tls(&mut out).is_ok_and(|n| n > 0) {}
        out
    }
    fn is_ready(&self) -> bool {
        !self.0.is_handshaking()
    }
}

/// The cause of an I/O error of a connection, without the operating system's number.
pub(crate) fn cause(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(tls) if is_of_another(tls) => {
            format!("TLS: {tls} (if this network has a login page, log in first)")
        }
        Some(tls) => format!("TLS: {tls}"),
        None => fathom_os::error::without_code(error),
    }
}

/// Whether someone else than the server answered, as a captive portal does.
const fn is_of_another(error: &rustls::Error) -> bool {
    use rustls::CertificateError::{NotValidForName, NotValidForNameContext, UnknownIssuer};
    use rustls::Error::InvalidCertificate;
    matches!(error, InvalidCertificate(UnknownIssuer | NotValidForName | NotValidForNameContext { .. }))
}

//! A timed TLS handshake. An invalid certificate is noted but does not end it, because the probe
//! measures the server's speed, not its trustworthiness.
use fathom_os::error::without_code;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::{CertificateDer as Certificate, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct as Signed, Error, RootCertStore, SignatureScheme,
};
use socket2::Socket;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A handshake in progress, and the connection after it.
pub(crate) struct Handshake {
    connection: ClientConnection,
    notary: Arc<Notary>,
}

impl Handshake {
    pub(crate) fn begin(host: &str) -> Result<Handshake, String> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("invalid TLS server name \"{host}\""))?;
        let notary = Arc::new(Notary::new(authorities()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|e| e.to_string())?.dangerous();
        let verifier: Arc<dyn ServerCertVerifier> = Arc::clone(&notary) as _;
        let mut config = builder.with_custom_certificate_verifier(verifier).with_no_client_auth();
        // Resumption would shorten handshakes; each should be complete.
        config.resumption = Resumption::disabled();
        let connection = ClientConnection::new(Arc::new(config), name).map_err(|e| e.to_string())?;
        Ok(Handshake { connection, notary })
    }
    /// Sends pending data. It fits into any send buffer.
    pub(crate) fn write(&mut self, mut socket: &Socket) -> Result<(), String> {
        let mut bytes = Vec::new();
        while self.connection.wants_write() {
            self.connection.write_tls(&mut bytes).map_err(|e| e.to_string())?;
        }
        socket.write_all(&bytes).map_err(|e| without_code(&e))
    }
    /// Processes received data. Returns up to `limit` bytes of plain text.
    pub(crate) fn read(&mut self, mut bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
        let mut plain = Vec::new();
        while !bytes.is_empty() {
            self.connection.read_tls(&mut bytes).map_err(|e| e.to_string())?;
            let state = self.connection.process_new_packets().map_err(|e| format!("TLS: {e}"))?;
            let room = limit.saturating_sub(plain.len()).min(state.plaintext_bytes_to_read());
            let _ = self.connection.reader().take(room as u64).read_to_end(&mut plain);
        }
        Ok(plain)
    }
    pub(crate) fn send(&mut self, plain: &[u8]) -> Result<(), String> {
        self.connection.writer().write_all(plain).map_err(|e| e.to_string())
    }
    pub(crate) fn is_done(&self) -> bool {
        !self.connection.is_handshaking()
    }
    pub(crate) fn certificate_problem(&self) -> Option<String> {
        self.notary.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The system's certificate authorities, read once; `None` if there are none.
fn authorities() -> Option<Arc<WebPkiServerVerifier>> {
    static KNOWN: OnceLock<Option<Arc<WebPkiServerVerifier>>> = OnceLock::new();
    KNOWN
        .get_or_init(|| {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().ok()
        })
        .clone()
}

/// Result of a signature check.
type Verified = Result<HandshakeSignatureValid, Error>;

/// Accepts all certificates and records what is wrong with them.
#[derive(Debug)]
struct Notary {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    problem: Mutex<Option<String>>,
}

impl Notary {
    const fn new(authorities: Option<Arc<WebPkiServerVerifier>>) -> Self {
        Notary { authorities, problem: Mutex::new(None) }
    }
    /// Records why the system's authorities refuse the certificate in `check`.
    fn judge<T>(&self, check: impl FnOnce(&WebPkiServerVerifier) -> Result<T, Error>) {
        if let Some(Err(error)) = self.authorities.as_deref().map(check) {
            let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
            problem.get_or_insert_with(|| error.to_string());
        }
    }
}

impl ServerCertVerifier for Notary {
    fn verify_server_cert(
        &self,
        end_entity: &Certificate<'_>,
        intermediates: &[Certificate<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.judge(|known| {
            known.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        });
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(&self, message: &[u8], cert: &Certificate<'_>, signed: &Signed) -> Verified {
        self.judge(|known| known.verify_tls12_signature(message, cert, signed));
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(&self, message: &[u8], cert: &Certificate<'_>, signed: &Signed) -> Verified {
        self.judge(|known| known.verify_tls13_signature(message, cert, signed));
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

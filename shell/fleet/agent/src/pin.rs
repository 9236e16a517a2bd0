//! The certificate of a gateway that is known by its fingerprint.
use crate::AgentError;
use crate::gateway::{LIMIT, host_of};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fathom_fleet_admission::Digest;
use fathom_os::error::without_code;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;

/// Accepts one certificate: that with this SHA-256. Signatures are verified as always, so the
/// other end has its private key.
#[derive(Debug)]
struct Pinned {
    digest: Digest,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found = Digest::of(end_entity);
        if found == self.digest {
            return Ok(ServerCertVerified::assertion());
        }
        Err(Error::General(format!("{FOUND}{found}")))
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Marks the error of another certificate.
const FOUND: &str = "certificate ";

/// The certificate with this fingerprint, in PEM, as the gateway presents it.
pub(crate) fn certificate(url: &str, fingerprint: &str) -> Result<String, AgentError> {
    let (host, port) = host_of(url)?;
    let digits: String = fingerprint.chars().filter(|c| *c != ':').collect();
    let digest = Digest::parse(&digits.to_ascii_lowercase());
    let digest =
        digest.ok_or_else(|| AgentError::Fingerprint { found: "of 64 digits: expected those".into() })?;
    let unavailable = |why: String| AgentError::Unavailable { url: url.to_owned(), why };
    let io = |error: std::io::Error| unavailable(without_code(&error));
    let mut connection = client(digest, &host).map_err(unavailable)?;
    let address = (host.as_str(), port).to_socket_addrs().map_err(io)?.next();
    let address = address.ok_or_else(|| unavailable("no address".into()))?;
    let mut stream = TcpStream::connect_timeout(&address, LIMIT).map_err(io)?;
    stream.set_read_timeout(Some(LIMIT)).map_err(io)?;
    stream.set_write_timeout(Some(LIMIT)).map_err(io)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(|error| mismatch(&error).unwrap_or_else(|| io(error)))?;
    }
    let own = connection.peer_certificates().and_then(<[_]>::first);
    own.map(|one| pem(one)).ok_or_else(|| unavailable("no certificate".into()))
}

fn client(digest: Digest, host: &str) -> Result<ClientConnection, String> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { digest, provider }))
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())
}

fn mismatch(error: &std::io::Error) -> Option<AgentError> {
    let inner = error.get_ref()?.downcast_ref::<Error>()?;
    match inner {
        Error::General(text) => {
            text.strip_prefix(FOUND).map(|found| AgentError::Fingerprint { found: found.to_owned() })
        }
        _ => None,
    }
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    let text = STANDARD.encode(certificate);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

//! TLS and HTTPS, with a self-signed certificate.
use crate::memory::{answered, start, wait_for};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

fn serve() -> u16 {
    let certificate = CertificateDer::from(include_bytes!("../data/certificate.der").as_slice());
    let key = PrivatePkcs8KeyDer::from(include_bytes!("../data/key.der").as_slice());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key));
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || {
                let mut session = ServerConnection::new(config).unwrap();
                let mut stream = Stream::new(&mut session, &mut connection);
                // A TLS probe ends here.
                if stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
                }
            });
        }
    });
    port
}

#[test]
fn each_part_is_a_series_and_the_certificate_is_noted_once() {
    let port = serve();
    let (monitor, memory) = start(&format!(
        "[watch]\ninterface = 'none'\n[defaults]\ninterval = '200ms'\n\
         [[target]]\nname = 'web'\nurl = 'https://127.0.0.1:{port}/'\n\
         [[target]]\nname = 'tls'\nhost = '127.0.0.1'\nprobe = 'tls:{port}'\n"
    ));
    for (name, base, parts) in [
        ("web", "https", [" connect", " handshake", " answer"].as_slice()),
        ("tls", "tls", &[" connect", " handshake"]),
    ] {
        for part in parts.iter().chain(&[""]) {
            let probe = format!("{base}:{port}{part}");
            wait_for(&probe, || (answered(&memory.samples(name, &probe)) >= 5).then_some(()));
        }
    }
    assert!(monitor.stop().is_empty());
    // Without any certificate authorities on the host, certificates cannot be checked.
    let events = memory.events("certificate");
    assert!(
        events.len() <= 2 && events.iter().all(|text| text.contains("invalid certificate")),
        "{events:?}"
    );
}

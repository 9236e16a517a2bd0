//! The web server of `fathom serve`: networkQuality over HTTP/2, and ndt7.
use crate::stand_in::{check_load, protocol, test};
use fathom_peers::Trust;
use fathom_run::{Interruption, Metric, PhaseKind, Run, SeriesKey};
use fathom_server::{Config, Server, WebConfig};
use fathom_test_support::unused_port;
use fathom_units::Bytes;
use std::net::Ipv4Addr;

/// A server with a certificate for `localhost`, its URL, and that certificate.
pub(crate) fn serve(change: impl FnOnce(&mut Config)) -> (Server, String, Trust) {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    std::fs::write(&chain, signed.cert.pem()).unwrap();
    std::fs::write(&key, signed.signing_key.serialize_pem()).unwrap();
    let port = unused_port();
    let web = WebConfig {
        port: Some(port),
        certificate: Some((chain, key)),
        names: Vec::new(),
        proxies: Vec::new(),
    };
    let listen = vec![Ipv4Addr::LOCALHOST.into()];
    let mut config = Config { listen, port: 0, web: Some(web), ..Config::default() };
    change(&mut config);
    let server = Server::start(config).unwrap();
    (server, format!("https://localhost:{port}/"), Trust::These(vec![signed.cert.der().clone()]))
}

/// Answered requests on loaded connections in a phase.
fn answered(run: &Run, kind: PhaseKind) -> usize {
    let series = run.series(&SeriesKey::of(Metric::HttpLoaded)).unwrap();
    series.within(run.phase(kind).unwrap()).filter(|o| o.value.observed().is_some()).count()
}

#[test]
fn downloads_carry_probes() {
    let (server, url, trust) = serve(|_| ());
    let run = test(&url, &trust).unwrap();
    assert_eq!((protocol(&run), &run.partial), ("networkQuality", &None));
    check_load(&run);
    assert!(answered(&run, PhaseKind::Down) > 0 && answered(&run, PhaseKind::Both) > 0, "{:?}", run.notes);
    assert_eq!(answered(&run, PhaseKind::Up), 0, "uploads use HTTP/1.1");
    let delays = &run.series(&SeriesKey::of(Metric::HttpLoaded)).unwrap().values;
    assert!(delays.iter().all(|delay| *delay < 0.4), "{delays:?}");
    // By HTTP/2 too.
    let foreign = run.series(&SeriesKey::of(Metric::HttpForeign)).unwrap();
    assert!(foreign.values.len() >= 3 && foreign.censored.is_empty(), "{foreign:?}, {:?}", run.notes);
    assert_eq!(server.stats().panics, 0);
}

#[test]
fn the_end_of_a_stream_is_reported_and_what_was_measured_is_kept() {
    let (_server, url, trust) = serve(|config| config.max_bytes = Bytes(8_000_000));
    let run = test(&url, &trust).unwrap();
    assert!(matches!(run.partial, Some(Interruption::NoFlowLeft { .. })), "{:?}", run.partial);
    assert!(format!("{:?}", run.notes).contains("HTTP/2: "), "{:?}", run.notes);
    assert!(run.phase(PhaseKind::Idle).is_some());
}

#[test]
fn ndt7_carries_every_phase_with_tls_and_without() {
    let (server, url, trust) = serve(|_| ());
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    for scheme in ["ndt7", "ndt7+ws"] {
        let run = test(&format!("{scheme}://localhost:{port}"), &trust).unwrap();
        assert_eq!((protocol(&run), &run.partial), ("ndt7", &None), "{:?}", run.notes);
        check_load(&run);
    }
    let stats = server.stats();
    assert!(stats.up_bytes > 1_000_000 && stats.down_bytes > 1_000_000, "{stats:?}");
    assert_eq!(stats.panics, 0);
}

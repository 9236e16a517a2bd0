//! Pings of web servers: handshakes, and requests on one connection.
use crate::http3::{NOT_FOUND, OK, Quic};
use crate::own_server::serve;
use fathom_client::{Family, PingConfig, PingEvent, ping};
use fathom_os::clock::Clock;
use fathom_peers::{PingRequest, Trust, ping_target};
use fathom_run::{Metric, NotSent, Note, Run, Series, SeriesKey};
use fathom_units::Duration;
use std::sync::atomic::AtomicBool;

const PROBES: u32 = 5;

/// The run of some probes to `url`, and the notes about it.
fn pinged(url: &str, trust: &Trust) -> (Run, Vec<Note>) {
    let config = PingConfig {
        clock: Clock::start(),
        interval: Duration::from_millis(50),
        count: Some(PROBES),
        deadline: None,
        timeout: Duration::from_secs(10),
        dscp: 0,
    };
    let stop = AtomicBool::new(false);
    // The servers have an address of IPv4 only, and `localhost` often one of IPv6 before it, which
    // refuses connections. Nothing refuses QUIC.
    let family = url.starts_with("h3:").then_some(Family::V4);
    let request = PingRequest { target: url.to_owned(), family, token: None };
    let target = ping_target(&request, &config, trust, &stop).unwrap();
    let mut notes = Vec::new();
    let mut keep = |event| {
        if let PingEvent::Note { note, .. } = event {
            notes.push(note);
        }
    };
    let run = ping(&config, &[target], &stop, &mut keep).unwrap();
    (run, notes)
}

#[track_caller]
fn check(run: &Run, metric: Metric) -> &Series {
    let series = run.series(&SeriesKey::of(metric)).unwrap();
    assert_eq!((series.values.len(), series.censored.len()), (PROBES as usize, 0), "{series:?}");
    assert!(series.values.iter().all(|delay_s| *delay_s > 0.0), "{series:?}");
    series
}

#[test]
fn our_own_server_answers_each_protocol_over_tls() {
    let (_server, url, trust) = serve(|_| ());
    let place = url.strip_prefix("https://").unwrap();
    for (scheme, metric) in
        [("https", Metric::HttpKept), ("h2", Metric::HttpKept), ("tls", Metric::TlsConnect)]
    {
        let (run, notes) = pinged(&format!("{scheme}://{place}"), &trust);
        check(&run, metric);
        assert_eq!(notes, [], "{scheme}");
        assert_eq!(
            (run.command.as_str(), run.history.unwrap().target),
            ("ping", format!("{scheme}://{place}"))
        );
    }
}

#[test]
fn requests_by_http3_share_a_connection_whatever_the_status() {
    for response in [OK, NOT_FOUND] {
        let (port, certificate) = Quic::start("h3", Some(response));
        let (run, notes) = pinged(&format!("h3://localhost:{port}/a"), &Trust::These(vec![certificate]));
        check(&run, Metric::HttpKept);
        assert_eq!(notes, []);
    }
}

#[test]
fn a_server_that_ends_each_connection_is_reported() {
    let (port, certificate) = Quic::start("h3", None);
    let (run, notes) = pinged(&format!("h3://localhost:{port}/"), &Trust::These(vec![certificate]));
    let series = run.series(&SeriesKey::of(Metric::HttpKept)).unwrap();
    assert_eq!(series.censored.len(), series.values.len(), "{series:?}");
    assert!(series.not_sent.contains_key(&NotSent::NotConnected), "{series:?}");
    assert!(
        matches!(&notes[..], [Note::PersistentConnectionBroke { message }] if message.contains("over")),
        "{notes:?}"
    );
}

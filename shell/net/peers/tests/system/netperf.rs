//! A stand-in of a netserver, which answers as the real one did, and netservers that do not.
use crate::stand_in::{check_load, kinds, protocol, send, test};
use fathom_client::TestError;
use fathom_peers::Trust;
use fathom_protocol::netperf::{MESSAGE_BYTES, Message};
use fathom_run::{Interruption, Metric, Note, SeriesKey};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

const GREETED: &[u8] = include_bytes!("../../../../../fuzz/corpus/other_protocols/netperf_greeted");
const RESPONSE: &[u8] = include_bytes!("../../../../../fuzz/corpus/other_protocols/netperf_response");

/// Starts a server that answers each control connection so, and returns its URL.
fn start(answer: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + Copy + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("netperf://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut control in listener.incoming().flatten() {
            // A probe ends its connection at once.
            std::thread::spawn(move || drop(answer(&mut control)));
        }
    });
    url
}

fn request(control: &mut TcpStream) -> io::Result<Message> {
    let mut request = [0; MESSAGE_BYTES];
    control.read_exact(&mut request).map(|()| request)
}

/// A test of `bytes` at most in each direction.
fn serve(control: &mut TcpStream, bytes: usize) -> io::Result<()> {
    let request = request(control)?;
    if request[3] == 2 {
        return control.write_all(GREETED);
    }
    assert_eq!((request[3], request[7], &request[160..166]), (97, 255, &b"cubic\0"[..]), "DO_OMNI");
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut response = RESPONSE.to_vec();
    response[54..56].copy_from_slice(&listener.local_addr()?.port().to_be_bytes());
    control.write_all(&response)?;
    let (mut data, _) = listener.accept()?;
    match request[107] {
        2 => send(&mut data, "", bytes).map(drop),
        4 => io::copy(&mut data.take(bytes as u64), &mut io::sink()).map(drop),
        other => panic!("direction {other}"),
    }
}

#[test]
fn a_netserver_carries_every_phase() {
    let url = start(|control| serve(control, usize::MAX));
    let run = test(&url, &Trust::Host).unwrap();
    assert_eq!((protocol(&run), kinds(&run).len()), ("netperf", 5));
    check_load(&run);
    assert!(run.notes.contains(&Note::OtherServer { protocol: "netperf".into(), takes_uploads: true }));
    for metric in [Metric::IcmpRtt, Metric::TcpConnect] {
        let series = run.series(&SeriesKey::of(metric));
        assert!(series.is_some_and(|s| s.values.len() >= 40), "{metric:?}: {:?}", run.notes);
    }
}

#[test]
fn a_netserver_that_ends_the_load_is_reported() {
    let run = test(&start(|control| serve(control, 2_000_000)), &Trust::Host).unwrap();
    let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    assert!(message.contains("the server closed the connection") || message.contains("reset"), "{message}");
    let load = run.phases.iter().find_map(|phase| phase.load.as_ref());
    assert!(load.is_some_and(|load| load.delivered_down_bytes > 1_000_000), "{:?}", run.phases);
}

#[test]
fn what_is_no_netserver_is_one_clear_error() {
    let error = |url: &str| {
        let result = test(url, &Trust::Host);
        let Err(TestError::Server { problem, .. }) = result else {
            panic!("{:?}", result.map(|r| r.partial))
        };
        problem
    };
    assert_eq!(error("netperf://127.0.0.1:1"), "refused the connection (is `netserver` running there?)");
    let closed = start(|_| Ok(()));
    assert_eq!(error(&closed), "the server closed the connection (with -Z: --token-file FILE)");
    // Each waits for a second request.
    let silent = start(|control| request(control).and_then(|_| request(control)).map(drop));
    assert!(error(&silent).contains("no response within 2s"), "{}", error(&silent));
    let old = start(|control| {
        request(control)?;
        control.write_all(&[0; 512])?;
        request(control).map(drop)
    });
    assert_eq!(error(&old), "512 bytes (netserver 2.6: 656)");
    let web = start(|control| request(control).and_then(|_| control.write_all(&[b'A'; MESSAGE_BYTES])));
    assert_eq!(error(&web), "not netperf");
}

#[test]
fn a_netserver_that_refuses_a_test_is_named() {
    fn refuse(control: &mut TcpStream, place: usize) -> io::Result<()> {
        if request(control)?[3] == 2 {
            return control.write_all(GREETED);
        }
        let mut response = RESPONSE.to_vec();
        response[place] = 13;
        control.write_all(&response)
    }
    let refused = start(|control| refuse(control, 7));
    let nowhere = start(|control| refuse(control, 52));
    for (url, expected) in [(refused, "errno 13"), (nowhere, "port 218150661 (expected 1 to 65535)")] {
        let run = test(&url, &Trust::Host).unwrap();
        let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else {
            panic!("{:?}", run.partial)
        };
        assert_eq!(message, expected);
    }
}

//! Recorded and arbitrary bytes.
mod bytes;

use fathom_protocol::crusader::{self, Arrival, Connection};
use fathom_protocol::iperf3::{Client, Cookie, Mode, Output, Plan};
use fathom_protocol::netperf::{self, NetperfError};
use fathom_protocol::stamp;
use fathom_units::Direction;
use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/other_protocols")
}

/// Recorded from iperf3 3.12: two streams of downloads.
#[test]
fn the_transcript_of_a_server_gives_its_results() {
    let plan = Plan { mode: Mode::Reverse, streams: 2, congestion_control: None, udp: None };
    let mut client = Client::new(plan, &Cookie::new([1; 36]));
    client.handle_input(&std::fs::read(corpus().join("iperf3_reverse")).unwrap());
    let outputs: Vec<Output> = std::iter::from_fn(|| client.poll_output()).collect();
    assert!(outputs.contains(&Output::OpenStreams) && outputs.contains(&Output::Running), "{outputs:?}");
    let Some(Output::Results(results)) = outputs.last() else { panic!("{outputs:?}") };
    assert!(results.streams.len() == 2 && results.streams.iter().all(|s| s.bytes > 1_000_000), "{results:?}");
}

/// Recorded from crusader after 0.3.2: three probes, the start of a load, the end of the test.
#[test]
fn the_transcript_of_a_control_connection_gives_arrivals() {
    let mut control = Connection::new(None);
    control.handle_input(&std::fs::read(corpus().join("crusader_control")).unwrap());
    let outputs: Vec<_> = std::iter::from_fn(|| control.poll_output()).skip(1).collect();
    let arrivals = [(0, 1_582_915), (1, 1_583_464), (2, 1_583_537)];
    let arrivals = arrivals.map(|(index, at_us)| Arrival { index, at_us }).to_vec();
    use crusader::Output::{Arrived, Joined, Scheduled, Send};
    let get = vec![4, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0];
    let none = || Arrived(Vec::new());
    assert_eq!(outputs, [Joined(0), Send(get), Arrived(arrivals), none(), Scheduled, none()]);
}

/// Recorded from netserver 2.7.1, whose own client sends these fields with other widths and flags.
#[test]
fn the_responses_of_a_netserver_give_its_port() {
    let message = |name: &str| *std::fs::read(corpus().join(name)).unwrap().first_chunk().unwrap();
    let (response, greeted) = (message("netperf_response"), message("netperf_greeted"));
    assert_eq!((netperf::data_port(&response), netperf::greeted(&greeted)), (Ok(46_853), Ok(())));
    let plan = netperf::Plan {
        direction: Direction::Up,
        is_v6: false,
        seconds: 1,
        congestion_control: Some("a name of 20 letters"),
    };
    let request = netperf::omni(&plan);
    let words: Vec<i32> = request.as_chunks().0.iter().map(|word| i32::from_be_bytes(*word)).collect();
    let fields = [97, -1, -1, -1, 8, 0, 0, -1, -1, -1, 8, 0, 0, -1, 0, 0, 1, 0, 0, -1, -1, -1, 0, 4, 1, 6, 4];
    assert_eq!(words[..27], fields);
    assert_eq!(&request[160..], [b"a name of 20 le\0".as_slice(), &[0; 480]].concat());
    assert_eq!(netperf::passphrase(&"x".repeat(700))[655], 0);
    let changed = |place: usize, value: u8| {
        let mut changed = response;
        changed[place] = value;
        netperf::data_port(&changed)
    };
    assert_eq!(changed(7, 13), Err(NetperfError::Server(13)));
    assert_eq!(changed(53, 1), Err(NetperfError::Port(65_536 + 46_853)));
    assert_eq!(netperf::data_port(&greeted), Err(NetperfError::Kind(3)));
}

/// Recorded from stamp-suite 1.0.0, a stateful reflector: its first reply, to a probe with the
/// number 9.
#[test]
fn the_reply_of_a_reflector_gives_its_times() {
    let reply = stamp::reply(&std::fs::read(corpus().join("stamp_reflected")).unwrap(), 0xabcd).unwrap();
    assert_eq!((reply.sequence, reply.own_sequence, reply.sent_ns - reply.received_ns), (9, 0, 56_023));
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    let mut count = 0;
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let whole = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=whole.len()).for_each(|cut| bytes::check(&whole[..cut]));
        count += 1;
    }
    assert!(count >= 15, "{count} files");
}

//! Properties of arbitrary bytes; the fuzz target `other_protocols` runs the same function.
use fathom_protocol::iperf3::{Client, Cookie, Mode, Output, Plan};
use fathom_protocol::measurement_lab::{SpeedTest, congestion_control, locate};
use fathom_protocol::network_quality;

/// # Panics
/// If a property is violated.
pub(crate) fn check(bytes: &[u8]) {
    let _ = network_quality::parse(bytes);
    let _ = core::str::from_utf8(bytes).map(congestion_control);
    let _ = locate(bytes, SpeedTest::Ndt7);
    let whole = follow(&[bytes]);
    for at in [1, bytes.len() / 2] {
        let (first, second) = bytes.split_at(at.min(bytes.len()));
        assert_eq!(follow(&[first, second]), whole, "split at {at}");
    }
    let ends = whole.iter().filter(|o| matches!(o, Output::Results(_) | Output::Failed(_)));
    assert_eq!(ends.count(), 1, "a test ends once: {whole:?}");
}

/// What a client does if the server sends these parts and closes the connection.
fn follow(parts: &[&[u8]]) -> Vec<Output> {
    let plan = Plan { mode: Mode::Bidirectional, streams: 1, congestion_control: None };
    let mut client = Client::new(plan, &Cookie::new([7; 36]));
    parts.iter().for_each(|part| client.handle_input(part));
    client.handle_close();
    std::iter::from_fn(|| client.poll_output()).collect()
}

//! Properties of arbitrary bytes; the fuzz target `other_protocols` runs the same function.
use fathom_protocol::iperf3::{Client, Cookie, Mode, Output, Plan, server};
use fathom_protocol::measurement_lab::{SpeedTest, congestion_control, locate};
use fathom_protocol::network_quality;

/// # Panics
/// If a property is violated.
pub(crate) fn check(bytes: &[u8]) {
    let _ = network_quality::parse(bytes);
    let _ = core::str::from_utf8(bytes).map(congestion_control);
    let _ = locate(bytes, SpeedTest::Ndt7);
    let served = serve(&[bytes]);
    let whole = follow(&[bytes]);
    for at in [1, bytes.len() / 2] {
        let (first, second) = bytes.split_at(at.min(bytes.len()));
        assert_eq!(follow(&[first, second]), whole, "split at {at}");
        assert_eq!(serve(&[first, second]), served, "split at {at}");
    }
    let ends = whole.iter().filter(|o| matches!(o, Output::Results(_) | Output::Failed(_)));
    assert_eq!(ends.count(), 1, "a test ends once: {whole:?}");
}

/// What a server does if a client sends these parts and closes the connection.
fn serve(parts: &[&[u8]]) -> Vec<server::Output> {
    let mut server = server::Server::default();
    let mut outputs = Vec::new();
    for part in parts {
        server.handle_input(part);
        while let Some(output) = server.poll_output() {
            match output {
                server::Output::AwaitStreams(_) => server.start(),
                server::Output::Stop => server.report(&[], "cubic", 1.0),
                _ => {}
            }
            outputs.push(output);
        }
    }
    server.handle_close();
    outputs.extend(std::iter::from_fn(|| server.poll_output()));
    let ends = |output: &&server::Output| matches!(output, server::Output::Done | server::Output::Failed(_));
    assert_eq!(outputs.iter().filter(ends).count(), 1, "a test ends once: {outputs:?}");
    outputs
}

/// What a client does if the server sends these parts and closes the connection.
fn follow(parts: &[&[u8]]) -> Vec<Output> {
    let plan = Plan { mode: Mode::Bidirectional, streams: 1, congestion_control: None };
    let mut client = Client::new(plan, &Cookie::new([7; 36]));
    parts.iter().for_each(|part| client.handle_input(part));
    client.handle_close();
    std::iter::from_fn(|| client.poll_output()).collect()
}

//! Captures of UDP through a queue, with pings in the same file; see testdata/trace/udp.
use crate::capture::{each_packet, lab_folder, read};
use fathom_bottleneck::QueueWatch;
use fathom_flow::Tracer;
use fathom_run::{Capture, CapturedQueue, DelayedParty, ProbedDelay};

/// The link's rate in bit/s and its buffer in bytes, both in Ethernet frames.
const RATE: f64 = 3e6;
const BUFFER: f64 = 375_000.0;

/// Analyzes the packets of a capture, or only those of UDP.
fn analyse(name: &str, has_pings: bool) -> Capture {
    let file = read(&lab_folder().join(format!("../udp/{name}.pcap.gz")));
    let mut tracer = Tracer::new(QueueWatch::new());
    each_packet(&file, |times, packet| {
        let is_udp = matches!(packet.transport, fathom_capture::Transport::Udp(_));
        if has_pings || is_udp {
            tracer.packet(times, packet);
        }
    });
    let (flows, watch) = tracer.finish();
    *fathom_capture_run::run(Vec::new(), &flows, &watch.finish()).capture.unwrap()
}

fn only(capture: &Capture) -> (&CapturedQueue, &ProbedDelay) {
    assert_eq!(capture.queues.len(), 1, "{:?}", capture.queues);
    (&capture.queues[0], capture.queues[0].probed.as_ref().unwrap())
}

fn is_near(value: f64, truth: f64, ratio: f64) -> bool {
    (value / truth - 1.0).abs() < ratio
}

#[test]
fn pings_show_the_queue_that_udp_fills() {
    let capture = analyse("bulk-sender", true);
    let (queue, probed) = only(&capture);
    let full_s = 8.0 * BUFFER / RATE;
    assert!(is_near(queue.delay.p95_s, full_s, 0.02), "{:?}", queue.delay);
    assert!(is_near(probed.min_s, 0.012, 0.02) && probed.is_base_idle, "{probed:?}");
    let load = &probed.loads[0];
    assert_eq!((load.from.as_str(), load.to.as_str()), ("10.0.0.1:15001", "10.0.2.2:5001"));
    assert!(is_near(load.bits_per_second, 3.3e6, 0.01) && !load.is_arriving, "{load:?}");
    // Ahead of the queue, the rate of the link does not show.
    assert_eq!((queue.rate_bits_per_second, queue.buffer_bytes), (None, None));
}

#[test]
fn arrivals_behind_the_queue_show_its_rate() {
    let capture = analyse("bulk-receiver", true);
    let (queue, probed) = only(&capture);
    assert!(probed.loads[0].is_arriving, "{probed:?}");
    let rate = queue.rate_bits_per_second.unwrap().value;
    assert!(is_near(rate, RATE, 0.01), "{rate}");
    let reached = queue.buffer_bytes.unwrap().value;
    assert!(is_near(reached, BUFFER, 0.02) && !queue.was_full, "{reached}");
}

/// A call sends as long as the bulk flow, but small packets: it waited and did not fill the queue.
#[test]
fn a_call_waits_and_does_not_fill_the_queue() {
    let capture = analyse("call-sender", true);
    let (queue, probed) = only(&capture);
    assert_eq!(probed.loads.len(), 1, "{:?}", probed.loads);
    assert_eq!(probed.loads[0].from, "10.0.0.1:15001");
    let call = DelayedParty::Datagrams { from: "10.0.0.1:14000".into(), to: "10.0.2.2:4000".into() };
    assert_eq!(queue.delayed.iter().map(|delayed| &delayed.who).collect::<Vec<_>>(), [&call]);
}

#[test]
fn udp_below_the_rate_of_the_link_fills_no_queue() {
    let capture = analyse("healthy-sender", true);
    let (queue, probed) = only(&capture);
    assert!(queue.delay.p95_s < 0.001, "{:?}", queue.delay);
    assert!(is_near(probed.loads[0].bits_per_second, 1.5e6, 0.02), "{probed:?}");
}

/// A UDP packet does not say when it was sent.
#[test]
fn without_pings_there_are_rates_but_no_delay() {
    let capture = analyse("bulk-sender", false);
    assert_eq!(capture.queues, []);
    let flow = &capture.datagrams[0];
    assert_eq!(flow.to, "10.0.2.2:5001");
    assert!(is_near(flow.bits_per_second(), 3.3e6, 0.01), "{flow:?}");
}

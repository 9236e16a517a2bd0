//! Small captures with ground truth in testdata/trace/lab: real TCP on an emulated line.
use crate::capture::{each_packet, lab, lab_folder};
use fathom_bottleneck::QueueWatch;
use fathom_flow::Tracer;
use fathom_run::{Capture, CapturedQueue, QueueManagement, QueuePlace, Retransmissions};

struct Truth {
    name: String,
    place: String,
    ends: [String; 2],
    management: String,
    rate: f64,
    buffer: Option<f64>,
    again: u64,
    /// Retransmissions that the kernel attributes to SACK (including RACK).
    fast: u64,
}

fn truths() -> Vec<Truth> {
    let text = std::fs::read_to_string(lab_folder().join("truth.txt")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &str| {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let [name, place, from, to, management, rate, buffer, _held, _drops, again, fast, _timer] =
            &words[..]
        else {
            panic!("a row of other columns: {line}");
        };
        Truth {
            name: name.clone(),
            place: place.clone(),
            ends: [from.clone(), to.clone()],
            management: management.clone(),
            rate: rate.parse().unwrap(),
            buffer: buffer.parse().ok(),
            again: again.parse().unwrap(),
            fast: fast.parse().unwrap(),
        }
    };
    rows.map(row).collect()
}

fn analyse(name: &str) -> Capture {
    let mut tracer = Tracer::new(QueueWatch::new());
    each_packet(&lab(name), |times, packet| tracer.packet(times, packet));
    let (flows, watch) = tracer.finish();
    *fathom_capture_run::run(Vec::new(), &flows, &watch.finish()).capture.unwrap()
}

fn sent_again(capture: &Capture) -> Vec<Retransmissions> {
    capture.flows.iter().flat_map(|flow| flow.sent.iter().map(|side| side.retransmissions)).collect()
}

#[test]
fn retransmissions_are_counted_and_sack_is_not_overcounted() {
    for truth in truths() {
        let sides = sent_again(&analyse(&truth.name));
        let again: u64 = sides.iter().map(Retransmissions::packets).sum();
        assert_eq!(again, truth.again, "{}: {sides:?}", truth.name);
        let fast: u64 = sides.iter().map(|side| side.fast_packets).sum();
        assert!(fast <= truth.fast, "{}: {fast} of {} by SACK", truth.name, truth.fast);
    }
}

/// Captures of the line's queue. The queue in the host is kept short by its kernel.
fn of_the_line() -> impl Iterator<Item = (Truth, CapturedQueue)> {
    truths().into_iter().filter(|truth| truth.place != "in_sender").map(|truth| {
        let queue = analyse(&truth.name).queues.into_iter().next();
        let queue = queue.unwrap_or_else(|| panic!("{}: no queue", truth.name));
        (truth, queue)
    })
}

#[test]
fn location_and_direction_are_those_of_the_line() {
    for (truth, queue) in of_the_line() {
        let place = match queue.place {
            QueuePlace::InSender => "in_sender",
            QueuePlace::BeforeCapture => "before_capture",
            QueuePlace::AfterCapture => "after_capture",
            // Without timestamps the location cannot be determined from one file.
            QueuePlace::RoundTrip => &truth.place,
        };
        assert_eq!(place, truth.place, "{}", truth.name);
        assert_eq!([queue.from, queue.to], truth.ends, "{}", truth.name);
    }
}

#[test]
fn rate_and_buffer_are_those_of_the_line() {
    for (truth, queue) in of_the_line() {
        let rate = queue.rate_bits_per_second.unwrap_or_else(|| panic!("{}: no rate", truth.name)).value;
        assert!((rate / truth.rate - 1.0).abs() < 0.01, "{}: {rate} bit/s", truth.name);
        if let (Some(told), Some(limit)) = (queue.buffer_bytes, truth.buffer) {
            // At this rate a packet is 2.4 % of the buffer.
            assert!((told.value - limit).abs() < 0.02 * limit + 2.0 * 1514.0, "{}: {told:?}", truth.name);
        }
    }
}

#[test]
fn management_is_that_of_the_line_or_unknown() {
    for (truth, queue) in of_the_line() {
        let told = match queue.management.map(|management| management.kind) {
            Some(QueueManagement::TailDrop) => "tail_drop",
            Some(QueueManagement::Red) => "red",
            Some(QueueManagement::Codel) => "codel",
            Some(QueueManagement::FairQueueing) => "fair_queueing",
            Some(QueueManagement::NoneSeen) | None => &truth.management,
        };
        assert_eq!(told, truth.management, "{}", truth.name);
    }
}

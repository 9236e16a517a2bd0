//! Echo requests through two queues in a row, that of the upload and that of the download, and
//! bursts after a test.
use crate::line::BLOATED;
use fathom_burst::{BurstPlan, BurstPlanner};
use fathom_diagnose::{Diagnosis, Health, diagnose};
use fathom_run::{BufferLimit, BufferSize, Burst, Certainty, Conclusion, ManagementRule, PhaseKind, Reason};
use fathom_units::{Bytes, Direction};

/// Sent after a burst, and the pause between two bursts.
const AFTER: u32 = 40;
const PAUSE_NS: u64 = 60_000_000_000;
const DELAY_NS: u64 = 10_000_000;

/// A link with tail drop: when it is idle again, ns for a byte, and bytes of its buffer.
#[derive(Clone, Copy)]
struct Link {
    free_at: u64,
    byte_ns: f64,
    limit: f64,
}

impl Link {
    fn new(bits_per_second: f64, limit: f64) -> Self {
        Link { free_at: 0, byte_ns: 8e9 / bits_per_second, limit }
    }
    /// When a packet leaves; `None` if the buffer is full.
    fn pass(&mut self, at: u64, bytes: f64) -> Option<u64> {
        let waits = self.free_at.saturating_sub(at) as f64;
        let has_room = waits / self.byte_ns + bytes <= self.limit;
        has_room.then(|| {
            self.free_at = self.free_at.max(at) + (bytes * self.byte_ns) as u64;
            self.free_at
        })
    }
}

fn send(plan: &BurstPlan, start: u64, [up, down]: &mut [Link; 2], answers: u32) -> Burst {
    let numbers = 0..plan.before + plan.count + AFTER;
    // A host needs 2 us for a datagram.
    let sent = |number: u32| start + plan.offset(number).as_nanos() + u64::from(number) * 2_000;
    let bytes = f64::from(plan.payload_bytes + 42);
    let mut answered = 0;
    let reply = |number: u32| {
        let arrived = up.pass(sent(number), bytes)?;
        let is_dense = (plan.before..plan.before + plan.count).contains(&number);
        answered += u32::from(is_dense);
        let is_answered = plan.is_echoed(number) && (!is_dense || answered <= answers);
        let returned = is_answered.then(|| down.pass(arrived, bytes)).flatten();
        returned.map(|at| at + DELAY_NS)
    };
    Burst {
        direction: Direction::Up,
        payload_bytes: plan.payload_bytes,
        header_bytes: 28,
        before: plan.before,
        count: plan.count,
        sent_ns: numbers.clone().map(sent).collect(),
        received_ns: numbers.map(reply).collect(),
        is_complete: true,
        echo_every: plan.echo_every,
        ecn: 0,
        ce: Vec::new(),
    }
}

/// The diagnosis of echo requests to a host that answers so many of a burst.
fn measure(mut links: [Link; 2], answers: u32) -> Diagnosis {
    let (mut planner, mut start) = (BurstPlanner::echo(Bytes(40_000_000)), 0);
    let mut run = BLOATED.run();
    (run.phases, run.series) = (Vec::new(), Vec::new());
    while let Some(plan) = planner.next_burst() {
        let burst = send(&plan, start, &mut links, answers);
        start = burst.sent_ns.last().expect("a burst") + PAUSE_NS;
        planner.add(&burst);
        run.bursts.push(burst);
    }
    diagnose(&run)
}

#[test]
fn the_buffer_of_an_upload_is_certain() {
    let diagnosis = measure([Link::new(5e6, 256_000.0), Link::new(50e6, 256_000.0)], u32::MAX);
    let [finding] = diagnosis.findings.as_slice() else { panic!("{:?}", diagnosis.findings) };
    let Conclusion::MeasuredBuffer(buffer) = &finding.conclusion else { panic!("{finding:?}") };
    assert_eq!((finding.direction, finding.certainty), (Some(Direction::Up), Certainty::Certain));
    assert_eq!((diagnosis.health, buffer.rule), (Health::Bloated, Some(ManagementRule::TailDrop)));
    assert!((buffer.bytes.value / 256_000.0 - 1.0).abs() < 0.05, "{buffer:?}");
}

/// Then the buffer is that of either direction: no verdict, and no shaper is advised.
#[test]
fn replies_that_wait_have_no_direction() {
    let diagnosis = measure([Link::new(50e6, 256_000.0), Link::new(5e6, 256_000.0)], u32::MAX);
    let [finding] = diagnosis.findings.as_slice() else { panic!("{:?}", diagnosis.findings) };
    assert_eq!((finding.direction, finding.certainty), (None, Certainty::Possible));
    assert_eq!(diagnosis.health, Health::Inconclusive);
    assert_eq!(diagnosis.reason, Some(Reason::UnknownDirection));
    let Conclusion::MeasuredBuffer(buffer) = &finding.conclusion else { panic!("{finding:?}") };
    assert_eq!((buffer.rule, buffer.is_bloated), (None, false));
    assert!(diagnosis.advice.is_empty() && finding.remedies.is_empty(), "{finding:?}");
}

#[test]
fn a_host_that_limits_its_replies_gives_no_verdict() {
    let diagnosis = measure([Link::new(10e9, 1e9), Link::new(10e9, 1e9)], 20);
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    assert_eq!((diagnosis.health, diagnosis.reason), (Health::Inconclusive, Some(Reason::RepliesLimited)));
}

/// The size of the upload's buffer after a test over a line of 3 Mbit/s with a queue of 1 s, and
/// bursts of `budget` over a link with a buffer of this size.
fn checked(buffer_bytes: f64, budget: u64) -> (BufferSize, Certainty) {
    let mut run = BLOATED.run();
    // With load in both directions, it alone shows what the buffer counts.
    run.phases.retain(|phase| phase.kind != PhaseKind::Both);
    let (mut planner, mut start) =
        (BurstPlanner::check(Bytes(budget)), run.phases.last().expect("a phase").end_ns);
    let mut links = [Link::new(3.03e6, buffer_bytes), Link::new(1e9, 1e9)];
    while let Some(plan) = planner.next_burst() {
        let burst = send(&plan, start, &mut links, u32::MAX);
        start = burst.sent_ns.last().expect("a burst") + PAUSE_NS;
        planner.add(&burst);
        run.bursts.push(burst);
    }
    let diagnosis = diagnose(&run);
    assert_eq!(diagnosis.health, Health::Bloated);
    let sizes = diagnosis.findings.iter().filter(|finding| finding.direction == Some(Direction::Up));
    let mut found = sizes.filter_map(|finding| match &finding.conclusion {
        Conclusion::BufferSize(size) => Some((size.clone(), finding.certainty)),
        _ => None,
    });
    found.next().expect("a size")
}

#[test]
fn bursts_confirm_a_size_and_show_what_the_buffer_counts() {
    let (size, certainty) = checked(375_000.0, 10_000_000);
    let check = size.check.expect("a check");
    assert!(check.agrees && !check.is_lower_bound, "{check:?}");
    assert!((check.ip_bytes / size.ip_bytes - 1.0).abs() < 0.05, "{check:?}, {}", size.ip_bytes);
    assert_eq!((size.limit, certainty), (Some(BufferLimit::Bytes), Certainty::Certain));
}

#[test]
fn bursts_that_contradict_a_size_make_it_uncertain() {
    for (bytes, budget, is_lower_bound) in [(150_000.0, 10_000_000, false), (9e6, 1_600_000, true)] {
        let (size, certainty) = checked(bytes, budget);
        let check = size.check.expect("a check");
        assert_eq!((check.agrees, check.is_lower_bound), (false, is_lower_bound), "{check:?}");
        assert_eq!((size.limit, certainty), (None, Certainty::Possible));
    }
    // A burst that ends before the buffer is full says nothing.
    let (size, certainty) = checked(375_000.0, 300_000);
    assert_eq!((size.check, certainty), (None, Certainty::Certain));
}

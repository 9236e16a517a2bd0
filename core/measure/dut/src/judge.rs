//! What the arrivals of a test show.
use crate::{Record, StreamRecord};
use alloc::vec::Vec;
use core::ops::Range;
use fathom_run::{PortStream, PortTest, PortTestKind};
use fathom_stats::{median, percentile};

/// A frame was lost at a full buffer if the one before it waited for this share of the longest
/// wait: a link may lose one at any time.
const FULL: f64 = 0.8;
/// Percentile of the longest delay: a busy host delays a few frames.
const LONGEST: f64 = 0.98;

/// The result of a test, over the time when the buffer was full, if it was.
pub(crate) fn judge(kind: PortTestKind, record: &Record) -> PortTest {
    let loads = || record.streams.iter().filter(|stream| !stream.plan.is_ping());
    let start_ns = loads().flat_map(StreamRecord::load).map(|(_, sent, _)| sent).min().unwrap_or(0);
    let last_ns = loads().flat_map(StreamRecord::load).filter_map(|(_, _, at)| at).max().unwrap_or(0);
    let full_ns = loads().filter_map(full_ns).min();
    let window = match kind {
        PortTestKind::Overload | PortTestKind::SmallFrames | PortTestKind::HeadOfLine => {
            // Without a loss, the queue may have grown until the end.
            let middle_ns = start_ns + record.load_end_ns.saturating_sub(start_ns) / 2;
            full_ns.unwrap_or(middle_ns)..record.load_end_ns + 1
        }
        _ => 0..record.load_end_ns + 1,
    };
    let is_early =
        |(_, sent, at): &(u32, u64, Option<u64>)| at.is_none() && full_ns.is_none_or(|full| *sent < full);
    PortTest {
        kind,
        early_packets: loads().flat_map(StreamRecord::load).filter(is_early).count() as u64,
        fill_s: full_ns.map(|full| full.saturating_sub(start_ns) as f64 / 1e9),
        drain_s: last_ns.saturating_sub(record.load_end_ns) as f64 / 1e9,
        streams: record.streams.iter().map(|stream| summary(stream, &window)).collect(),
    }
}

/// When a full buffer lost the first frame of a load.
fn full_ns(stream: &StreamRecord) -> Option<u64> {
    let waits = || {
        let base = shortest_ns(stream).unwrap_or(0);
        stream.load().map(move |(_, sent, received)| (sent, received.map(|at| at - sent - base)))
    };
    let mut all: Vec<f64> = waits().filter_map(|(_, wait)| Some(wait? as f64)).collect();
    let full = FULL * percentile(&mut all, LONGEST)?;
    let mut before = 0;
    for (sent, wait) in waits() {
        match wait {
            Some(wait) => before = wait,
            None if before as f64 >= full => return Some(sent),
            None => {}
        }
    }
    None
}

fn shortest_ns(stream: &StreamRecord) -> Option<u64> {
    stream.frames().filter_map(|(_, sent, received)| Some(received? - sent)).min()
}

fn summary(stream: &StreamRecord, window: &Range<u64>) -> PortStream {
    let is_ping = stream.plan.is_ping();
    let counts = |(number, sent, _): &(u32, u64, Option<u64>)| {
        window.contains(sent) && (is_ping || stream.plan.is_load(*number))
    };
    let frames: Vec<(u32, u64, Option<u64>)> = stream.frames().filter(counts).collect();
    let mut delays: Vec<f64> =
        frames.iter().filter_map(|(_, sent, received)| Some(((*received)? - sent) as f64 / 1e9)).collect();
    PortStream {
        from: stream.plan.from as u32,
        to: stream.plan.to as u32,
        is_ping,
        frame_bytes: stream.frame_bytes(),
        sent_packets: frames.len() as u64,
        lost_packets: (frames.len() - delays.len()) as u64,
        delay_p50_s: median(delays.iter().copied()),
        delay_p98_s: percentile(&mut delays, LONGEST),
    }
}

/// Number of frames of a load that were sent before the first one that was lost; `None` if all
/// arrived.
pub(crate) fn sent_before_loss(record: &Record) -> Option<u64> {
    let mut all: Vec<(u64, bool)> = record
        .streams
        .iter()
        .flat_map(StreamRecord::load)
        .map(|(_, sent, at)| (sent, at.is_none()))
        .collect();
    all.sort_unstable();
    all.iter().position(|(_, is_lost)| *is_lost).map(|at| at as u64)
}

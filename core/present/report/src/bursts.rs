//! The table of bursts that measured buffers.
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Burst, Run};
use fathom_text::{milliseconds_bare, thousands};

/// Headings of [`burst_rows`].
pub(crate) const BURST_HEADINGS: [&str; 6] =
    ["burst", "datagrams", "size", "sent in", "lost", "longest wait"];
/// Their units.
pub(crate) const BURST_UNITS: [&str; 6] = ["", "", "bytes", "ms", "", "ms"];

/// A row for each burst.
pub(crate) fn burst_rows(run: &Run) -> Vec<[String; 6]> {
    run.bursts.iter().map(row).collect()
}

fn row(burst: &Burst) -> [String; 6] {
    let from = burst.before as usize;
    let count = burst.count as usize;
    let sent = burst.sent_ns.iter().skip(from).take(count);
    let (first, last) = (sent.clone().min().copied().unwrap_or(0), sent.max().copied().unwrap_or(0));
    let longest_s = fathom_burst::waits(burst).iter().map(|(_, wait_s)| *wait_s).fold(0.0, f64::max);
    [
        burst.direction.name().to_string(),
        thousands(count as f64),
        thousands(f64::from(burst.payload_bytes)),
        milliseconds_bare((last - first) as f64 / 1e9),
        thousands(burst.lost().into()),
        milliseconds_bare(longest_s),
    ]
}

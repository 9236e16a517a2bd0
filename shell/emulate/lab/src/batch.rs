//! Packets that leave the line together, joined into super-packets where the receiving kernel
//! accepts that.
use crate::capture::Seen;
use crate::slice::{Buffer, Slice};
use fathom_os::clock::Clock;
use fathom_os::tun::Tun;
use fathom_stats::DelayHistogram;
use fathom_units::Time;
use fathom_wire::{MAX_HEADER_BYTES, Rewrite};
use std::io::{self, IoSlice};
use std::ops::Range;
use std::rc::Rc;

/// Number of recent runs searched for one that a packet continues. If more flows leave at once,
/// fewer packets are joined.
const LOOK_BACK: usize = 32;

/// Adjacent segments of one super-packet with the same changes.
#[derive(Debug)]
struct Joined {
    buffer: Rc<Buffer>,
    flow: u64,
    segments: Range<usize>,
    change: Rewrite,
}

/// Packets leaving the line in one direction.
#[derive(Default, Debug)]
pub(crate) struct Batch {
    runs: Vec<Joined>,
    /// For each packet, its run and the time when the line released it.
    due: Vec<(usize, Time)>,
}

impl Batch {
    /// Adds `slice`, released by the line at `due`.
    pub(crate) fn push(&mut self, slice: &Slice, due: Time) {
        let run = self.continued_by(slice).unwrap_or_else(|| self.begin(slice));
        self.runs[run].segments.end = slice.segment() + 1;
        self.due.push((run, due));
    }
    /// The run that `slice` continues: the last of its flow, if it ends where `slice` begins.
    /// Joining an earlier one would undo a reordering.
    fn continued_by(&self, slice: &Slice) -> Option<usize> {
        let recent = self.runs.len().saturating_sub(LOOK_BACK);
        let last = recent + self.runs[recent..].iter().rposition(|run| run.flow == slice.flow())?;
        let run = &self.runs[last];
        let continues = Rc::ptr_eq(&run.buffer, slice.buffer())
            && run.segments.end == slice.segment()
            && run.change == slice.change();
        continues.then_some(last)
    }
    fn begin(&mut self, slice: &Slice) -> usize {
        let segments = slice.segment()..slice.segment();
        let (buffer, flow, change) = (Rc::clone(slice.buffer()), slice.flow(), slice.change());
        self.runs.push(Joined { buffer, flow, segments, change });
        self.runs.len() - 1
    }

    /// Discards all packets and returns their number.
    pub(crate) fn discard(&mut self) -> u64 {
        self.runs.clear();
        self.due.drain(..).count() as u64
    }
    /// Writes all packets to `tun` and passes each run with its time to `watch`. Records the
    /// lateness of each packet and returns how many the kernel refused.
    pub(crate) fn write(
        &mut self,
        tun: &Tun,
        clock: Clock,
        lateness: &mut DelayHistogram,
        mut watch: impl FnMut(&Seen<'_>, Time),
    ) -> u64 {
        let mut refused = 0;
        let mut handed_over = Vec::with_capacity(self.runs.len());
        for run in self.runs.drain(..) {
            let now = clock.now();
            handed_over.push(now);
            let Joined { buffer, segments, change, .. } = &run;
            watch(&Seen { buffer, segments: segments.clone(), change: *change }, now);
            if write_run(tun, &run).is_err() {
                refused += run.segments.len() as u64;
            }
        }
        for (run, due) in self.due.drain(..) {
            lateness.record(handed_over[run].saturating_since(due));
        }
        refused
    }
}

fn write_run(tun: &Tun, run: &Joined) -> io::Result<()> {
    let mut header = [0; MAX_HEADER_BYTES];
    let made = run.buffer.rewrite(run.segments.clone(), run.change, &mut header);
    let (vnet, packet) = (made.vnet.encode(), run.buffer.packet());
    tun.write(&[
        IoSlice::new(&vnet),
        IoSlice::new(&header[..made.header_len]),
        IoSlice::new(&packet[made.payload]),
    ])
}

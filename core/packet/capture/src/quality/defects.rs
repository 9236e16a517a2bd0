//! Converts counts to defects.
use super::{Quality, Steps};
use crate::LinkType;
use alloc::vec::Vec;
use fathom_run::CaptureDefect;

/// With a coarser clock delays are uncertain.
const COARSE_NS: u64 = 1000;

impl Quality {
    /// The defects of the capture.
    pub fn defects(&self) -> Vec<CaptureDefect> {
        let step_ns = self.true_resolution_ns();
        let all = [
            self.emptiness(),
            (self.lost > 0)
                .then_some(CaptureDefect::DroppedFrames { dropped_frames: self.lost, frames: self.frames }),
            (self.cut_headers > 0).then_some(CaptureDefect::CutHeaders {
                frames: self.cut_headers,
                stored_bytes: self.cut_at as u64,
            }),
            steps(self.steps_back, |count, max_ns, frame| CaptureDefect::ClockStepsBack {
                count,
                max_ns,
                frame,
            }),
            steps(self.leaps, |count, max_ns, frame| CaptureDefect::ClockSet { count, max_ns, frame }),
            (step_ns > COARSE_NS).then_some(CaptureDefect::CoarseClock { step_ns }),
            steps(self.gaps, |count, max_ns, frame| CaptureDefect::Gaps { count, max_ns, frame }),
            (self.super_packets > 0).then_some(CaptureDefect::SuperPackets {
                packets: self.super_packets,
                max_bytes: u64::from(self.longest_bytes),
            }),
            self.copies_found(),
            (self.encrypted > 0).then_some(CaptureDefect::Encrypted { frames: self.encrypted }),
            self.unknown_link
                .map(|(LinkType(link_type), frames)| CaptureDefect::UnknownLinkType { link_type, frames }),
            (self.untimed > 0).then_some(CaptureDefect::Untimed { frames: self.untimed }),
        ];
        all.into_iter().flatten().collect()
    }
    fn emptiness(&self) -> Option<CaptureDefect> {
        let unreadable = self.encrypted + self.cut_headers + self.unknown_link.map_or(0, |(_, count)| count);
        match self.frames {
            0 => Some(CaptureDefect::Empty),
            frames if self.not_ip == frames && unreadable == 0 => Some(CaptureDefect::NoIp { frames }),
            _ => None,
        }
    }
    fn copies_found(&self) -> Option<CaptureDefect> {
        match self.found_copies {
            0 if !self.has_duplicates() => None,
            0 => Some(CaptureDefect::Duplicates { packets: self.duplicates(), is_estimate: true }),
            packets => Some(CaptureDefect::Duplicates { packets, is_estimate: false }),
        }
    }
}

fn steps(seen: Steps, defect: fn(u64, u64, u64) -> CaptureDefect) -> Option<CaptureDefect> {
    let Steps { count, largest_ns, frame } = seen;
    (count > 0).then(|| defect(count, largest_ns, frame))
}

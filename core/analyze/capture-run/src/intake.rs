//! Frames of a capture to packets, each once, and to what is known about the file.
use alloc::collections::BTreeMap;
use alloc::string::String;
use fathom_capture::{
    Audience, Contents, Frame, NotIp, Packet, Quality, audience, dissect, dissect_fast, vlan,
};
use fathom_flow::Times;
use fathom_run::{CaptureDefect, CaptureSource, FrameCount, VlanCount};

/// Dissects the frames of one capture.
#[derive(Debug, Default)]
pub struct Intake {
    quality: Quality,
    broadcast: FrameCount,
    multicast: FrameCount,
    vlans: BTreeMap<u16, FrameCount>,
}

impl Intake {
    /// Creates an intake for a new capture.
    pub fn new() -> Self {
        Intake { quality: Quality::new(), ..Intake::default() }
    }
    /// Passes the packet of frame `number` to `visit`, unless the frame is a copy of an earlier one
    /// or has no packet.
    #[inline(always)]
    pub fn frame(&mut self, number: u64, frame: &Frame<'_>, visit: &mut impl FnMut(Times, &Packet<'_>)) {
        match dissect_fast(frame.link, frame.original_len, frame.bytes) {
            Some(packet) => self.take(number, frame, &Ok(packet), visit),
            None => self.take_unusual(number, frame, visit),
        }
    }
    /// Counts a frame, and passes its packet to `visit` unless it is a copy.
    #[inline(always)]
    fn take(
        &mut self,
        number: u64,
        frame: &Frame<'_>,
        found: &Result<Packet<'_>, NotIp>,
        visit: &mut impl FnMut(Times, &Packet<'_>),
    ) {
        let quality = &mut self.quality;
        quality.frame(number, frame, found);
        if let Ok(packet) = found
            && !quality.is_copy(frame, packet)
        {
            visit(Times { at: quality.steadied(frame.at), frame: number }, packet);
        }
    }
    /// Takes a frame that the fast dissection does not handle. A separate function keeps the fast
    /// path small and inlined.
    #[inline(never)]
    fn take_unusual(&mut self, number: u64, frame: &Frame<'_>, visit: &mut impl FnMut(Times, &Packet<'_>)) {
        self.count(frame);
        self.take(number, frame, &dissect(frame.link, frame.original_len, frame.bytes), visit);
    }
    /// Counts what the fast dissection never takes: frames for several hosts, or with a VLAN tag.
    fn count(&mut self, frame: &Frame<'_>) {
        let wire_bytes = u64::from(frame.original_len);
        match audience(frame) {
            Some(Audience::Broadcast) => self.broadcast.add(wire_bytes),
            Some(Audience::Multicast) => self.multicast.add(wire_bytes),
            None => {}
        }
        if let Some(id) = vlan(frame) {
            self.vlans.entry(id).or_default().add(wire_bytes);
        }
    }
    /// The source `name` and the timestamp of its first frame. `unread` is why the rest of the file
    /// could not be read, if it could not.
    pub fn finish(
        mut self,
        name: String,
        contents: &Contents,
        unread: Option<String>,
    ) -> (CaptureSource, i64) {
        contents.tell(&mut self.quality);
        let quality = self.quality;
        let (first_at, last_at) = quality.from_to();
        let unreadable = unread.map(|message| CaptureDefect::Unreadable { message });
        let source = CaptureSource {
            name,
            frames: quality.frames,
            wire_bytes: quality.wire_bytes,
            duration_s: last_at.saturating_sub(first_at).max(0) as f64 / 1e9,
            broadcast: self.broadcast,
            multicast: self.multicast,
            vlans: self.vlans.into_iter().map(|(id, count)| VlanCount { id, count }).collect(),
            defects: quality.defects().into_iter().chain(unreadable).collect(),
        };
        (source, first_at)
    }
}

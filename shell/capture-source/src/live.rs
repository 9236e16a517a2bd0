//! Frames of an interface as they pass.
use crate::{InputEnd, ReadFault, SourceError};
use fathom_capture::{Frame, LinkType, Statistics};
use fathom_os::poll::{PollFd, wait};
use fathom_os::ring::{Framing, Passage, Ring};
use fathom_units::Duration;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

/// Least bytes of a frame to keep: Ethernet, two tags, IPv6 and the longest TCP header have 122. With a tunnel it is more.
const MIN_SNAPLEN: u32 = 128;
/// The longest that `tcpdump` keeps too.
const MAX_SNAPLEN: u32 = 65_535;
/// How long it takes until the flag is seen when nothing passes.
const PATIENCE: Duration = Duration::from_millis(100);

/// An interface on which packets are captured.
#[derive(Debug)]
pub struct Live {
    ring: Ring,
    link: LinkType,
    frames: u64,
    bytes: u64,
    /// A frame in the making, where the ring gives it without its header.
    cooked: Vec<u8>,
}

/// Bytes of the header of [`LinkType::LINUX_SLL2`].
const COOKED_BYTES: usize = 20;

impl Live {
    /// Captures on `interface`, or all of them (`any`), from now on, `snaplen` bytes of each frame, or the nearest to it of 128 to 65 535.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn open(interface: &str, snaplen: u32) -> Result<Live, SourceError> {
        let ring =
            Ring::open(interface, snaplen.clamp(MIN_SNAPLEN, MAX_SNAPLEN)).map_err(SourceError::Interface)?;
        let link = match ring.framing() {
            Framing::Ethernet => LinkType::ETHERNET,
            Framing::Radiotap => LinkType::RADIOTAP,
            Framing::Ieee80211 => LinkType::IEEE802_11,
            Framing::Ip => LinkType::RAW,
            Framing::Cooked => LinkType::LINUX_SLL2,
        };
        Ok(Live { ring, link, frames: 0, bytes: 0, cooked: Vec::new() })
    }
    /// What the frames begin with.
    pub const fn link(&self) -> LinkType {
        self.link
    }
    /// Hands each frame with its number to `visit`, until that breaks, `stop` says so (asked ten times a second and oftener), or the interface goes away. What is in the ring
    /// when it does is handed over first.
    pub fn for_each(
        &mut self,
        stop: impl Fn() -> bool,
        mut visit: impl FnMut(u64, &Frame<'_>) -> ControlFlow<()>,
    ) -> InputEnd {
        loop {
            let stopped = stop();
            match self.blocks(&mut visit) {
                ControlFlow::Break(()) => return self.ending(None),
                ControlFlow::Continue(true) => {}
                ControlFlow::Continue(false) if stopped => return self.ending(None),
                ControlFlow::Continue(false) => {
                    if let Some(error) = self.wait() {
                        return self.ending(Some(ReadFault::Read(error)));
                    }
                }
            }
        }
    }
    /// Goes through the blocks that are there; tells whether there was one.
    fn blocks(
        &mut self,
        visit: &mut impl FnMut(u64, &Frame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        let (link, frames, bytes) = (self.link, &mut self.frames, &mut self.bytes);
        let cooked = &mut self.cooked;
        let flow = self.ring.next_block(|caught| {
            let (mut stored, mut original_len) = (caught.bytes, caught.original_len);
            if link == LinkType::LINUX_SLL2 {
                cooked.clear();
                cooked.extend_from_slice(&header(&caught.passage));
                cooked.extend_from_slice(caught.bytes);
                (stored, original_len) = (cooked.as_slice(), original_len + COOKED_BYTES as u32);
            }
            *frames += 1;
            *bytes += stored.len() as u64;
            let frame = Frame {
                at: caught.at,
                link,
                original_len: original_len.max(stored.len() as u32),
                interface: 0,
                lost_before: 0,
                bytes: stored,
            };
            visit(*frames, &frame)
        });
        match flow {
            None => ControlFlow::Continue(false),
            Some(ControlFlow::Continue(())) => ControlFlow::Continue(true),
            Some(ControlFlow::Break(())) => ControlFlow::Break(()),
        }
    }
    /// Waits for a block; why there will be none any more, if that is so.
    fn wait(&self) -> Option<io::Error> {
        let mut fds = [PollFd::readable(self.ring.as_fd())];
        match wait(&mut fds, Some(PATIENCE)) {
            Err(error) => Some(error),
            Ok(0) => None,
            Ok(_) => self.ring.take_error().unwrap_or_else(Some),
        }
    }
    fn ending(&mut self, trouble: Option<ReadFault>) -> InputEnd {
        let counts = self.ring.counts().ok();
        let statistics = Statistics {
            interface: 0,
            received: counts.map(|counts| counts.received),
            dropped_by_interface: None,
            dropped_by_system: counts.map(|counts| counts.dropped),
        };
        InputEnd {
            frames: self.frames,
            bytes: self.bytes,
            statistics: vec![statistics],
            resolution_ns: 1,
            untimed: 0,
            trouble,
        }
    }
}

/// What [`LinkType::LINUX_SLL2`] begins with: ethertype, interface, its kind, direction, and who sent it.
fn header(passage: &Passage) -> [u8; COOKED_BYTES] {
    let mut header = [0; COOKED_BYTES];
    header[0..2].copy_from_slice(&passage.protocol.to_be_bytes());
    header[4..8].copy_from_slice(&passage.interface.to_be_bytes());
    header[8..10].copy_from_slice(&passage.hardware.to_be_bytes());
    (header[10], header[11]) = (passage.direction, passage.address_bytes);
    header[12..20].copy_from_slice(&passage.address);
    header
}

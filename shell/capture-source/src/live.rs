//! Captures frames on an interface.
use crate::{InputEnd, ReadFault, SourceError};
use fathom_capture::{Contents, Frame, LinkType, Statistics};
use fathom_os::fd::AsFd;
use fathom_os::poll::{PollFd, wait};
use fathom_os::ring::{Framing, Passage, Ring};
use fathom_units::Duration;
use std::io;
use std::ops::ControlFlow;

/// Smallest snap length: Ethernet, two VLAN tags, IPv6 and the longest TCP header take 122 bytes.
/// Tunnels need more.
const MIN_SNAPLEN: u32 = 128;
/// Largest snap length.
const MAX_SNAPLEN: u32 = 65_535;
/// Longest delay until a stop request is noticed on a quiet interface.
const PATIENCE: Duration = Duration::from_millis(100);

/// A running capture on an interface.
#[derive(Debug)]
pub struct Live {
    ring: Ring,
    link: LinkType,
    frames: u64,
    bytes: u64,
    /// Buffer for frames that the ring delivers without their header.
    cooked: Vec<u8>,
}

/// Length of the [`LinkType::LINUX_SLL2`] header.
const COOKED_BYTES: usize = 20;

impl Live {
    /// Starts capturing `snaplen` bytes (limited to 128 to 65,535) of each frame on `interface`, or
    /// on all interfaces (`any`).
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
    /// Link type of the frames.
    pub const fn link(&self) -> LinkType {
        self.link
    }
    /// Passes each frame with its number to `visit`, until that breaks, `stop` returns true
    /// (checked at least ten times per second), or the interface disappears. Frames already in the
    /// ring are passed on first.
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
    /// Processes the available blocks; returns whether there was one.
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
    /// Waits for a block. Returns an error if the capture has ended.
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
        let contents = Contents {
            frames: self.frames,
            bytes: self.bytes,
            statistics: vec![statistics],
            resolution_ns: 1,
            untimed: 0,
        };
        InputEnd { contents, trouble }
    }
}

/// A [`LinkType::LINUX_SLL2`] header: Ethertype, interface, hardware type, direction, sender
/// address.
fn header(passage: &Passage) -> [u8; COOKED_BYTES] {
    let mut header = [0; COOKED_BYTES];
    header[0..2].copy_from_slice(&passage.protocol.to_be_bytes());
    header[4..8].copy_from_slice(&passage.interface.to_be_bytes());
    header[8..10].copy_from_slice(&passage.hardware.to_be_bytes());
    (header[10], header[11]) = (passage.direction, passage.address_bytes);
    header[12..20].copy_from_slice(&passage.address);
    header
}

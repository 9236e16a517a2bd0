//! Captures packets of an interface from a ring filled by the kernel (`packet(7)`, TPACKET_V3): one
//! call per block of packets.
//!
//! Written by hand because rustix does not map packet rings.
use crate::netlink::interface_index;
use crate::option;
use crate::tun::interface_request;
use socket2::{Domain, Socket, Type};
use std::fmt;
use std::io;
use std::mem::{offset_of, size_of};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes per block: space for several of the longest frames.
const BLOCK_BYTES: usize = 512 << 10;
/// Blocks per ring: 32 MB, so that a reader may pause for 0.1 s at a million packets per second.
const BLOCKS: usize = 64;
/// A multiple of 16 that divides a block; the kernel does not use it in version 3, where frames
/// have variable length.
const FRAME_BYTES: usize = 2048;
/// A block is handed over after this many milliseconds, full or not.
const BLOCK_TIMEOUT_MS: u32 = 20;

/// Offsets of the fields of a block header.
mod block {
    use std::mem::offset_of;

    const HEADER: usize = offset_of!(libc::tpacket_block_desc, hdr);
    pub(super) const STATUS: usize = HEADER + offset_of!(libc::tpacket_hdr_v1, block_status);
    pub(super) const COUNT: usize = HEADER + offset_of!(libc::tpacket_hdr_v1, num_pkts);
    pub(super) const FIRST: usize = HEADER + offset_of!(libc::tpacket_hdr_v1, offset_to_first_pkt);
}

/// The first header of the frames of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// An Ethernet header.
    Ethernet,
    /// A radiotap header (an interface in monitor mode).
    Radiotap,
    /// An 802.11 header.
    Ieee80211,
    /// The IP header: the link header is removed.
    Ip,
    /// The link header is removed and described by the [`Passage`], for interfaces of all types.
    Cooked,
}

/// The name for all interfaces, as in tcpdump.
pub const ANY: &str = "any";

/// Why a capture cannot be opened.
#[derive(Debug)]
pub struct RingError {
    interface: String,
    step: &'static str,
    source: io::Error,
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RingError { interface, step, source } = self;
        write!(f, "{interface}: cannot capture: {step} failed: {}", crate::error::without_code(source))?;
        match source.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => {
                write!(
                    f,
                    " (it needs CAP_NET_RAW: run as root, or sudo setcap cap_net_raw+ep on the program)"
                )
            }
            Some(libc::ENODEV | libc::ENXIO) => write!(f, " (run ip link to list the interfaces)"),
            _ => Ok(()),
        }
    }
}
impl std::error::Error for RingError {}

impl RingError {
    /// What the kernel refused.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

/// A packet in the ring.
#[derive(Clone, Copy, Debug)]
pub struct RingFrame<'a> {
    /// System time in nanoseconds since 1970.
    pub at: i64,
    /// Original length in bytes.
    pub original_len: u32,
    /// Interface and direction.
    pub passage: Passage,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

/// Interface and direction of a packet: `sockaddr_ll` of `packet(7)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Interface index.
    pub interface: u32,
    /// Ethertype of the payload.
    pub protocol: u16,
    /// Hardware type of the interface (`linux/if_arp.h`).
    pub hardware: u16,
    /// Direction: `PACKET_HOST` and others of `linux/if_packet.h`.
    pub direction: u8,
    /// Length of the address in bytes.
    pub address_bytes: u8,
    /// Link-layer address of the sender.
    pub address: [u8; 8],
}

impl Passage {
    /// Whether the packet left this host.
    pub const fn is_outgoing(&self) -> bool {
        self.direction == libc::PACKET_OUTGOING
    }
}

/// Packet counters of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RingCounts {
    /// Packets that matched, including dropped ones.
    pub received: u64,
    /// Packets dropped because the ring was full.
    pub dropped: u64,
}

/// A ring that receives the packets of an interface.
#[derive(Debug)]
pub struct Ring {
    socket: Socket,
    blocks: Blocks,
    next: usize,
    framing: Framing,
    counts: RingCounts,
}

impl Ring {
    /// Captures the first `snaplen` bytes of each packet on `interface`, or on all ([`ANY`]), in
    /// the network namespace of the calling thread.
    ///
    /// # Errors
    /// The step that the kernel refused.
    pub fn open(interface: &str, snaplen: u32) -> Result<Ring, RingError> {
        let refused = |step| move |source| RingError { interface: interface.to_owned(), step, source };
        let (index, framing) = if interface == ANY {
            (0, Framing::Cooked)
        } else {
            let index = interface_index(interface).map_err(refused("interface lookup"))?;
            (index, framing(hardware_kind(interface).map_err(refused("SIOCGIFHWADDR"))?))
        };
        let is_cooked = matches!(framing, Framing::Ip | Framing::Cooked);
        let layer = if is_cooked { Type::DGRAM } else { Type::RAW };
        let socket = Socket::new(Domain::PACKET, layer, None).map_err(refused("socket"))?;
        filter(&socket, snaplen).map_err(refused("SO_ATTACH_FILTER"))?;
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        option::set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, version)
            .map_err(refused("PACKET_VERSION"))?;
        option::set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, request())
            .map_err(refused("PACKET_RX_RING"))?;
        let blocks = Blocks::map(&socket).map_err(refused("mmap"))?;
        // Bound last, so that no packet arrives before the filter and the ring are set up.
        bind(&socket, index).map_err(refused("bind"))?;
        Ok(Ring { socket, blocks, next: 0, framing, counts: RingCounts::default() })
    }
    /// The first header of the frames.
    pub const fn framing(&self) -> Framing {
        self.framing
    }
    /// Passes the packets of the next block to `visit`; `None` if the kernel has not released it
    /// yet. If `visit` breaks, the rest of the block is lost.
    pub fn next_block(
        &mut self,
        mut visit: impl FnMut(RingFrame<'_>) -> ControlFlow<()>,
    ) -> Option<ControlFlow<()>> {
        let status = self.blocks.status(self.next);
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let flow = frames(self.blocks.bytes(self.next)).try_for_each(&mut visit);
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % BLOCKS;
        Some(flow)
    }
    /// Packet counters since the ring was opened.
    ///
    /// # Errors
    /// See `getsockopt(2)`.
    pub fn counts(&mut self) -> io::Result<RingCounts> {
        let mut raw = [0_u32; 3];
        let mut length = size_of::<libc::tpacket_stats_v3>() as libc::socklen_t;
        let (fd, value) = (self.socket.as_raw_fd(), (&raw mut raw).cast());
        // SAFETY: `value` points to `length` writable bytes of plain integers.
        let failed = unsafe {
            libc::getsockopt(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, value, &raw mut length)
        };
        check(failed)?;
        // Reading resets the kernel's counters.
        self.counts.received += u64::from(raw[0]);
        self.counts.dropped += u64::from(raw[1]);
        Ok(self.counts)
    }
    /// The error that ended the capture (such as the interface going down), returned once.
    ///
    /// # Errors
    /// See `getsockopt(2)`.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Memory shared with the kernel.
#[derive(Debug)]
struct Blocks {
    start: NonNull<u8>,
}

// SAFETY: the mapping belongs to the process, not to a thread, and only its single owner uses it.
unsafe impl Send for Blocks {}

impl Blocks {
    fn map(socket: &Socket) -> io::Result<Blocks> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let bytes = BLOCK_BYTES * BLOCKS;
        // SAFETY: a new mapping at an address chosen by the kernel overlaps no other memory.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, libc::MAP_SHARED, socket.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.cast()).map(|start| Blocks { start }).ok_or_else(io::Error::last_os_error)
    }
    /// The status word of block `index`, which says who owns it.
    fn status(&self, index: usize) -> &AtomicU32 {
        let at = index % BLOCKS * BLOCK_BYTES + block::STATUS;
        // SAFETY: within the mapping, which lives as long as `self`, and aligned because a block
        // starts on a page. This process does not access it in any other way: `bytes` starts after
        // the header.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }
    /// The bytes of block `index`. The caller must have seen that the kernel released the block,
    /// and must not use them after returning it.
    fn bytes(&self, index: usize) -> BlockBytes<'_> {
        let at = index % BLOCKS * BLOCK_BYTES;
        let header = size_of::<libc::tpacket_block_desc>();
        // SAFETY: within the mapping, which lives as long as `self`; integers, aligned because a
        // block starts on a page.
        let field = |field: usize| unsafe { self.start.as_ptr().add(at + field).cast::<u32>().read() };
        // SAFETY: within the mapping; the kernel does not write to a block that it released.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(at + header), BLOCK_BYTES - header) };
        BlockBytes { count: field(block::COUNT), first: field(block::FIRST) as usize, header, bytes }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // SAFETY: the mapping has this length, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), BLOCK_BYTES * BLOCKS) };
    }
}

/// A block owned by this process.
struct BlockBytes<'a> {
    count: u32,
    /// Offset of the first frame. All offsets count from the start of the block's header.
    first: usize,
    /// Length of that header.
    header: usize,
    bytes: &'a [u8],
}

/// The frames of a block. An offset outside the block ends the iteration.
fn frames(block: BlockBytes<'_>) -> impl Iterator<Item = RingFrame<'_>> {
    let BlockBytes { count, first, header, bytes } = block;
    let mut at = first;
    (0..count).map_while(move |_| {
        let frame = bytes.get(at.checked_sub(header)?..)?;
        let word = |field: usize| frame.get(field..field + 4)?.first_chunk().map(|b| u32::from_ne_bytes(*b));
        let mac = frame.get(offset_of!(libc::tpacket3_hdr, tp_mac)..)?.first_chunk()?;
        let start = usize::from(u16::from_ne_bytes(*mac));
        let stored = word(offset_of!(libc::tpacket3_hdr, tp_snaplen))? as usize;
        let seconds = i64::from(word(offset_of!(libc::tpacket3_hdr, tp_sec))?);
        let nanos = i64::from(word(offset_of!(libc::tpacket3_hdr, tp_nsec))?);
        at += word(offset_of!(libc::tpacket3_hdr, tp_next_offset))? as usize;
        let passage = passage(frame.get(ADDRESS_AT..ADDRESS_AT + size_of::<libc::sockaddr_ll>())?)?;
        Some(RingFrame {
            passage,
            at: seconds * 1_000_000_000 + nanos,
            original_len: word(offset_of!(libc::tpacket3_hdr, tp_len))?,
            bytes: frame.get(start..start + stored)?,
        })
    })
}

/// The address of a frame follows its header. Source: `packet(7)`, `TPACKET_ALIGN` of
/// `linux/if_packet.h`.
const ADDRESS_AT: usize = size_of::<libc::tpacket3_hdr>().next_multiple_of(libc::TPACKET_ALIGNMENT);

fn passage(address: &[u8]) -> Option<Passage> {
    let pair = |field: usize| address.get(field..)?.first_chunk().copied();
    let index = address.get(offset_of!(libc::sockaddr_ll, sll_ifindex)..)?.first_chunk()?;
    Some(Passage {
        interface: u32::from_ne_bytes(*index),
        protocol: u16::from_be_bytes(pair(offset_of!(libc::sockaddr_ll, sll_protocol))?),
        hardware: u16::from_ne_bytes(pair(offset_of!(libc::sockaddr_ll, sll_hatype))?),
        direction: *address.get(offset_of!(libc::sockaddr_ll, sll_pkttype))?,
        address_bytes: *address.get(offset_of!(libc::sockaddr_ll, sll_halen))?,
        address: *address.get(offset_of!(libc::sockaddr_ll, sll_addr)..)?.first_chunk()?,
    })
}

const fn request() -> libc::tpacket_req3 {
    libc::tpacket_req3 {
        tp_block_size: BLOCK_BYTES as u32,
        tp_block_nr: BLOCKS as u32,
        tp_frame_size: FRAME_BYTES as u32,
        tp_frame_nr: (BLOCK_BYTES / FRAME_BYTES * BLOCKS) as u32,
        tp_retire_blk_tov: BLOCK_TIMEOUT_MS,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    }
}

/// Maps the hardware type of an interface. Source: `linux/if_arp.h`.
fn framing(kind: u16) -> Framing {
    match kind {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Framing::Ethernet,
        libc::ARPHRD_IEEE80211_RADIOTAP => Framing::Radiotap,
        libc::ARPHRD_IEEE80211 => Framing::Ieee80211,
        // Tunnels, PPP, mobile modems: each has its own header, or none.
        _ => Framing::Ip,
    }
}

fn hardware_kind(interface: &str) -> io::Result<u16> {
    let socket = Socket::new(Domain::UNIX, Type::DGRAM, None)?;
    let mut asked = interface_request(interface)?;
    // SAFETY: SIOCGIFHWADDR reads and writes one ifreq, which outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR as _, &raw mut asked) })?;
    // SAFETY: the kernel filled in this member of the union; any bits are valid.
    Ok(unsafe { asked.ifr_ifru.ifru_hwaddr.sa_family })
}

/// Limits each packet to `snaplen` bytes. Loopback packets appear twice, outgoing and incoming; the
/// outgoing ones are skipped, as in tcpdump. Source of the instructions: `linux/filter.h`.
fn filter(socket: &Socket, snaplen: u32) -> io::Result<()> {
    const LOAD_HALF: u16 = 0x28;
    const LOAD_BYTE: u16 = 0x30;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN_CONSTANT: u16 = 0x06;
    let step = |code, (jt, jf), k| libc::sock_filter { code, jt, jf, k };
    let of_packet = |field: libc::c_int| (libc::SKF_AD_OFF + field) as u32;
    let mut steps = [
        step(LOAD_HALF, (0, 0), of_packet(libc::SKF_AD_HATYPE)),
        step(JUMP_IF_EQUAL, (0, 3), u32::from(libc::ARPHRD_LOOPBACK)),
        step(LOAD_BYTE, (0, 0), of_packet(libc::SKF_AD_PKTTYPE)),
        step(JUMP_IF_EQUAL, (0, 1), u32::from(libc::PACKET_OUTGOING)),
        step(RETURN_CONSTANT, (0, 0), 0),
        step(RETURN_CONSTANT, (0, 0), snaplen),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    option::set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, program)
}

fn bind(socket: &Socket, interface: u32) -> io::Result<()> {
    // SAFETY: a sockaddr_ll consists of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = i32::try_from(interface).map_err(io::Error::other)?;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is on the stack for the duration of the call and `length` bytes long.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

fn check(returned: libc::c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::LOOPBACK;
    use crate::poll::{PollFd, wait};
    use fathom_test_support::in_new_namespace;
    use fathom_units::Duration;
    use std::net::UdpSocket;

    /// Original lengths and captured bytes, up to `count` packets or until no more arrive.
    fn caught(ring: &mut Ring, count: usize) -> Vec<(u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut idle = 0;
        while idle < 10 {
            let mut fds = [PollFd::readable(ring.as_fd())];
            wait(&mut fds, Some(Duration::from_millis(50))).unwrap();
            idle = if fds[0].is_ready() { 0 } else { idle + 1 };
            while let Some(flow) = ring.next_block(|frame| {
                assert!(frame.at > 1_500_000_000_000_000_000, "{}", frame.at);
                found.push((frame.original_len, frame.bytes.to_vec()));
                ControlFlow::Continue(())
            }) {
                assert_eq!(flow, ControlFlow::Continue(()));
            }
            if found.len() >= count {
                break;
            }
        }
        found
    }

    #[test]
    fn catches_each_packet_once_and_cuts_it() {
        in_new_namespace(|| {
            let mut ring = Ring::open("lo", 128).unwrap();
            assert_eq!(ring.framing(), Framing::Ethernet);
            let to = UdpSocket::bind("127.0.0.1:0").unwrap();
            for length in 0..200 {
                to.send_to(&vec![length as u8; length], to.local_addr().unwrap()).unwrap();
            }
            let found = caught(&mut ring, 200);
            assert_eq!(found.len(), 200);
            for (length, (sent, stored)) in found.iter().enumerate() {
                assert_eq!(*sent as usize, 14 + 20 + 8 + length);
                assert_eq!(stored.len(), 128.min(*sent as usize));
                assert_eq!(stored[12..15], [8, 0, 0x45]);
                assert!(stored[42..].iter().all(|byte| *byte == length as u8));
            }
            assert_eq!(ring.counts().unwrap(), RingCounts { received: 200, dropped: 0 });
        });
    }

    #[test]
    fn all_interfaces_say_where_each_packet_passed() {
        in_new_namespace(|| {
            let mut ring = Ring::open(ANY, 128).unwrap();
            assert_eq!(ring.framing(), Framing::Cooked);
            let to = UdpSocket::bind("127.0.0.1:0").unwrap();
            for length in 0..20 {
                to.send_to(&[7; 20][..length], to.local_addr().unwrap()).unwrap();
            }
            let mut passages = Vec::new();
            for _ in 0..10 {
                wait(&mut [PollFd::readable(ring.as_fd())], Some(Duration::from_millis(50))).unwrap();
                let visit = |frame: RingFrame<'_>| {
                    assert_eq!(frame.bytes[0], 0x45);
                    passages.push(frame.passage);
                    ControlFlow::Continue(())
                };
                let _ = ring.next_block(visit);
            }
            let came = Passage {
                interface: LOOPBACK,
                protocol: libc::ETH_P_IP as u16,
                hardware: libc::ARPHRD_LOOPBACK,
                direction: libc::PACKET_HOST,
                address_bytes: 6,
                address: [0; 8],
            };
            assert_eq!(passages, [came; 20]);
            assert_eq!(ring.counts().unwrap(), RingCounts { received: 20, dropped: 0 });
        });
    }

    #[test]
    fn a_ring_that_nobody_reads_drops_and_says_so() {
        in_new_namespace(|| {
            let mut ring = Ring::open("lo", 65_535).unwrap();
            let to = UdpSocket::bind("127.0.0.1:0").unwrap();
            // At least 32 MB.
            for _ in 0..1000 {
                to.send_to(&[7; 60_000], to.local_addr().unwrap()).unwrap();
            }
            let kept = caught(&mut ring, 1000).len() as u64;
            let counts = ring.counts().unwrap();
            assert_eq!((counts.received, counts.dropped), (1000, 1000 - kept));
            assert!(counts.dropped > 100, "{counts:?}");
            // After that, capturing continues block by block.
            to.send_to(b"again", to.local_addr().unwrap()).unwrap();
            assert_eq!(caught(&mut ring, 1).len(), 1);
        });
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = Ring::open("nosuch0", 128).unwrap_err().to_string();
        assert!(error.starts_with("nosuch0: cannot capture: interface lookup failed: "), "{error}");
        assert!(error.ends_with("(run ip link to list the interfaces)"), "{error}");
    }
}

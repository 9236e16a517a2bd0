//! TUN devices that carry super-packets: this process terminates the kernel's segmentation and
//! checksum offloads.
//!
//! Written by hand: three ioctl(2) requests, with the virtio header that super-packets need.
use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::{fmt, fs};

/// The device that creates TUN interfaces.
const DEVICE: &str = "/dev/net/tun";

/// Bytes of `struct virtio_net_hdr` before each packet. Source: virtio 1.2 section 5.1.6, without
/// num_buffers.
pub const VNET_HEADER_BYTES: usize = 10;

/// Offloads that [`Tun`] accepts: the reader must handle partial checksums and TCP super-packets.
const OFFLOADS: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;

/// A TUN interface with non-blocking reads. It is removed when this value is dropped.
#[derive(Debug)]
pub struct Tun {
    file: fs::File,
}

/// Why no TUN interface could be created.
#[derive(Debug)]
pub enum TunError {
    /// The device node does not exist.
    Missing,
    /// The device node exists, but this user may not open it.
    NotOpenable {
        /// Permission bits of the node.
        mode: u32,
    },
    /// The device node can be opened, but no driver answers.
    NoDriver,
    /// The kernel refused to create the interface.
    Refused {
        /// The step that failed.
        step: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

impl fmt::Display for TunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TunError::Missing => write!(
                f,
                "{DEVICE} does not exist: sudo modprobe tun, \
                 or in a container docker run --device {DEVICE}"
            ),
            TunError::NotOpenable { mode } => write!(
                f,
                "{DEVICE} cannot be opened: its mode is {mode:04o}: \
                 sudo chmod 0666 {DEVICE}, or in a container docker run --device {DEVICE}"
            ),
            TunError::NoDriver => {
                write!(f, "{DEVICE} has no driver: sudo modprobe tun")
            }
            TunError::Refused { step, source } => write!(
                f,
                "cannot create a TUN interface: {step} failed: {source} \
                 (it needs CAP_NET_ADMIN: run as root, or in a user namespace)"
            ),
        }
    }
}
impl std::error::Error for TunError {}

impl Tun {
    /// Creates interface `name` in the network namespace of the calling thread. It stays there
    /// whichever thread reads it.
    ///
    /// # Errors
    /// Names the cause: device, permission, driver or kernel.
    pub fn create(name: &str) -> Result<Tun, TunError> {
        let opened = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE);
        let tun = Tun { file: opened.map_err(explain_open)? };
        let refused = |step| move |source| TunError::Refused { step, source };
        tun.attach(name).map_err(refused("TUNSETIFF"))?;
        tun.set_vnet_header_size().map_err(refused("TUNSETVNETHDRSZ"))?;
        tun.take_offloads().map_err(refused("TUNSETOFFLOAD"))?;
        Ok(tun)
    }
    /// Reads one packet with its [`VNET_HEADER_BYTES`] header; `None` if there is none.
    ///
    /// # Errors
    /// See `read(2)`.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }
    /// Passes one packet, header first, to the kernel of the interface's namespace.
    ///
    /// # Errors
    /// See `writev(2)`; `EINVAL` if the header does not match the packet, `EIO` while the interface
    /// is down.
    pub fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        (&self.file).write_vectored(parts).map(|_| ())
    }

    fn attach(&self, name: &str) -> io::Result<()> {
        let mut request = interface_request(name)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes one ifreq, which outlives the call.
        check(unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })
    }
    fn set_vnet_header_size(&self) -> io::Result<()> {
        let size = VNET_HEADER_BYTES as libc::c_int;
        // SAFETY: TUNSETVNETHDRSZ reads one int, which outlives the call.
        check(unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETVNETHDRSZ, &raw const size) })
    }
    fn take_offloads(&self) -> io::Result<()> {
        // SAFETY: TUNSETOFFLOAD takes an integer by value.
        check(unsafe {
            libc::ioctl(self.file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(OFFLOADS))
        })
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

pub(crate) fn interface_request(name: &str) -> io::Result<libc::ifreq> {
    let name = CString::new(name)?;
    // SAFETY: ifreq is plain data for which all zeros is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.as_bytes_with_nul().len() > request.ifr_name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = *from as libc::c_char;
    }
    Ok(request)
}

fn check(returned: libc::c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn explain_open(source: io::Error) -> TunError {
    match source.raw_os_error() {
        Some(libc::ENOENT) => TunError::Missing,
        Some(libc::ENODEV | libc::ENXIO) => TunError::NoDriver,
        Some(libc::EACCES | libc::EPERM) => not_openable(),
        _ => TunError::Refused { step: "open", source },
    }
}

fn not_openable() -> TunError {
    TunError::NotOpenable { mode: fs::metadata(DEVICE).map_or(0, |m| m.permissions().mode() & 0o7777) }
}

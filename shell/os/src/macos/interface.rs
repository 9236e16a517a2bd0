//! Interfaces as their drivers describe them.
pub use crate::medium::Medium;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// bsd/sys/sockio.h: SIOCGIFMEDIA, which reads and writes 44 bytes.
const SIOCGIFMEDIA: libc::c_ulong = 0xc02c_6938;
/// bsd/net/if_media.h.
const IFM_NMASK: i32 = 0xe0;
const IFM_ETHER: i32 = 0x20;
const IFM_IEEE80211: i32 = 0x80;

/// `struct ifmediareq` of bsd/net/if.h, which is packed to 4 bytes.
#[repr(C, packed(4))]
struct MediaRequest {
    name: [u8; libc::IFNAMSIZ],
    current: i32,
    mask: i32,
    status: i32,
    active: i32,
    count: i32,
    list: *mut i32,
}

/// Kind of the link of an interface.
#[must_use]
pub fn medium(interface: u32) -> Option<Medium> {
    let mut request = MediaRequest {
        name: [0; libc::IFNAMSIZ],
        current: 0,
        mask: 0,
        status: 0,
        active: 0,
        count: 0,
        list: core::ptr::null_mut(),
    };
    // SAFETY: the buffer has the size that the call needs.
    if unsafe { libc::if_indextoname(interface, request.name.as_mut_ptr().cast()) }.is_null() {
        return None;
    }
    // Any socket knows the interfaces.
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    // SAFETY: the structure has the size that the request says, and no list.
    let failed = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGIFMEDIA, &raw mut request) };
    match request.current & IFM_NMASK {
        IFM_ETHER if failed == 0 => Some(Medium::Ethernet),
        IFM_IEEE80211 if failed == 0 => Some(Medium::Wifi),
        _ => None,
    }
}
const _: () = assert!(size_of::<MediaRequest>() == 44, "the size in SIOCGIFMEDIA");

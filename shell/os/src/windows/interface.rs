//! Interfaces as the IP helper of Windows describes them.
pub use crate::medium::Medium;
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetIfEntry2, IF_TYPE_ETHERNET_CSMACD, IF_TYPE_IEEE80211, MIB_IF_ROW2,
};

/// Kind of the link of an interface.
#[must_use]
pub fn medium(interface: u32) -> Option<Medium> {
    let mut row = MIB_IF_ROW2 { InterfaceIndex: interface, ..Default::default() };
    // SAFETY: the pointer is valid for the call.
    let code = unsafe { GetIfEntry2(&raw mut row) };
    match row.Type {
        IF_TYPE_ETHERNET_CSMACD if code == 0 => Some(Medium::Ethernet),
        IF_TYPE_IEEE80211 if code == 0 => Some(Medium::Wifi),
        _ => None,
    }
}

//! The resolvers of this host.
use std::ffi::CStr;
use std::net::IpAddr;
use windows_sys::Win32::NetworkManagement::IpHelper::{FIXED_INFO_W2KSP1, GetNetworkParams, IP_ADDR_STRING};

/// Their addresses, of IPv4 alone.
#[must_use]
pub fn resolvers() -> Vec<IpAddr> {
    let mut length = 0;
    // SAFETY: without a buffer, it only writes the length that is needed.
    unsafe { GetNetworkParams(core::ptr::null_mut(), &raw mut length) };
    // In words, for alignment, and never shorter than the fixed part.
    let words = (length as usize).max(size_of::<FIXED_INFO_W2KSP1>()).div_ceil(size_of::<u64>());
    let mut buffer = vec![0_u64; words];
    let information = buffer.as_mut_ptr().cast::<FIXED_INFO_W2KSP1>();
    // SAFETY: the buffer has at least the length that is given.
    if unsafe { GetNetworkParams(information, &raw mut length) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    // SAFETY: it was filled just now, and its list is in the same buffer.
    let mut next: *const IP_ADDR_STRING = unsafe { &raw const (*information).DnsServerList };
    while !next.is_null() {
        // SAFETY: an entry of that list.
        let entry = unsafe { &*next };
        let bytes: Vec<u8> = entry.IpAddress.String.iter().map(|byte| byte.cast_unsigned()).collect();
        let text = CStr::from_bytes_until_nul(&bytes).ok().and_then(|text| text.to_str().ok());
        found.extend(text.and_then(|text| text.parse::<IpAddr>().ok()));
        next = entry.Next;
    }
    found
}

/// The resolvers of Termux: none here.
#[must_use]
pub fn of_termux() -> Vec<IpAddr> {
    Vec::new()
}

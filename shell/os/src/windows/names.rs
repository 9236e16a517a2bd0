//! Names of addresses and of this host.
use socket2::SockAddr;
use std::io;
use std::net::{IpAddr, SocketAddr};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Networking::WinSock::{
    GetNameInfoW, NI_NAMEREQD, WSAHOST_NOT_FOUND, WSANO_DATA, WSATRY_AGAIN,
};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNameDnsHostname, GetComputerNameExW, OSVERSIONINFOW,
};

/// Longest name with the final NUL (NI_MAXHOST).
const MAX_NAME: u32 = 1025;

/// The name of an address, as the system's resolver knows it; `None` without one. Waits for the
/// resolver, which can take many seconds.
///
/// # Errors
/// If the resolver cannot be asked.
pub fn host_name(address: IpAddr) -> io::Result<Option<String>> {
    let target = SockAddr::from(SocketAddr::new(address, 0));
    let mut name = [0_u16; MAX_NAME as usize];
    // SAFETY: the address and its length are those of `target`, and `name` has the length that is
    // given. No name of a service is asked for. `target` was made by socket2, which starts Winsock.
    let code = unsafe {
        GetNameInfoW(
            target.as_ptr().cast(),
            target.len(),
            name.as_mut_ptr(),
            MAX_NAME,
            core::ptr::null_mut(),
            0,
            NI_NAMEREQD as i32,
        )
    };
    match code {
        0 => Ok(Some(until_nul(&name))),
        WSAHOST_NOT_FOUND | WSANO_DATA | WSATRY_AGAIN => Ok(None),
        other => Err(io::Error::from_raw_os_error(other)),
    }
}

/// Name and version of the system, such as `Windows 10.0.22631`.
#[must_use]
pub fn kernel() -> String {
    let mut version =
        OSVERSIONINFOW { dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32, ..Default::default() };
    // SAFETY: the pointer is valid for the call, and the value has its size.
    unsafe { RtlGetVersion(&raw mut version) };
    format!("Windows {}.{}.{}", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber)
}

/// Name of this host; `localhost` if it has none.
#[must_use]
pub fn own_name() -> String {
    let mut name = [0_u16; MAX_NAME as usize];
    let mut length = MAX_NAME;
    // SAFETY: `name` has the length that is given.
    let found = unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &raw mut length) };
    let name = until_nul(&name);
    if found == 0 || name.is_empty() { "localhost".to_owned() } else { name }
}

fn until_nul(text: &[u16]) -> String {
    String::from_utf16_lossy(text.split(|unit| *unit == 0).next().unwrap_or_default())
}

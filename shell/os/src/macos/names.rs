//! Names of addresses and of this host.
use socket2::SockAddr;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Longest name with the final NUL (NI_MAXHOST, getnameinfo(3)).
const MAX_NAME: usize = 1025;

/// The name of an address, as the system's resolver knows it; `None` without one. Waits for the
/// resolver, which can take many seconds.
///
/// # Errors
/// If the resolver cannot be asked.
pub fn host_name(address: IpAddr) -> io::Result<Option<String>> {
    let target = SockAddr::from(SocketAddr::new(address, 0));
    let mut name = [0_u8; MAX_NAME];
    // SAFETY: the address and its length are those of `target`, and `name` has the length that is
    // given. No name of a service is asked for.
    let code = unsafe {
        libc::getnameinfo(
            target.as_ptr().cast(),
            target.len(),
            name.as_mut_ptr().cast(),
            MAX_NAME as libc::socklen_t,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    match code {
        0 => Ok(Some(until_nul(&name))),
        libc::EAI_NONAME | libc::EAI_AGAIN | libc::EAI_FAIL => Ok(None),
        libc::EAI_SYSTEM => Err(io::Error::last_os_error()),
        _ => Err(io::ErrorKind::Other.into()),
    }
}

/// Name and version of the kernel, as `uname -sr`: `Darwin 23.6.0`.
#[must_use]
pub fn kernel() -> String {
    // SAFETY: it consists of arrays of characters, for which all zeros is valid.
    let mut name: libc::utsname = unsafe { core::mem::zeroed() };
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::uname(&raw mut name) };
    let text =
        |field: &[libc::c_char]| until_nul(&field.iter().map(|c| c.cast_unsigned()).collect::<Vec<u8>>());
    format!("{} {}", text(&name.sysname), text(&name.release))
}

/// Name of this host; `localhost` if it has none.
#[must_use]
pub fn own_name() -> String {
    let mut name = [0_u8; MAX_NAME];
    // SAFETY: the last byte stays 0; the rest of the buffer is as long as said.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), MAX_NAME - 1) };
    let name = until_nul(&name);
    if failed != 0 || name.is_empty() { "localhost".to_owned() } else { name }
}

fn until_nul(text: &[u8]) -> String {
    String::from_utf8_lossy(text.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn this_machine_has_a_name() {
        assert_eq!(host_name(Ipv4Addr::LOCALHOST.into()).unwrap().as_deref(), Some("localhost"));
        assert!(kernel().starts_with("Darwin ") && !own_name().is_empty(), "{}, {}", kernel(), own_name());
    }
}

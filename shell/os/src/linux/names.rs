//! Names of addresses.
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
        0 => {
            let text = name.split(|byte| *byte == 0).next().unwrap_or_default();
            Ok(Some(String::from_utf8_lossy(text).into_owned()))
        }
        libc::EAI_NONAME | libc::EAI_AGAIN | libc::EAI_FAIL => Ok(None),
        libc::EAI_SYSTEM => Err(io::Error::last_os_error()),
        other => Err(io::Error::other(format!("getnameinfo: error {other}"))),
    }
}

/// Name and version of the kernel, as `uname -sr`.
#[must_use]
pub fn kernel() -> String {
    let read = |name| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    format!("{} {}", read("ostype").trim(), read("osrelease").trim())
}

/// Name of this host; `localhost` if it has none.
#[must_use]
pub fn own_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn this_machine_has_a_name() {
        assert_eq!(host_name(Ipv4Addr::LOCALHOST.into()).unwrap().as_deref(), Some("localhost"));
    }

    #[test]
    fn an_address_of_documentation_has_no_name() {
        assert_eq!(host_name(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()).unwrap(), None);
    }
}

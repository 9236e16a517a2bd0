//! Kernel statistics of a TCP connection.
pub use crate::tcp_state::TcpInfo;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// bsd/netinet/tcp.h: TCPCI_OPT_ECN.
const OPTION_ECN: u32 = 8;

/// Reads the statistics of a socket. macOS knows round-trip times to a millisecond, and counts no
/// acknowledged bytes.
///
/// # Errors
/// See `getsockopt(2)`.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    // SAFETY: the structure consists of integers, for which all zeros is valid.
    let mut info: libc::tcp_connection_info = unsafe { mem::zeroed() };
    let mut length = size_of_val(&info) as libc::socklen_t;
    let value = (&raw mut info).cast();
    let (fd, name) = (socket.as_raw_fd(), libc::TCP_CONNECTION_INFO);
    // SAFETY: `value` points to `length` writable bytes of integers.
    let failed = unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, name, value, &raw mut length) };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    let retransmitted = info.tcpi_txretransmitbytes;
    let segments = retransmitted.div_ceil(u64::from(info.tcpi_maxseg.max(1)));
    Ok(TcpInfo {
        rtt_us: info.tcpi_srtt.saturating_mul(1_000),
        cwnd_bytes: info.tcpi_snd_cwnd.into(),
        retransmits: u32::try_from(segments).unwrap_or(u32::MAX),
        bytes_sent: info.tcpi_txbytes,
        bytes_retransmitted: retransmitted,
        has_ecn: info.tcpi_options & OPTION_ECN != 0,
        ..TcpInfo::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    #[test]
    fn counts_what_was_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut near = listener.accept().unwrap().0;
        near.write_all(&[1; 5_000]).unwrap();
        far.read_exact(&mut [0; 5_000]).unwrap();
        let info = tcp_info(near.as_fd()).unwrap();
        assert!(info.bytes_sent >= 5_000 && info.cwnd_bytes > 1_000, "{info:?}");
        assert!(tcp_info(UdpSocket::bind("127.0.0.1:0").unwrap().as_fd()).is_err());
    }
}

//! Kernel statistics of a TCP connection.
use crate::fd::BorrowedFd;
pub use crate::tcp_state::TcpInfo;
use std::io;
use std::os::windows::io::AsRawSocket;
use windows_sys::Win32::Networking::WinSock::{SIO_TCP_INFO, SOCKET, TCP_INFO_v0, WSAIoctl};

/// Reads the statistics of a socket. Windows counts no acknowledged bytes, and does not say whether
/// ECN is used.
///
/// # Errors
/// See `WSAIoctl`: Windows 10 from version 1703 has them.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let (version, mut info, mut length) = (0_u32, TCP_INFO_v0::default(), 0_u32);
    // SAFETY: the buffers have the sizes that are given, and are valid for the call.
    let failed = unsafe {
        WSAIoctl(
            socket.as_raw_socket() as SOCKET,
            SIO_TCP_INFO,
            (&raw const version).cast(),
            size_of::<u32>() as u32,
            (&raw mut info).cast(),
            size_of::<TCP_INFO_v0>() as u32,
            &raw mut length,
            core::ptr::null_mut(),
            None,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    let retransmitted = u64::from(info.BytesRetrans);
    Ok(TcpInfo {
        rtt_us: info.RttUs,
        cwnd_bytes: info.Cwnd.into(),
        retransmits: u32::try_from(retransmitted.div_ceil(u64::from(info.Mss.max(1)))).unwrap_or(u32::MAX),
        min_rtt_us: info.MinRttUs,
        bytes_sent: info.BytesOut,
        bytes_retransmitted: retransmitted,
        ..TcpInfo::default()
    })
}

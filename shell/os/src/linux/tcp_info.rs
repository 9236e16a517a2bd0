//! Kernel statistics of a TCP connection.
pub use crate::tcp_state::TcpInfo;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `struct tcp_info` of linux/tcp.h up to the last field used here. Older kernels fill fewer
/// fields, newer ones truncate.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Raw {
    /// State, congestion state, retransmits, probes, backoff.
    states: [u8; 5],
    options: u8,
    scales_and_flags: [u8; 2],
    rto_us: u32,
    ato_us: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost_retrans_fackets: [u32; 3],
    last_times_ms: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt_us: u32,
    rttvar_us: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt_us: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rates: [u64; 2],
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt_us: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_us: u64,
    rwnd_limited_us: u64,
    sndbuf_limited_us: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups_and_reord_seen: [u32; 2],
    rcv_ooopack: u32,
    snd_wnd: u32,
}

/// linux/tcp.h: TCPI_OPT_ECN.
const OPTION_ECN: u8 = 8;

/// Reads the statistics of a socket.
///
/// # Errors
/// See `getsockopt(2)`.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut raw = Raw::default();
    let mut length = size_of::<Raw>() as libc::socklen_t;
    let value = (&raw mut raw).cast();
    // SAFETY: `value` points to `length` writable bytes of plain integers.
    let failed = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, value, &raw mut length)
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(TcpInfo {
        rtt_us: raw.rtt_us,
        cwnd_bytes: u64::from(raw.snd_cwnd) * u64::from(raw.snd_mss),
        retransmits: raw.total_retrans,
        bytes_acked: known(length, mem::offset_of!(Raw, bytes_acked), raw.bytes_acked),
        bytes_sacked: u64::from(raw.sacked) * u64::from(raw.snd_mss),
        min_rtt_us: raw.min_rtt_us,
        bytes_sent: raw.bytes_sent,
        bytes_retransmitted: raw.bytes_retrans,
        receiver_limited_us: known(length, mem::offset_of!(Raw, rwnd_limited_us), raw.rwnd_limited_us),
        unsent_bytes: known(length, mem::offset_of!(Raw, notsent_bytes), raw.notsent_bytes),
        out_of_order: known(length, mem::offset_of!(Raw, rcv_ooopack), raw.rcv_ooopack),
        has_ecn: raw.options & OPTION_ECN != 0,
    })
}

/// A field, if the kernel has filled it.
fn known<T>(length: libc::socklen_t, offset: usize, value: T) -> Option<T> {
    (length as usize >= offset + size_of::<T>()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    #[test]
    fn the_layout_is_the_kernels() {
        // Offsets in linux/tcp.h, from pahole.
        let offsets = [
            mem::offset_of!(Raw, rto_us),
            mem::offset_of!(Raw, sacked),
            mem::offset_of!(Raw, rtt_us),
            mem::offset_of!(Raw, snd_cwnd),
            mem::offset_of!(Raw, total_retrans),
            mem::offset_of!(Raw, bytes_acked),
            mem::offset_of!(Raw, notsent_bytes),
            mem::offset_of!(Raw, rwnd_limited_us),
            mem::offset_of!(Raw, rcv_ooopack),
        ];
        assert_eq!(offsets, [8, 28, 68, 80, 100, 120, 144, 176, 224]);
    }

    #[test]
    fn counts_what_was_acknowledged() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut near = listener.accept().unwrap().0;
        near.write_all(&[1; 5_000]).unwrap();
        far.read_exact(&mut [0; 5_000]).unwrap();
        far.write_all(&[1]).unwrap();
        near.read_exact(&mut [0]).unwrap();
        let info = tcp_info(near.as_fd()).unwrap();
        assert_eq!((info.bytes_acked, info.retransmits, info.unsent_bytes), (Some(5_000), 0, Some(0)));
        assert!((1..5_000_000).contains(&info.rtt_us) && info.cwnd_bytes > 1_000, "{info:?}");
        assert!(tcp_info(UdpSocket::bind("127.0.0.1:0").unwrap().as_fd()).is_err());
    }
}

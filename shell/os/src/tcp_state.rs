//! State of a TCP connection, as the kernel knows it.

/// The fields of `tcp_info` that Fathom uses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpInfo {
    /// Smoothed round-trip time in microseconds. Right after the handshake it is that of the
    /// handshake.
    pub rtt_us: u32,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Retransmitted segments since the start, including SYNs.
    pub retransmits: u32,
    /// Payload bytes acknowledged by the peer, plus one for the SYN on the connecting side. `None`
    /// before Linux 4.1.
    pub bytes_acked: Option<u64>,
    /// Payload bytes in selectively acknowledged segments behind a lost one.
    pub bytes_sacked: u64,
    /// Smallest round-trip time, in microseconds; 0 before Linux 4.6.
    pub min_rtt_us: u32,
    /// Payload bytes sent, with those sent again; 0 before Linux 4.19.
    pub bytes_sent: u64,
    /// Payload bytes sent again; 0 before Linux 4.19.
    pub bytes_retransmitted: u64,
    /// Time in which the receive window of the peer limited the sender. `None` before Linux 4.10.
    pub receiver_limited_us: Option<u64>,
    /// Payload bytes that were written and not sent yet. `None` before Linux 4.6.
    pub unsent_bytes: Option<u32>,
    /// Segments received out of order. `None` before Linux 5.4.
    pub out_of_order: Option<u32>,
    /// Whether both ends use ECN (RFC 3168).
    pub has_ecn: bool,
}

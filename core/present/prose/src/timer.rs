//! Timers of protocols that delays exceed.
use crate::phase::while_doing;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{ExceededTimers, ProtocolTimer};
use fathom_text::milliseconds;

pub(crate) fn exceeded(found: &ExceededTimers) -> String {
    let (when, p95) = (while_doing(found.phase), milliseconds(found.rtt_p95_s));
    format!("Round trips {when} ({p95}, p95) exceed timers of {}.", timers(&found.timers))
}

/// Names of protocols with their limits, as a list.
pub fn timers(timers: &[ProtocolTimer]) -> String {
    let named = |timer: &ProtocolTimer| match timer.limit_s() {
        s if s < 1.0 => format!("{} ({} ms)", name(*timer), s * 1e3),
        s => format!("{} ({s} s)", name(*timer)),
    };
    timers.iter().map(named).collect::<Vec<_>>().join(", ")
}

const fn name(timer: ProtocolTimer) -> &'static str {
    match timer {
        ProtocolTimer::MirroredStorage => "mirrored storage",
        ProtocolTimer::LinuxRetransmission => "Linux TCP",
        ProtocolTimer::WindowsRetransmission => "Windows TCP",
        ProtocolTimer::Sip => "SIP",
        ProtocolTimer::CardReader => "card readers",
        ProtocolTimer::TcpConnection => "new TCP connections",
        ProtocolTimer::QuicConnection => "QUIC",
        ProtocolTimer::Ntp => "NTP",
        ProtocolTimer::AddressResolution => "address resolution",
        ProtocolTimer::Dhcp => "DHCP",
        ProtocolTimer::RouterSolicitation => "router solicitation",
        ProtocolTimer::Dns => "DNS",
        ProtocolTimer::Eigrp => "EIGRP",
        ProtocolTimer::Ospf => "OSPF",
        ProtocolTimer::Bgp => "BGP",
    }
}

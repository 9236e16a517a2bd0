//! Protocol timers: at which delay a protocol repeats its request or stops.
use serde::{Deserialize, Serialize};

/// Where a protocol is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerScope {
    /// Over the Internet.
    Internet,
    /// Between the routers of a network, or within a site.
    Network,
}

macro_rules! timers {
    ($($variant:ident = $limit_s:literal, $scope:ident, $consequence:literal, $source:literal;)*) => {
        /// A protocol with a timer that a long delay exceeds, the shortest first.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ProtocolTimer {
            $(#[doc = $consequence] $variant,)*
        }
        impl ProtocolTimer {
            /// All timers.
            pub const ALL: &'static [ProtocolTimer] = &[$(ProtocolTimer::$variant,)*];
            /// The delay in seconds from which it expires.
            pub const fn limit_s(self) -> f64 {
                match self { $(ProtocolTimer::$variant => $limit_s,)* }
            }
            /// Where the protocol is used.
            pub const fn scope(self) -> TimerScope {
                match self { $(ProtocolTimer::$variant => TimerScope::$scope,)* }
            }
            /// What happens then.
            pub const fn consequence(self) -> &'static str {
                match self { $(ProtocolTimer::$variant => $consequence,)* }
            }
            /// Where the limit is from.
            pub const fn source(self) -> &'static str {
                match self { $(ProtocolTimer::$variant => $source,)* }
            }
        }
    };
}

timers! {
    MirroredStorage = 0.005, Network,
        "Each write waits for the other site.",
        "Auerswald, On Bufferbloat: synchronously mirrored storage";
    LinuxRetransmission = 0.2, Network,
        "A queue that fills at once looks like a lost packet, if round trips were short: TCP sends again and slows down.",
        "Linux, include/net/tcp.h (TCP_RTO_MIN)";
    WindowsRetransmission = 0.3, Network,
        "Likewise.",
        "Auerswald, On Bufferbloat";
    Sip = 0.5, Internet,
        "Requests of a call are sent again.",
        "RFC 3261 section 17.1.1.1 (T1)";
    CardReader = 0.8, Network,
        "Doors stay closed: the reader declares its server unreachable.",
        "Auerswald, On Bufferbloat";
    TcpConnection = 1.0, Internet,
        "The SYN is sent again, and the connection starts with a window of one segment.",
        "RFC 6298 section 2.1; RFC 5681 section 3.1";
    QuicConnection = 1.0, Internet,
        "The first packets are sent again.",
        "RFC 9002 section 6.2.2: 333 ms, and four times half of it";
    Ntp = 2.0, Internet,
        "The server is not used: half of the delay counts as the error of its clock.",
        "RFC 5905 section 11.2 (MAXDIST, 1 s)";
    AddressResolution = 3.0, Network,
        "A host does not answer three solicitations, and packets to it are discarded.",
        "RFC 4861 section 10 (RETRANS_TIMER, MAX_MULTICAST_SOLICIT)";
    Dhcp = 4.0, Internet,
        "Requests for an address are sent again.",
        "RFC 2131 section 4.1";
    RouterSolicitation = 4.0, Network,
        "Requests for a router are sent again, three times at most.",
        "RFC 4861 section 10 (RTR_SOLICITATION_INTERVAL)";
    Dns = 5.0, Internet,
        "Names are looked up again, at the next server.",
        "resolv.conf(5): timeout";
    Eigrp = 15.0, Network,
        "The neighbor is lost, and its routes with it, if no hello arrives for this time.",
        "Cisco, ip hold-time eigrp (default)";
    Ospf = 40.0, Network,
        "Likewise.",
        "RFC 2328 appendix C.3 (RouterDeadInterval)";
    Bgp = 90.0, Network,
        "The session ends, and its routes with it, if no message arrives for this time.",
        "RFC 4271 section 10 (HoldTime)";
}

impl ProtocolTimer {
    /// Those that `delay_s` exceeds, of one scope or of all.
    pub fn exceeded(delay_s: f64, scope: Option<TimerScope>) -> impl Iterator<Item = ProtocolTimer> {
        let is_of = move |timer: &ProtocolTimer| scope.is_none_or(|scope| scope == timer.scope());
        ProtocolTimer::ALL.iter().copied().filter(move |timer| delay_s > timer.limit_s()).filter(is_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn exceeded_timers_are_in_order() {
        let of = |delay_s, scope| ProtocolTimer::exceeded(delay_s, scope).collect::<Vec<_>>();
        assert_eq!(of(0.5, Some(TimerScope::Internet)), [], "a reply in time");
        let all = [ProtocolTimer::Sip, ProtocolTimer::TcpConnection, ProtocolTimer::QuicConnection];
        assert_eq!(of(1.2, Some(TimerScope::Internet)), all);
        assert_eq!(of(0.25, None), [ProtocolTimer::MirroredStorage, ProtocolTimer::LinuxRetransmission]);
        assert!(ProtocolTimer::ALL.windows(2).all(|pair| pair[0].limit_s() <= pair[1].limit_s()));
    }
}

//! The probes of a test.
use core::fmt;
use fathom_units::{Direction, Ecn};

/// The ECN flags of a TCP header: AE, CWR, ECE. Source: RFC 9768 section 3.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnFlags(pub u8);

impl EcnFlags {
    /// Accurate ECN.
    pub const AE: u8 = 4;
    /// Congestion window reduced.
    pub const CWR: u8 = 2;
    /// ECN echo.
    pub const ECE: u8 = 1;

    /// The flags in bytes 12 and 13 of a TCP header.
    #[must_use]
    pub const fn of(byte_12: u8, byte_13: u8) -> Self {
        EcnFlags((byte_12 & 1) << 2 | byte_13 >> 6)
    }
    /// Whether all of these are set.
    #[must_use]
    pub const fn has(self, flags: u8) -> bool {
        self.0 & flags == flags
    }
}

impl fmt::Display for EcnFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 & 7 {
            0 => "none",
            1 => "ECE",
            2 => "CWR",
            3 => "CWR+ECE",
            4 => "AE",
            5 => "AE+ECE",
            6 => "AE+CWR",
            _ => "AE+CWR+ECE",
        })
    }
}

/// What a SYN asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handshake {
    /// No ECN: the control of the others.
    Plain,
    /// ECN of RFC 3168: ECE and CWR.
    Classic,
    /// Accurate ECN of RFC 9768: AE, CWR and ECE.
    Accurate,
}

impl Handshake {
    /// The flags of its SYN.
    #[must_use]
    pub const fn flags(self) -> EcnFlags {
        match self {
            Handshake::Plain => EcnFlags(0),
            Handshake::Classic => EcnFlags(EcnFlags::CWR | EcnFlags::ECE),
            Handshake::Accurate => EcnFlags(EcnFlags::AE | EcnFlags::CWR | EcnFlags::ECE),
        }
    }
}

/// A probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// A SYN without a codepoint.
    Syn(Handshake),
    /// A SYN without ECN flags, with a codepoint.
    MarkedSyn(Ecn),
    /// A datagram.
    Udp(Ecn),
    /// Data of a connection.
    Data(Ecn),
    /// An echo request to the router itself or the host. The reply has the codepoint of the request
    /// (RFC 1349 section 5.1), so it shows the way back.
    Echo(Ecn),
}

/// Probes that are handled alike: they are compared with the first of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// SYN segments.
    Syn,
    /// Datagrams.
    Udp,
    /// Data of a connection.
    Data,
    /// Echo requests.
    Echo,
}

/// All probes. The first of each class is the control: it has no sign of ECN.
pub const PROBES: [Probe; 18] = [
    Probe::Syn(Handshake::Plain),
    Probe::Syn(Handshake::Classic),
    Probe::Syn(Handshake::Accurate),
    Probe::MarkedSyn(Ecn::Ect0),
    Probe::MarkedSyn(Ecn::Ect1),
    Probe::MarkedSyn(Ecn::Ce),
    Probe::Udp(Ecn::NotEct),
    Probe::Udp(Ecn::Ect0),
    Probe::Udp(Ecn::Ect1),
    Probe::Udp(Ecn::Ce),
    Probe::Data(Ecn::NotEct),
    Probe::Data(Ecn::Ect0),
    Probe::Data(Ecn::Ect1),
    Probe::Data(Ecn::Ce),
    Probe::Echo(Ecn::NotEct),
    Probe::Echo(Ecn::Ect0),
    Probe::Echo(Ecn::Ect1),
    Probe::Echo(Ecn::Ce),
];

impl Probe {
    /// Its place in [`PROBES`].
    #[must_use]
    pub fn index(self) -> usize {
        PROBES.iter().position(|probe| *probe == self).unwrap_or(0)
    }
    /// Its class.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Probe::Syn(_) | Probe::MarkedSyn(_) => Class::Syn,
            Probe::Udp(_) => Class::Udp,
            Probe::Data(_) => Class::Data,
            Probe::Echo(_) => Class::Echo,
        }
    }
    /// The same without a sign of ECN.
    #[must_use]
    pub const fn control(self) -> Probe {
        match self.class() {
            Class::Syn => Probe::Syn(Handshake::Plain),
            Class::Udp => Probe::Udp(Ecn::NotEct),
            Class::Data => Probe::Data(Ecn::NotEct),
            Class::Echo => Probe::Echo(Ecn::NotEct),
        }
    }
    /// Its codepoint.
    #[must_use]
    pub const fn codepoint(self) -> Ecn {
        match self {
            Probe::Syn(_) => Ecn::NotEct,
            Probe::MarkedSyn(ecn) | Probe::Udp(ecn) | Probe::Data(ecn) | Probe::Echo(ecn) => ecn,
        }
    }
    /// Its flags if it is a SYN.
    #[must_use]
    pub const fn syn_flags(self) -> Option<EcnFlags> {
        match self {
            Probe::Syn(handshake) => Some(handshake.flags()),
            Probe::MarkedSyn(_) => Some(EcnFlags(0)),
            _ => None,
        }
    }
    /// The direction that it shows.
    #[must_use]
    pub const fn direction(self) -> Direction {
        if matches!(self, Probe::Echo(_)) { Direction::Down } else { Direction::Up }
    }
}

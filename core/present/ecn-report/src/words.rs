//! Names of probes, and what happened to them.
use alloc::format;
use alloc::string::String;
use fathom_ecn::{Fate, Finding, Handshake, Probe};
use fathom_units::Ecn;

/// The name of a codepoint, as in RFC 3168.
pub(crate) const fn codepoint(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
}

/// The name of a probe.
pub(crate) fn name(probe: Probe) -> String {
    match probe {
        Probe::Syn(Handshake::Plain) => "SYN without ECN".into(),
        Probe::Syn(Handshake::Classic) => "SYN for ECN".into(),
        Probe::Syn(Handshake::Accurate) => "SYN for AccECN".into(),
        Probe::MarkedSyn(ecn) => format!("SYN with {}", codepoint(ecn)),
        Probe::Udp(ecn) => format!("UDP with {}", codepoint(ecn)),
        Probe::Data(ecn) => format!("data with {}", codepoint(ecn)),
        Probe::Echo(ecn) => format!("ping with {}", codepoint(ecn)),
    }
}

/// The name of a fate, as a verb.
pub(crate) fn happens(fate: Fate) -> String {
    match fate {
        Fate::Kept => "arrives unchanged".into(),
        Fate::Changed(Some(Ecn::NotEct)) => "is cleared".into(),
        Fate::Changed(Some(ecn)) => format!("becomes {}", codepoint(ecn)),
        Fate::Changed(None) => "becomes another codepoint".into(),
        Fate::FlagsChanged(to) => format!("arrives with flags: {to}"),
        Fate::Dropped => "is dropped".into(),
        Fate::Refused => "is refused".into(),
        Fate::Unknown => "unknown".into(),
    }
}

/// A probe and its fate: `data with ECT(0) is cleared`.
pub(crate) fn what(finding: &Finding) -> String {
    format!("{} {}", name(finding.probe), happens(finding.fate))
}

//! Whether ECN survives on a path, for a terminal: the screen of `fathom ecn`.
use crate::words::{codepoint, happens, name, what};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_ecn::{EcnFlags, Fate, Finding, Place, Report, Summary};
use fathom_layout::{Ink, Style, cells, left, wrap};
use fathom_units::Direction;

/// One line about the path to a host.
pub fn ecn_headline(host: &str, report: &Report) -> String {
    match (report.summary(), report.worst()) {
        (Summary::Blocked | Summary::Altered, Some(finding)) => {
            let place =
                finding.place.map_or_else(String::new, |place| format!(", {}", between(report, place)));
            format!("{} to {host}: {}{place}.", problem(report), what(finding))
        }
        (Summary::Survives, _) if report.has_classic() == Some(false) => {
            format!("The path to {host} keeps ECN, but the host does not use it.")
        }
        (Summary::Survives, _) => format!("ECN survives on the path to {host}."),
        (Summary::NoAnswer, _) => format!("{host} does not answer: no connection could be tested."),
        _ => format!("No router on the path to {host} shows what happens to ECN."),
    }
}

/// What the problems mean together.
fn problem(report: &Report) -> &'static str {
    match report.summary() {
        Summary::Blocked => "Packets with ECN are blocked on the path",
        _ => "ECN does not survive on the path",
    }
}

/// A hop with its address.
fn hop(report: &Report, number: u8) -> String {
    let address = report.hops.iter().find(|(known, _)| *known == number).and_then(|(_, address)| *address);
    match (number, address) {
        (0, _) => "this host".into(),
        (_, Some(address)) if report.host_hop == Some(number) => format!("the host ({address})"),
        (_, Some(address)) => format!("hop {number} ({address})"),
        (_, None) => format!("hop {number}"),
    }
}

fn between(report: &Report, place: Place) -> String {
    format!("between {} and {}", hop(report, place.after), hop(report, place.before))
}

/// What happened, where, and how certain that is.
fn outcome(report: &Report, finding: &Finding) -> String {
    let happened = happens(finding.fate);
    let certainty = if finding.is_certain || finding.fate == Fate::Unknown { "" } else { "possibly " };
    match finding.place {
        Some(place) if finding.fate == Fate::Kept => format!("{happened} at {}", hop(report, place.after)),
        Some(place) => format!("{certainty}{happened} {}", between(report, place)),
        None => format!("{certainty}{happened}"),
    }
}

/// What the host agrees to.
fn handshakes(report: &Report) -> [(&'static str, String); 2] {
    let no_reply = if report.is_port_closed { "the port is closed (see --port)" } else { "no SYN-ACK" };
    let classic = match (report.classic_reply, report.has_classic()) {
        (None, _) => no_reply.to_string(),
        (_, Some(true)) => "the host agrees".into(),
        (Some(reply), _) if reply.has(EcnFlags::CWR | EcnFlags::ECE) => {
            "the host only reflects the flags".into()
        }
        _ => "the host does not agree".into(),
    };
    let accurate = match (report.accurate_reply, report.accurate_codepoint()) {
        (None, _) => no_reply.to_string(),
        (_, Some(ecn)) => format!("the host agrees; the SYN arrived with {}", codepoint(ecn)),
        (Some(EcnFlags(EcnFlags::ECE)), _) => "the host agrees to ECN of RFC 3168 instead".into(),
        (Some(EcnFlags(7)), _) => "the host only reflects the flags".into(),
        _ => "the host does not agree".into(),
    };
    [("ECN (RFC 3168)", classic), ("AccECN (RFC 9768)", accurate)]
}

/// The headline, and a table with a line per probe.
pub fn ecn(host: &str, report: &Report, columns: u16, style: Style) -> String {
    let columns = usize::from(columns);
    let mut lines = wrap(&ecn_headline(host, report), columns, 0);
    lines.push(String::new());
    for (name, answer) in handshakes(report) {
        lines.extend(wrap(&format!("{name}: {answer}"), columns, 2));
    }
    if let Some(router) = report.intercepted_at {
        let text = format!("Datagrams expire at {router}, where SYN-ACKs come from: a middlebox may answer.");
        lines.extend(wrap(&text, columns, 2));
    }
    for (direction, title) in [(Direction::Up, "To the host"), (Direction::Down, "From the host")] {
        let of_direction = report.findings.iter().filter(|finding| finding.direction == direction);
        let rows: Vec<&Finding> = of_direction.filter(|finding| finding.fate != Fate::Unknown).collect();
        if rows.is_empty() {
            continue;
        }
        lines.extend([String::new(), style.ink(Ink::Bold, title)]);
        let names: Vec<String> = rows.iter().map(|finding| name(finding.probe)).collect();
        let width = names.iter().map(|name| cells(name)).max().unwrap_or(0);
        for (finding, name) in rows.iter().zip(&names) {
            let ink = match (finding.fate, finding.is_certain) {
                (Fate::Kept, _) => Ink::Good,
                (_, true) => Ink::Bad,
                (_, false) => Ink::Fair,
            };
            let outcome = outcome(report, finding);
            let mut parts = wrap(&outcome, columns.saturating_sub(width + 4).max(20), 0).into_iter();
            let first = parts.next().unwrap_or_default();
            lines.push(format!("  {}  {}", left(name, width), style.ink(ink, &first)));
            lines.extend(parts.map(|part| format!("{:1$}{part}", "", width + 4)));
        }
    }
    lines.join("\n") + "\n"
}

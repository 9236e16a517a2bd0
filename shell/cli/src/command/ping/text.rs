//! Lines in the form of ping(8) and, for several hosts, of fping(8).
use fathom_client::{
    IcmpError, PingEvent, PingProbe, PingTally, PingTarget, ProbeKind, ReplyKind, SeriesReply,
};
use fathom_units::{Duration, PerDirection, Time};
use std::net::IpAddr;

/// The payload of an ICMP probe and its headers, in bytes.
const ICMP_BYTES: (u32, u32) = (56, 84);
/// The ICMP message of a reply, in bytes.
const ICMP_REPLY_BYTES: u32 = 64;

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Milliseconds as a reply of ping(8) has them: three digits below 100 ms.
fn reply_ms(delay: Duration) -> String {
    match ms(delay) {
        ms if ms < 0.9995 => format!("{ms:.3}"),
        ms if ms < 9.995 => format!("{ms:.2}"),
        ms if ms < 99.95 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

/// A percentage as ping(8) prints it: `%g` of C, with six digits.
fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    let decimals = if percent >= 10.0 { 4 } else { 5 };
    let text = format!("{percent:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A target as lines name it.
pub(super) struct Row {
    pub(super) name: String,
    address: String,
    is_icmp: bool,
    /// What is sent.
    probes: String,
}

impl Row {
    pub(super) fn of(target: &PingTarget) -> Row {
        let probes = match &target.probe {
            PingProbe::Icmp if target.address.is_ipv6() => format!("{} data bytes", ICMP_BYTES.0),
            PingProbe::Icmp => format!("{}({}) bytes of data.", ICMP_BYTES.0, ICMP_BYTES.1),
            PingProbe::Tcp => "TCP connections".to_owned(),
            PingProbe::Web(ProbeKind::Tls, _) => "TLS handshakes".to_owned(),
            PingProbe::Web(..) | PingProbe::Requests(_) => "HTTP requests on one connection".to_owned(),
            PingProbe::Dns(name) => format!("DNS queries for {name}"),
            PingProbe::Udp(_) => "UDP probes".to_owned(),
        };
        let is_icmp = matches!(target.probe, PingProbe::Icmp);
        let address = if is_icmp { target.address.ip().to_string() } else { target.address.to_string() };
        Row { name: target.name.clone(), address, is_icmp, probes }
    }
}

/// The first line.
pub(super) fn header(Row { name, address, probes, .. }: &Row) -> String {
    format!("PING {name} ({address}) {probes}")
}

/// A reply in the form of ping(8). `one_way` are delays in each direction.
pub(super) fn reply(
    Row { address, is_icmp, .. }: &Row,
    reply: &SeriesReply,
    is_late: bool,
    one_way: Option<PerDirection<Duration>>,
) -> String {
    let number = u64::from(reply.sequence) + 1;
    let mut line = match is_icmp {
        true => format!("{ICMP_REPLY_BYTES} bytes from {address}: icmp_seq={number}"),
        false => format!("Reply from {address}: seq={number}"),
    };
    if let Some(hops) = reply.hop_limit {
        line += &format!(" ttl={hops}");
    }
    line += &format!(" time={} ms", reply_ms(reply.reply.delay));
    if let Some(PerDirection { up, down }) = one_way {
        line += &format!(" up={} ms down={} ms", reply_ms(up), reply_ms(down));
    }
    line + marks(reply.reply.kind, is_late, reply.reply.is_reordered)
}

/// An ICMP error in the form of ping(8).
pub(super) fn refused(sequence: u32, by: Option<IpAddr>, error: IcmpError) -> String {
    let from = by.map_or_else(String::new, |by| format!("From {by} "));
    format!("{from}icmp_seq={} {error}", u64::from(sequence) + 1)
}

/// Likewise in the form of fping(8).
pub(super) fn fping_refused(Row { name, .. }: &Row, by: Option<IpAddr>, error: IcmpError) -> String {
    let text = error.to_string();
    let what = text.strip_prefix("Destination ").unwrap_or(&text);
    let from = by.map_or_else(String::new, |by| format!(" from {by}"));
    format!("ICMP {what}{from} for ICMP Echo sent to {name}")
}

const fn marks(kind: ReplyKind, is_late: bool, is_reordered: bool) -> &'static str {
    match (kind, is_late, is_reordered) {
        (ReplyKind::Duplicate, ..) => " (DUP!)",
        (_, true, true) => " (late, reordered)",
        (_, true, false) => " (late)",
        (_, false, true) => " (reordered)",
        _ => "",
    }
}

/// A reply in the form of fping(8) with `-c`.
pub(super) fn fping_reply(
    Row { name, is_icmp, .. }: &Row,
    reply: &SeriesReply,
    is_late: bool,
    tally: &PingTally,
) -> String {
    let bytes = if *is_icmp { format!("{ICMP_REPLY_BYTES} bytes, ") } else { String::new() };
    format!(
        "{name} : [{}], {bytes}{} ms ({} avg, {:.0}% loss){}",
        reply.sequence,
        reply_ms(reply.reply.delay),
        reply_ms(Duration::from_secs_f64(tally.mean_s())),
        tally.lost_ratio() * 100.0,
        marks(reply.reply.kind, is_late, reply.reply.is_reordered),
    )
}

/// The first and the last time at which probes were sent.
#[derive(Clone, Copy, Default)]
pub(super) struct Sent {
    pub(super) first: Option<Time>,
    pub(super) last: Time,
}

impl Sent {
    pub(super) fn add(&mut self, event: &PingEvent) {
        if let PingEvent::Sent { at, .. } = event {
            self.first.get_or_insert(*at);
            self.last = *at;
        }
    }
}

/// The summary in the form of ping(8).
pub(super) fn summary(name: &str, tally: &PingTally, sent: Sent, timeout: Duration) -> String {
    let lasted = sent.first.map_or(Duration::ZERO, |first| sent.last.saturating_since(first));
    let duplicates =
        if tally.duplicates > 0 { format!("+{} duplicates, ", tally.duplicates) } else { String::new() };
    let errors = if tally.errors > 0 { format!("+{} errors, ", tally.errors) } else { String::new() };
    let mut text = format!(
        "\n--- {name} ping statistics ---\n{} packets transmitted, {} received, {duplicates}{errors}{}% packet loss, time {:.0}ms\n",
        tally.sent,
        tally.received,
        percent(tally.lost_ratio()),
        ms(lasted),
    );
    if tally.received > 0 {
        text += &format!(
            "rtt min/avg/max/mdev = {:.3}/{:.3}/{:.3}/{:.3} ms\n",
            ms(tally.min),
            tally.mean_s() * 1e3,
            ms(tally.max),
            tally.deviation_s() * 1e3,
        );
    }
    text + &irregular(tally, timeout).map_or_else(String::new, |line| line + "\n")
}

/// The summary in the form of fping(8).
pub(super) fn fping_summary(name: &str, width: usize, tally: &PingTally, timeout: Duration) -> String {
    let mut text = format!(
        "{name:width$} : xmt/rcv/%loss = {}/{}/{:.0}%",
        tally.sent,
        tally.received,
        tally.lost_ratio() * 100.0
    );
    if tally.received > 0 {
        let mean = Duration::from_secs_f64(tally.mean_s());
        let [min, avg, max] = [tally.min, mean, tally.max].map(reply_ms);
        text += &format!(", min/avg/max = {min}/{avg}/{max}");
    }
    text + &irregular(tally, timeout).map_or_else(String::new, |what| format!(" ({what})"))
}

/// Late, duplicate and reordered replies, if there are any.
fn irregular(tally: &PingTally, timeout: Duration) -> Option<String> {
    let late = (tally.late > 0).then(|| format!("{} late (after more than {timeout})", tally.late));
    let reordered = (tally.reordered > 0).then(|| format!("{} reordered", tally.reordered));
    let all: Vec<String> = late.into_iter().chain(reordered).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_ping() {
        let times =
            [45, 999_400, 5_994_000, 12_340_000, 4_857_000_000].map(Duration::from_nanos).map(reply_ms);
        assert_eq!(times, ["0.000", "0.999", "5.99", "12.3", "4857"]);
        let losses = [0.0, 1.0, 1.0 / 3.0, 1.0 / 15.0, 0.1].map(percent);
        assert_eq!(losses, ["0", "100", "33.3333", "6.66667", "10"]);
    }
}

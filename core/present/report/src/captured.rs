//! Tables of a run made of captures, on a terminal.
use crate::Style;
use crate::screen::block;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use fathom_layout::{Ink, Table, clean, wrap};
use fathom_run::{
    Capture, CaptureSource, CapturedAnswers, CapturedFlow, CapturedSide, FrameCount, Limits, ProbeKind,
};
use fathom_text::{bytes, milliseconds, milliseconds_bare, percent, rate, seconds, thousands};

/// Rows of the table of flows.
const FLOWS: usize = 10;
/// VLANs that are shown.
const VLANS: usize = 4;

/// Sources, flows, replies and hops.
pub(crate) fn tables(capture: &Capture, columns: usize, text_columns: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for source in &capture.sources {
        lines.push(of_source(source, style));
        let shares = Some(link_shares(source).join(", ")).filter(|shares| !shares.is_empty());
        lines.extend(shares.iter().flat_map(|shares| wrap(&format!("  {shares}"), text_columns, 2)));
    }
    if capture.flows.iter().any(|flow| flow.sent.iter().any(|side| side.payload_bytes > 0)) {
        lines.extend(block(flow_table(capture, style).lines(columns, style)));
        lines.extend(more_flows(capture).map(|text| style.ink(Ink::Dim, &text)));
    }
    lines.extend(capture.answers.iter().flat_map(|answers| wrap(&of_answers(answers), text_columns, 2)));
    if !capture.hops.is_empty() {
        lines.extend(block(hop_table(capture, style).lines(columns, style)));
    }
    lines
}

fn of_source(source: &CaptureSource, style: Style) -> String {
    format!(
        "{}: {} {}, {}, {}",
        style.ink(Ink::Bold, &clean(&source.name)),
        thousands(source.frames as f64),
        if source.frames == 1 { "frame" } else { "frames" },
        bytes(source.wire_bytes as f64),
        seconds(source.duration_s)
    )
}

/// What shares of the frames are for several hosts, and which VLANs there are, with the most frames
/// first.
fn link_shares(source: &CaptureSource) -> Vec<String> {
    let share = |what: &str, count: FrameCount| {
        let ratio = |part: u64, whole: u64| percent(part as f64 / whole.max(1) as f64);
        let (frames, of_bytes) =
            (ratio(count.frames, source.frames), ratio(count.wire_bytes, source.wire_bytes));
        format!("{what} {frames} of the frames ({of_bytes} of the bytes)")
    };
    let mut vlans = source.vlans.clone();
    vlans.sort_by_key(|vlan| core::cmp::Reverse(vlan.count.frames));
    let groups = [("broadcast", source.broadcast), ("multicast", source.multicast)];
    let seen = groups.into_iter().filter(|(_, count)| !count.is_zero());
    let of_vlans = vlans.iter().take(VLANS).map(|vlan| share(&format!("VLAN {}", vlan.id), vlan.count));
    seen.map(|(what, count)| share(what, count)).chain(of_vlans).collect()
}

/// Round trips of the probes in a capture, in one line.
fn of_answers(answers: &CapturedAnswers) -> String {
    let name = match answers.kind {
        ProbeKind::Echo => "ICMP echo",
        ProbeKind::Dns => "DNS",
        ProbeKind::QuicHandshake => "QUIC handshakes",
        ProbeKind::QuicSpin => "QUIC spin bit",
    };
    let took = answers.rtt.map(|rtt| {
        let [min, p50, p95, max] = [rtt.min_s, rtt.p50_s, rtt.p95_s, rtt.max_s].map(milliseconds);
        format!("; round trip {p50} median, {p95} p95, {min} min, {max} max")
    });
    let (asked, none) = (thousands(answers.asked as f64), thousands(answers.unanswered as f64));
    let took = took.unwrap_or_default();
    match answers.kind {
        // Nobody asks: each turn is an answer to the one before.
        ProbeKind::QuicSpin => format!("{name} (a hint): {asked} turns{took}"),
        _ => format!("{name}: {asked} sent, {none} without a reply{took}"),
    }
}

/// One row for each direction of a flow that carried something, the largest flows first.
fn flow_table(capture: &Capture, style: Style) -> Table {
    let mut table = Table::new();
    table.head(&["flow", "payload", "goodput", "RTT min", "p50", "p95", "max", "retrans.", "limited by"]);
    table.head(&["", "", "", "ms", "ms", "ms", "ms", "packets", ""]);
    for flow in capture.flows.iter().take(FLOWS) {
        for end in (0..2).filter(|end| flow.sent[*end].payload_bytes > 0) {
            table.row(row(flow, end, style));
        }
    }
    table
}

fn row(flow: &CapturedFlow, end: usize, style: Style) -> Vec<(String, Option<Ink>)> {
    let side = &flow.sent[end];
    let arrow = style.pick("→", "->");
    let program: String = flow.program.iter().map(|program| clean(&program.name) + " ").collect();
    let ends = [&flow.ends[end], &flow.ends[1 - end]].map(|socket| clean(socket));
    let name = format!("{} {program}{} {arrow} {}", flow.number, ends[0], ends[1]);
    let none = || style.pick("–", "-").to_string();
    let ms = side.rtt.map_or([none(), none(), none(), none()], |rtt| {
        [rtt.min_s, rtt.p50_s, rtt.p95_s, rtt.max_s].map(milliseconds_bare)
    });
    let again = side.retransmissions.packets();
    let mut cells = vec![
        (name, None),
        (bytes(side.payload_bytes as f64), None),
        (side.goodput_bits_per_second.map_or_else(none, rate), None),
    ];
    cells.extend(ms.map(|text| (text, None)));
    cells.push((thousands(again as f64), (again > 0).then_some(Ink::Bad)));
    cells.push((limited(side).unwrap_or_else(none), None));
    cells
}

/// One row from each capture to the next, both ways.
fn hop_table(capture: &Capture, style: Style) -> Table {
    let mut table = Table::new();
    table.head(&["between", "packets", "lost", "min", "added: p50", "p95", "max", "routers", "clock"]);
    table.head(&["", "in both", "", "ms", "ms", "ms", "ms", "", "offset, ms"]);
    let none = || style.pick("–", "-").to_string();
    for hop in &capture.hops {
        let [from, to] = &hop.captures;
        let arrow = style.pick("→", "->");
        let least = hop.min_delay_s.map_or_else(none, |least| {
            let value = milliseconds_bare(least.value);
            match milliseconds_bare(least.error) {
                error if error == milliseconds_bare(0.0) => value,
                error => format!("{value} {}{error}", style.pick("±", "+-")),
            }
        });
        let more = hop.delay.map_or([none(), none(), none()], |delay| {
            [delay.median_s, delay.p95_s, delay.max_s].map(milliseconds_bare)
        });
        let lost = (thousands(hop.lost_packets as f64), (hop.lost_packets > 0).then_some(Ink::Bad));
        let mut cells = vec![
            (format!("{} {arrow} {}", clean(from), clean(to)), None),
            (thousands(hop.matched_packets as f64), None),
            lost,
            (least, None),
        ];
        cells.extend(more.map(|text| (text, None)));
        cells.push((hop.routers.map_or_else(none, |routers| routers.to_string()), None));
        // Less than is shown is no difference.
        let apart = milliseconds_bare(hop.clock_offset_s);
        cells.push((
            apart.strip_prefix('-').filter(|zero| *zero == milliseconds_bare(0.0)).unwrap_or(&apart).into(),
            None,
        ));
        table.row(cells);
    }
    table
}

/// What held the sender back for most of the time.
fn limited(side: &CapturedSide) -> Option<String> {
    let Limits { window_ratio, congestion_ratio, application_ratio } = side.limits?;
    let all =
        [(window_ratio, "window"), (congestion_ratio, "congestion"), (application_ratio, "application")];
    let (share, name) = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("{name} {}", percent(share)))
}

fn more_flows(capture: &Capture) -> Option<String> {
    let shown = capture.flows.len().min(FLOWS) as u64;
    let more = capture.flow_count.saturating_sub(shown);
    (more > 0).then(|| format!("and {} more flows", thousands(more as f64)))
}

//! The answer of `fathom size` for a terminal: the quantities, and the delay compared with what
//! people notice.
use crate::Style;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_layout::{Ink, Table, cells, left, right, wrap};
use fathom_prose::timers;
use fathom_run::ProtocolTimer;
use fathom_size::{Answer, Case, Growth, Needs, Question, Seed, SizeError, Unknown};
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};
use fathom_units::{Bytes, Duration};

/// Delays that people notice. Sources: 20 ms, three frames of a game; 150 ms, ITU-T G.114 for a
/// call without effort; 1 s, the limit of an uninterrupted train of thought, J. Nielsen, "Usability
/// Engineering", 1993.
const MARKS: [(&str, f64); 3] = [("a game", 0.020), ("a call", 0.150), ("a click", 1.0)];

/// What a bar and its words may take.
const WIDEST_BAR: usize = 50;

/// Times from here on are in seconds.
const LONG_S: f64 = 10.0;

/// Times from here on are also in minutes.
const MINUTES_S: f64 = 120.0;

fn time(value: f64) -> String {
    match value {
        v if v < LONG_S => milliseconds(v),
        v if v < MINUTES_S => seconds(v),
        v => format!("{} ({} min)", seconds(v), thousands(v / 60.0)),
    }
}

/// A packet's time is often far below a millisecond.
fn brief(value: f64) -> String {
    if value < 995e-6 { format!("{:.1} us", value * 1e6) } else { time(value) }
}

/// The answer in words, numbers and a picture.
pub fn size(answer: &Answer, columns: u16, style: Style) -> String {
    let columns = usize::from(columns).max(30);
    let mut lines = wrap(&size_headline(answer), columns, 2);
    if let Some(first) = lines.first_mut() {
        *first = style.ink(Ink::Bold, first);
    }
    lines.push(String::new());
    lines.extend(quantities(answer, columns, style));
    lines.push(String::new());
    lines.extend(picture(answer.delay.as_secs_f64(), columns, style));
    lines.push(String::new());
    lines.extend(remarks(answer).iter().flat_map(|remark| wrap(remark, columns, 2)));
    lines.join("\n") + "\n"
}

/// One sentence about the answer.
pub fn size_headline(answer: &Answer) -> String {
    let (delay, buffer) = (time(answer.delay.as_secs_f64()), bytes(answer.buffer.0 as f64));
    let (rate, packets) = (rate(answer.rate.as_bits_per_second() as f64), packets(answer.packets));
    match (answer.found, answer.needs) {
        (Unknown::Delay, _) => format!("{delay}: delay of a full buffer of {buffer} at {rate}"),
        (Unknown::Buffer, Some(needs)) => {
            format!("{buffer} ({packets}): buffer for {} at {rate}", flows(needs.flows))
        }
        (Unknown::Buffer, None) => {
            format!("{buffer} ({packets}): buffer that delays packets by {delay} at {rate}")
        }
        (Unknown::Rate, Some(needs)) => {
            format!("{rate}: highest rate at which a buffer of {buffer} is enough for {}", flows(needs.flows))
        }
        (Unknown::Rate, None) => format!("{rate}: rate at which {buffer} take {delay}"),
        (Unknown::RoundTrip, needs) => {
            let trip = needs.map_or(0.0, |needs| needs.round_trip.as_secs_f64());
            format!(
                "{}: longest round-trip time for which a buffer of {buffer} is enough at {rate}",
                time(trip)
            )
        }
        (Unknown::Flows, needs) => flows_headline(needs.map_or(0.0, |needs| needs.flows), &buffer, &rate),
    }
}

fn flows_headline(count: f64, buffer: &str, rate: &str) -> String {
    if count < 1.0 {
        return format!("{buffer} at {rate} is more than even one flow needs");
    }
    format!("{}: number needed to keep {rate} busy with a buffer of {buffer}", flows(libm::ceil(count)))
}

fn flows(count: f64) -> String {
    if count <= 1.0 { "1 flow".to_string() } else { format!("{} flows", thousands(count)) }
}

fn packets(count: f64) -> String {
    match count {
        c if c < 0.95 => "less than a packet".to_string(),
        c if c < 1.05 => "1 packet".to_string(),
        c if c < 9.95 => format!("{c:.1} packets"),
        c => format!("{} packets", thousands(libm::floor(c))),
    }
}

/// A row each, what was found marked.
fn quantities(answer: &Answer, columns: usize, style: Style) -> Vec<String> {
    let framing = answer.framing;
    let mut rows = Vec::from([
        (
            "buffer",
            bytes(answer.buffer.0 as f64),
            format!("{}b", answer.buffer.0),
            answer.found == Unknown::Buffer,
        ),
        ("", packets(answer.packets), format!("of {}b", framing.packet.0), false),
        (
            "rate",
            rate(answer.rate.as_bits_per_second() as f64),
            answer.rate.to_string().to_lowercase(),
            answer.found == Unknown::Rate,
        ),
        ("a packet takes", brief(answer.serialization.as_secs_f64()), on_line(answer), false),
        (
            "delay when full",
            time(answer.delay.as_secs_f64()),
            answer.delay.to_string(),
            answer.found == Unknown::Delay,
        ),
    ]);
    rows.extend(answer.needs.iter().flat_map(|needs| needs_rows(needs, answer.found)));
    rows.extend(answer.growth.iter().flat_map(growth_rows));
    let mut table = Table::new();
    for (name, value, exact, is_found) in rows {
        let mark = if is_found { style.pick("← found", "<- found") } else { "" };
        let ink = is_found.then_some(Ink::Bold);
        table.row([
            (format!("  {name}"), None),
            (value, ink),
            (exact, Some(Ink::Dim)),
            (mark.to_string(), ink),
        ]);
    }
    table.lines(columns, style)
}

fn on_line(answer: &Answer) -> String {
    let on_line = answer.framing.on_line();
    if on_line == answer.framing.packet { String::new() } else { format!("{}b on the line", on_line.0) }
}

type Row = (&'static str, String, String, bool);

fn needs_rows(needs: &Needs, found: Unknown) -> [Row; 3] {
    [
        (
            "round trip",
            time(needs.round_trip.as_secs_f64()),
            needs.round_trip.to_string(),
            found == Unknown::RoundTrip,
        ),
        ("in flight (BDP)", bytes(needs.bdp.0 as f64), format!("{}b", needs.bdp.0), false),
        ("flows", flow_count(needs.flows), String::new(), found == Unknown::Flows),
    ]
}

fn flow_count(count: f64) -> String {
    if count < 1.0 { "less than 1".to_string() } else { thousands(libm::ceil(count)) }
}

fn growth_rows(growth: &Growth) -> [Row; 3] {
    let each = format!("{} a second", bytes(growth.bytes_per_second));
    [
        ("overload", percent(growth.overload), String::new(), false),
        ("the delay grows", format!("{} a second", milliseconds(growth.overload)), each, false),
        ("full after", time(growth.fill.as_secs_f64()), growth.fill.to_string(), false),
    ]
}

/// A bar: its name, its delay in seconds, its ink.
type Bar = (&'static str, f64, Ink);

/// The delay among those that people notice; marks far beyond it are left out.
fn bars(delay: f64) -> Vec<Bar> {
    let beyond = MARKS.iter().position(|mark| mark.1 >= delay).unwrap_or(MARKS.len() - 1);
    let mut bars: Vec<Bar> = MARKS[..=beyond].iter().map(|(name, at)| (*name, *at, Ink::Dim)).collect();
    let ink = if delay <= MARKS[0].1 { Ink::Good } else { Ink::Bad };
    bars.push(("this queue", delay, ink));
    bars.sort_by(|a, b| a.1.total_cmp(&b.1));
    bars
}

/// Bars on one linear scale, so that twice as long is twice as slow.
fn picture(delay: f64, columns: usize, style: Style) -> Vec<String> {
    let bars = bars(delay);
    let longest = bars.last().map_or(delay, |bar| bar.1);
    let width = bars.iter().map(|(_, at, _)| cells(&time(*at))).max().unwrap_or(0);
    let room = columns.saturating_sub(width + 18).clamp(4, WIDEST_BAR);
    let line = |(name, at, ink): &Bar| {
        let drawn = style.ink(*ink, &bar(at / longest, room, style));
        format!("  {}  {}  {drawn}", left(name, 10), right(&time(*at), width))
    };
    bars.iter().map(line).collect()
}

/// Eighths of a cell where there are such characters. Never nothing: what is there is seen.
fn bar(share: f64, room: usize, style: Style) -> String {
    let eighths = (libm::round(share * room as f64 * 8.0) as usize).max(1);
    if !style.unicode {
        return "#".repeat(eighths.div_ceil(8));
    }
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    "█".repeat(eighths / 8) + part[eighths % 8]
}

fn remarks(answer: &Answer) -> Vec<String> {
    let delay_s = answer.delay.as_secs_f64();
    let mut remarks = Vec::from([perception(delay_s)]);
    let exceeded: Vec<_> = ProtocolTimer::exceeded(delay_s, None).collect();
    remarks.extend(
        (!exceeded.is_empty()).then(|| format!("This delay exceeds timers of {}.", timers(&exceeded))),
    );
    remarks.extend(standing_queue(answer));
    remarks.extend(answer.needs.is_none().then(|| as_tc(answer)).flatten());
    remarks
}

fn perception(delay: f64) -> String {
    match delay {
        d if d <= MARKS[0].1 => "Imperceptible: below the 20 ms that games tolerate.".to_string(),
        d if d <= MARKS[1].1 => {
            format!("{} the 20 ms that games tolerate; calls (150 ms) still work.", times(d / 0.02))
        }
        d => format!(
            "{} the 20 ms that games tolerate, {} the 150 ms that calls tolerate.",
            times(d / 0.02),
            times(d / 0.15).to_lowercase()
        ),
    }
}

fn times(ratio: f64) -> String {
    match ratio {
        r if r < 1.95 => format!("{:.0} % of", r * 100.0),
        r if r < 9.95 => format!("{r:.1} times"),
        r => format!("{} times", thousands(r)),
    }
}

/// A buffer beyond the bandwidth-delay product never drains: a standing queue.
fn standing_queue(answer: &Answer) -> Option<String> {
    let needs = answer.needs.filter(|needs| needs.flows < 1.0)?;
    let excess = answer.delay.saturating_sub(needs.round_trip);
    Some(format!(
        "One flow needs at most {}. The rest is a standing queue of {}.",
        bytes(needs.bdp.0 as f64),
        time(excess.as_secs_f64())
    ))
}

/// The limit for a delay that nobody notices, as tc takes it.
fn as_tc(answer: &Answer) -> Option<String> {
    let goal = Question {
        rate: Some(answer.rate),
        delay: Some(Duration::from_millis(20)),
        framing: answer.framing,
        ..Question::default()
    };
    let (limit, packet) = (goal.answer().ok()?.buffer, answer.framing.packet);
    if answer.delay.as_secs_f64() <= MARKS[0].1 {
        return None;
    }
    if limit < packet {
        return Some(
            "At this rate a single packet takes more than 20 ms: use smaller packets or a higher rate."
                .to_string(),
        );
    }
    let Bytes(limit) = limit;
    Some(format!(
        "For 20 ms at this rate: bfifo limit {limit}b, or pfifo limit {}. An AQM (fq_codel, CAKE) is better.",
        limit / packet.0
    ))
}

/// Every calculation of the project's sources: the published and the correct result.
///
/// # Errors
/// If a case has no answer.
pub fn size_cases(cases: &[Case], columns: u16, style: Style) -> Result<String, SizeError> {
    let columns = usize::from(columns);
    let says = cases.iter().map(|case| cells(case.says)).max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut seed: Option<Seed> = None;
    let mut asked = "";
    for case in cases {
        if seed.replace(case.seed) != Some(case.seed) {
            lines.push(format!("\n{}", style.ink(Ink::Bold, case.seed.name())));
        }
        lines.extend(case_lines(case, says, columns, style)?);
        if core::mem::replace(&mut asked, case.asked) != case.asked {
            lines.push(style.ink(Ink::Dim, &format!("    fathom size {}", case.asked)));
        }
        lines.extend(case.note.iter().flat_map(|note| note_lines(note, columns)));
    }
    lines.push(String::new());
    lines.extend(wrap(
        "For your own numbers: fathom size 256p 10mbit. As in tc, kb, mb and gb are powers of 1024; 100 kB are 100000b.",
        columns,
        2,
    ));
    Ok(lines.join("\n").trim_start().to_string() + "\n")
}

fn note_lines(note: &str, columns: usize) -> Vec<String> {
    wrap(&format!("! {note}"), columns.saturating_sub(4), 2)
        .iter()
        .map(|line| format!("    {line}"))
        .collect()
}

/// Width of the outcome of a case, in cells: that of `100 ms per second`.
const OUTCOME: usize = 17;

/// One line if it fits, otherwise two.
fn case_lines(case: &Case, says: usize, columns: usize, style: Style) -> Result<Vec<String>, SizeError> {
    let outcome = case.outcome()?;
    let ink = if case.note.is_some() { Ink::Bad } else { Ink::Good };
    let published = format!("source: {}", case.published);
    let room = columns.saturating_sub(says + OUTCOME + 3);
    Ok(if room >= 20 {
        Vec::from([format!(
            "  {}  {}  {published}",
            left(case.says, says),
            style.ink(ink, &right(&outcome, OUTCOME))
        )])
    } else {
        Vec::from([format!("  {}", case.says), format!("    {}  {published}", style.ink(ink, &outcome))])
    })
}

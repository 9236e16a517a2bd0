//! The dark buffers of a host for a terminal: the problems, ranked, each with its sum, fix and undo; then what is no problem.
use crate::Style;
use crate::terminal::{Ink, Table, cells, clean, left, right, wrap};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_audit::{Host, Level, LinkRate, Place, Seen, Spot};
use fathom_text::{bytes, milliseconds, rate, seconds};
use fathom_units::Duration;

/// All of an audit.
pub struct Audited<'a> {
    /// The host.
    pub host: &'a Host,
    /// Where its files are from, if not from here.
    pub from: Option<&'a str>,
    /// Interfaces with a queue.
    pub links: &'a [LinkRate],
    /// What was found, worst first.
    pub places: &'a [Place],
    /// What was seen under load.
    pub seen: Option<&'a Seen>,
    /// Every place at length, those that are no problem too.
    pub all: bool,
}

fn time(value: Duration) -> String {
    let value = value.as_secs_f64();
    if value < 9.95 { milliseconds(value) } else { seconds(value) }
}

/// The audit in words.
pub fn audit(audited: &Audited<'_>, columns: u16, style: Style) -> String {
    let columns = usize::from(columns).max(40);
    let mut lines = heading(audited, columns, style);
    let (problems, quiet): (Vec<&Place>, Vec<&Place>) =
        audited.places.iter().partition(|place| audited.all || place.level > Level::Quiet);
    for (at, place) in problems.iter().enumerate() {
        lines.push(String::new());
        lines.extend(problem(at + 1, place, audited.seen.is_some(), columns, style));
    }
    lines.push(String::new());
    if !quiet.is_empty() {
        lines.push(style.ink(Ink::Dim, "no problem (--all tells what to change there):"));
    }
    lines.extend(quiet.iter().flat_map(|place| no_problem(place, columns, style)));
    lines.extend(wrap(&not_here(audited.places), columns, 2).iter().map(|line| style.ink(Ink::Dim, line)));
    lines.push(String::new());
    lines.extend(wrap(&verdict(audited), columns, 2));
    lines.join("\n") + "\n"
}

fn heading(audited: &Audited<'_>, columns: usize, style: Style) -> Vec<String> {
    let name = audited.from.or(audited.host.name.as_deref()).unwrap_or("this host");
    let kernel = audited.host.kernel.as_ref().map_or_else(String::new, |kernel| format!(", Linux {kernel}"));
    let mut lines = Vec::from([style.ink(Ink::Bold, &clean(&format!("{name}{kernel}")))]);
    let mut table = Table::new();
    for link in audited.links {
        table.row(link_cells(link).map(|cell| (cell, None)));
    }
    lines.extend(table.lines(columns, style));
    let looked = wrap(&seen_line(audited.seen), columns.saturating_sub(2), 2);
    lines.extend(looked.iter().map(|line| format!("  {line}")));
    lines
}

fn link_cells(link: &LinkRate) -> [String; 4] {
    let out = if link.is_way_out { ", the way out" } else { "" };
    let (speed, source) = link.rate.map_or_else(
        || ("rate unknown".to_string(), format!("--rate {}=RATE tells it", clean(&link.name))),
        |(value, source)| (rate(value.as_bits_per_second() as f64), source.name().to_string()),
    );
    [format!("  {}", clean(&link.name)), format!("{}{out}", link.kind.name()), speed, source]
}

fn seen_line(seen: Option<&Seen>) -> String {
    match seen {
        None => "not watched under load: --observe 10s, while something loads it, tells what really waits"
            .to_string(),
        Some(seen) => format!("watched for {}, {} samples", seconds(seen.span.as_secs_f64()), seen.samples),
    }
}

/// Places of the list that this host does not have.
fn not_here(places: &[Place]) -> String {
    let missing = Spot::ALL.iter().filter(|spot| places.iter().all(|place| place.spot != **spot));
    let names: Vec<String> = missing.map(|spot| format!("{} [{}]", spot.name(), spot.number())).collect();
    format!("not on this host, or not to be read: {}", names.join(", "))
}

/// A place's line: what it is and where; then its figures, why, and what to do.
fn problem(number: usize, place: &Place, is_watched: bool, columns: usize, style: Style) -> Vec<String> {
    let (mark, ink) = match place.level {
        Level::Bad => ("BAD", Ink::Bad),
        Level::Dark => ("dark", Ink::Fair),
        Level::Quiet => ("no problem", Ink::Good),
        Level::Unknown => ("unknown", Ink::Latency),
    };
    let object = place.object.as_ref().map_or_else(String::new, |object| format!("{}: ", clean(object)));
    let title = format!("{number:>2}. {object}{} [{}]", place.spot.name(), place.spot.number());
    let room = columns.saturating_sub(cells(&title)).max(cells(mark) + 2);
    let mut lines = Vec::from([style.ink(Ink::Bold, &title) + &style.ink(ink, &right(mark, room))]);
    let body = columns.saturating_sub(4);
    let mut add =
        |text: &str| lines.extend(wrap(&clean(text), body, 0).iter().map(|line| format!("    {line}")));
    add(&place.what);
    figures(place, is_watched).iter().for_each(|figure| add(figure));
    add(&place.why);
    let commands =
        place.fix.iter().map(|fix| ("fix ", fix)).chain(place.undo.iter().map(|undo| ("undo", undo)));
    for (word, command) in commands {
        // Not broken into lines: it is to be copied.
        lines.push(format!("    {} {}", style.ink(Ink::Dim, word), clean(command)));
    }
    lines
}

fn figures(place: &Place, is_watched: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(worst) = &place.worst {
        lines.push(format!("at worst {} = {}", time(worst.sum.delay()), worst.sum.text()));
        lines.extend(
            worst
                .super_packets
                .as_ref()
                .map(|sum| format!("of super-packets {} = {}", time(sum.delay()), sum.text())),
        );
    }
    lines.extend(
        place
            .timer
            .filter(|timer| *timer > Duration::ZERO)
            .map(|timer| format!("and {} by its timer", time(timer))),
    );
    lines.extend(seen_words(place, is_watched));
    let is_asked = place.worst.is_some() || place.spot == Spot::Beyond;
    lines.extend(place.mismatch.filter(|ratio| is_asked && *ratio != 1.0).map(faster));
    lines
}

fn seen_words(place: &Place, is_watched: bool) -> Option<String> {
    match (place.seen, place.seen_delay) {
        (Some(most), Some(delay)) => Some(format!("seen: {} = {}", time(delay), bytes(most.0 as f64))),
        (Some(most), None) => Some(format!("seen: {}", bytes(most.0 as f64))),
        (None, _) if is_watched && place.worst.is_some() => Some("seen: nothing shows it".to_string()),
        _ => None,
    }
}

fn faster(ratio: f64) -> String {
    if ratio > 1.0 {
        format!("packets can come {} times as fast as they go", short(ratio))
    } else {
        format!("packets come at {} of what it sends: they do not wait here", percent(ratio))
    }
}

fn short(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { fathom_text::thousands(ratio) }
}

fn percent(ratio: f64) -> String {
    fathom_text::percent(ratio)
}

/// One line, so that ten interfaces do not hide the eleventh.
fn no_problem(place: &Place, columns: usize, style: Style) -> Vec<String> {
    let object = place.object.as_ref().map_or_else(String::new, |object| format!("{} ", clean(object)));
    let delay = match (&place.worst, place.timer) {
        (None, None) => "-".to_string(),
        _ => time(place.delay()),
    };
    let seen = place.seen_delay.map_or_else(String::new, |seen| format!(", seen {}", time(seen)));
    let name = format!("{object}{} [{}]", place.spot.name(), place.spot.number());
    let why = if place.why.is_empty() { String::new() } else { format!(" ({})", place.why) };
    let text = format!("{name}: {}{seen}{why}", place.what);
    let room = columns.saturating_sub(14);
    let lead = |at: usize| if at == 0 { right(&delay, 11) } else { left("", 11) };
    let wrapped = wrap(&clean(&text), room, 2);
    wrapped
        .iter()
        .enumerate()
        .map(|(at, line)| format!("{}  {}", lead(at), style.ink(Ink::Dim, line)))
        .collect()
}

fn verdict(audited: &Audited<'_>) -> String {
    let count = |level| audited.places.iter().filter(|place| place.level == level).count();
    let (bad, dark, unknown) = (count(Level::Bad), count(Level::Dark), count(Level::Unknown));
    let plural = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
    let worst = audited.places.iter().filter(|place| place.level == Level::Bad).map(Place::delay).max();
    let worst = worst.filter(|delay| *delay > Duration::ZERO);
    let longest = worst.map_or_else(String::new, |delay| format!(", {} at worst", time(delay)));
    let rest = format!("{}, {} that no file tells", plural(dark, "dark buffer"), plural(unknown, "place"));
    match bad {
        0 => format!("No queue stands in front of a slow link here, as far as files tell; {rest}."),
        _ => format!("{} in front of a slow link{longest}; {rest}.", plural(bad, "bloated queue")),
    }
}

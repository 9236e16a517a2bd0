//! The comments of a configuration.
use crate::platform::{Counts, Platform, QueueKind};
use crate::shaper::{Counted, Shaper, full_packet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_shape::Framing;
use fathom_shape::fix::{Budget, Isolation};
use fathom_text::{milliseconds, rate};
use fathom_units::Rate;

/// What a platform's comments say.
pub(crate) struct About<'a> {
    /// Its unit of rates.
    pub(crate) unit: &'a str,
    /// What it cannot do, or does unlike others: sentences.
    pub(crate) limits: &'a [&'a str],
    /// How the configuration is applied. Lines after the first are commands.
    pub(crate) apply: &'a str,
    /// How it is removed. Lines after the first are commands.
    pub(crate) undo: &'a str,
}

/// How a comment looks.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    /// Each line begins with this.
    Lines(&'static str),
    /// All lines are between these.
    Block(&'static str, &'static str),
}

/// Maximum length of a line.
const COLUMNS: usize = 96;

/// The comments of a shaper.
pub(crate) fn comment(style: Style, shaper: &Shaper<'_>, about: &About<'_>) -> String {
    let mut paragraphs = Vec::from([
        head(shaper),
        format!("Units: rates are in {}, rounded down.", about.unit),
        format!("Overhead: {}", overhead(shaper)),
    ]);
    paragraphs.extend(about.limits.iter().map(|limit| format!("Limit: {limit}")));
    paragraphs.push(format!("Apply: {}", about.apply));
    paragraphs.push(format!("Undo: {}", about.undo));
    paragraphs.push(verify(shaper));
    let lines = paragraphs.iter().flat_map(|paragraph| wrapped(paragraph));
    match style {
        Style::Lines(start) => lines.map(|line| format!("{start} {line}\n")).collect(),
        Style::Block(open, close) => {
            let inside: String = lines.map(|line| format!("  {line}\n")).collect();
            format!("{open}\n{inside}{close}\n")
        }
    }
}

fn shown(value: Rate) -> String {
    rate(value.as_bits_per_second() as f64)
}

fn head(shaper: &Shaper<'_>) -> String {
    let side =
        |name, value: Option<Rate>, at: &str| value.map(|value| format!("{name} {} on {at}", shown(value)));
    let at_lan = if shaper.lan.is_empty() { shaper.wan } else { shaper.lan };
    let sides = [side("upload", shaper.up, shaper.wan), side("download", shaper.down, at_lan)];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    format!(
        "{}: {}, with {}. Made by fathom fix.",
        shaper.platform.title(),
        sides.join(", "),
        shaper.queue.name()
    )
}

fn overhead(shaper: &Shaper<'_>) -> String {
    let Counted::Lowered(framing) = shaper.counted else {
        return match shaper.framing() {
            None => "none was given, so packets count as the interface sees them.".to_string(),
            Some(framing) => counted(shaper.platform, framing),
        };
    };
    let both = [(shaper.asked.up, shaper.up), (shaper.asked.down, shaper.down)];
    let lowered =
        both.into_iter().filter_map(|(asked, now)| Some(format!("{} to {}", shown(asked?), shown(now?))));
    let lowered: Vec<String> = lowered.collect();
    format!(
        "it cannot be configured here. A packet of 1500 bytes takes {} on the line, so the rates are lowered: {}. \
         Small packets still take more of the line than is counted.",
        full_packet(framing),
        lowered.join(", ")
    )
}

fn counted(platform: Platform, framing: Framing) -> String {
    let Framing { overhead, mpu, atm } = framing;
    let cells = if atm { ", in ATM cells of 53 bytes for 48" } else { "" };
    let bytes = format!("each packet counts {} bytes beyond IP{cells}", overhead.unwrap_or(0));
    match (mpu, platform.limits().counts) {
        (0, _) => format!("{bytes}."),
        (mpu, Counts::All) => format!("{bytes}, and at least {mpu} bytes."),
        (mpu, _) => format!("{bytes}. The minimum of {mpu} bytes cannot be configured here."),
    }
}

fn verify(shaper: &Shaper<'_>) -> String {
    let isolation = match shaper.queue {
        QueueKind::Cake | QueueKind::FqCodel | QueueKind::Fair => Isolation::PerFlow,
        QueueKind::Short => Isolation::Shared,
    };
    let budget = Budget::new(None).at(isolation, shaper.slowest());
    format!(
        "Verify: run `fathom test` on a computer behind this router before and after, while nothing else uses the \
         line. Median latency under load should be at most about {} above idle. If it is not, something bypasses the \
         shaper, or its rate is above that of the line: lower it by 5 % and test again.",
        milliseconds(budget.as_secs_f64())
    )
}

/// The words of a paragraph in lines. Commands, which are its further lines, stay whole.
fn wrapped(paragraph: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut parts = paragraph.split('\n');
    for word in parts.next().unwrap_or_default().split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            // What continues a paragraph is indented.
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_string()),
        }
    }
    lines.extend(parts.map(|command| format!("    {command}")));
    lines
}

//! Output of `mtr --raw`. What `mtr --json` and `--report` write are means, without single round
//! trips.
use crate::draft::{Draft, delay};
use crate::error::Problem;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Run, Series, SeriesKey, Unrecorded, Value};
use fathom_units::Time;

/// `mtr` without `-i` sends one probe a second to each router.
const INTERVAL_NS: u64 = 1_000_000_000;
/// Most routers of a path: a hop limit has 8 bits.
const MAX_HOPS: u32 = 255;

enum Line<'t> {
    /// A probe to a router was sent.
    Sent { hop: u32, number: u64 },
    /// It was answered.
    Answered { hop: u32, number: u64, rtt_us: f64 },
    /// Address of the router.
    Host { hop: u32, address: &'t str },
}

/// Whether this line is one of `mtr --raw`.
pub(crate) fn is_line(line: &str) -> bool {
    parse(line).is_some()
}

/// `x 0 33000`, `p 0 68 33000`, `h 0 192.0.2.1`
fn parse(line: &str) -> Option<Line<'_>> {
    let mut words = line.split(' ');
    let (kind, hop) = (words.next()?, words.next()?.parse().ok().filter(|hop| *hop < MAX_HOPS)?);
    let (first, second, rest) = (words.next()?, words.next(), words.next());
    match (kind, second, rest) {
        ("x", None, _) => Some(Line::Sent { hop, number: first.parse().ok()? }),
        ("h", None, _) => Some(Line::Host { hop, address: first }),
        ("p", Some(number), None) => {
            Some(Line::Answered { hop, number: number.parse().ok()?, rtt_us: first.parse().ok()? })
        }
        _ => None,
    }
}

/// The probes to one router, in the order of sending.
#[derive(Default)]
struct Hop {
    address: String,
    sent: Vec<u64>,
    answers: BTreeMap<u64, f64>,
}

pub(crate) fn read(text: &str) -> Result<Run, Problem> {
    let mut hops: BTreeMap<u32, Hop> = BTreeMap::new();
    for line in text.lines().filter_map(parse) {
        match line {
            Line::Sent { hop, number } => hops.entry(hop).or_default().sent.push(number),
            Line::Host { hop, address } => hops.entry(hop).or_default().address = address.to_string(),
            Line::Answered { hop, number, rtt_us } => {
                hops.entry(hop).or_default().answers.entry(number).or_insert(delay(rtt_us, 1e-6)?);
            }
        }
    }
    let known = || hops.iter().filter(|(_, hop)| !hop.address.is_empty() && !hop.sent.is_empty());
    let Some(target) = known().next_back().map(|(_, hop)| hop.address.clone()) else {
        return Err(Problem::Damaged("no router answered".into()));
    };
    let mut draft = Draft::new("mtr", "", &target);
    draft.lacks(Unrecorded::SendTimes);
    // The first probes go beyond the target, which answers those too.
    let last = known().find(|(_, hop)| hop.address == target).map_or(0, |(hop, _)| *hop);
    for (number, hop) in known().take_while(|(number, _)| **number <= last) {
        let scope = Some((number + 1).to_string());
        let key = SeriesKey { scope, ..SeriesKey::of(Metric::HopRtt) };
        draft.add(series(if *number == last { SeriesKey::of(Metric::IcmpRtt) } else { key }, hop));
    }
    draft.unknown_load(&target);
    draft.finish()
}

fn series(key: SeriesKey, hop: &Hop) -> Series {
    let mut series = Series::new(key);
    let end = hop.sent.len() as u64 * INTERVAL_NS;
    for (at, number) in (0..).step_by(INTERVAL_NS as usize).zip(&hop.sent) {
        let value = match hop.answers.get(number) {
            Some(rtt_s) => Value::Observed(*rtt_s),
            None => Value::Censored { at_least: (end - at) as f64 / 1e9 },
        };
        series.push(Observation { at: Time::from_nanos(at), value });
    }
    series
}

//! The text form of `htb`, with the keywords of `tc-htb(8)` and all classes in one line.
use super::words::{Words, refuse};
use super::{SpecError, Text};
use crate::htb::{FLOWS, LEVELS, PRIOS};
use crate::{DropFrom, FifoParams, HtbClass, HtbMatch, HtbParams, Limit, Spec};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::{Bytes, Rate};

const ABOVE_ZERO: &str = "a value above 0";
/// Default burst: an Ethernet packet plus some margin. Source: tc.
const BURST: Bytes = Bytes(1600);
/// Source: tc.
const R2Q: u64 = 10;
/// Bounds of a quantum derived from the rate. Source: `sch_htb`.
const MIN_QUANTUM: u64 = 1000;
/// See [`MIN_QUANTUM`].
const MAX_QUANTUM: u64 = 200_000;
/// A class takes about 400 bytes without its queue; more classes are assumed to be a mistake.
const MAX_CLASSES: usize = 1024;
/// Queue of a class without a queue in braces. Linux uses the interface's `txqueuelen`.
const QUEUE: Spec = Spec::Fifo(FifoParams { limit: Limit::Packets(1000), drop_from: DropFrom::Tail });

/// A class as read so far.
struct ReadClass {
    id: u16,
    parent: Option<u16>,
    rate: Option<Rate>,
    ceil: Option<Rate>,
    burst: Bytes,
    cburst: Bytes,
    prio: u8,
    quantum: Option<Bytes>,
    matches: Vec<HtbMatch>,
    queue: Option<Spec>,
}

impl ReadClass {
    fn new(id: u16) -> Self {
        ReadClass {
            id,
            parent: None,
            rate: None,
            ceil: None,
            burst: BURST,
            cburst: BURST,
            prio: 0,
            quantum: None,
            matches: Vec::new(),
            queue: None,
        }
    }
    fn read_word(&mut self, words: &mut Words<'_>, word: &'static str) -> Result<(), SpecError> {
        match word {
            "parent" => self.parent = Some(id(words, word)?),
            "rate" => self.rate = Some(words.rate(word)?),
            "ceil" => self.ceil = Some(words.rate(word)?),
            "burst" => self.burst = words.bytes(word, Bytes(1), ABOVE_ZERO)?,
            "cburst" => self.cburst = words.bytes(word, Bytes(1), ABOVE_ZERO)?,
            "prio" => self.prio = words.number(word, 0..=PRIOS as u64 - 1, "a number from 0 to 7")? as u8,
            "quantum" => self.quantum = Some(words.bytes(word, Bytes(1), ABOVE_ZERO)?),
            "match" => self.matches.push(read_match(words)?),
            _ => self.queue = Some(words.child()?),
        }
        Ok(())
    }
    fn is_parent_of(&self, other: &ReadClass) -> bool {
        other.parent == Some(self.id)
    }
    /// Completes the class with the defaults that depend on other parameters.
    fn finish(self, r2q: u64, is_leaf: bool) -> Result<HtbClass, SpecError> {
        let rate = self.rate.ok_or(SpecError::Missing { discipline: "htb class", word: "rate" })?;
        let ceil = self.ceil.unwrap_or(rate);
        if ceil < rate {
            let text = alloc::format!("{}bit", ceil.as_bits_per_second());
            return Err(refuse("ceil", &text, "at least the rate"));
        }
        if !is_leaf && (self.queue.is_some() || !self.matches.is_empty()) {
            return Err(refuse(
                "class",
                &self.id.to_string(),
                "no \"match\" and no queue in a class with child classes",
            ));
        }
        let quantum = rate.as_bits_per_second() / 8 / r2q;
        Ok(HtbClass {
            id: self.id,
            parent: self.parent,
            rate,
            ceil,
            burst: self.burst,
            cburst: self.cburst,
            prio: self.prio,
            quantum: self.quantum.unwrap_or(Bytes(quantum.clamp(MIN_QUANTUM, MAX_QUANTUM))),
            matches: self.matches,
            queue: is_leaf.then(|| self.queue.unwrap_or(QUEUE)),
        })
    }
}

fn id(words: &mut Words<'_>, word: &'static str) -> Result<u16, SpecError> {
    words.number(word, 1..=u64::from(u16::MAX), "a number from 1 to 65535").map(|id| id as u16)
}

fn read_match(words: &mut Words<'_>) -> Result<HtbMatch, SpecError> {
    match words.value("match")? {
        "dscp" => Ok(HtbMatch::Dscp(words.number("dscp", 0..=63, "a number from 0 to 63")? as u8)),
        "flow" => flows(words.value("flow")?).map(HtbMatch::Flow),
        "ect1" => Ok(HtbMatch::Ect1),
        other => Err(refuse("match", other, "dscp, flow or ect1")),
    }
}

/// Parses `3` or `0..511`.
fn flows(text: &str) -> Result<core::ops::RangeInclusive<u64>, SpecError> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |digits: &str| digits.parse().ok().filter(|flow| *flow < FLOWS);
    let range = number(first).zip(number(last)).map(|(first, last)| first..=last);
    range
        .filter(|range| !range.is_empty())
        .ok_or_else(|| refuse("flow", text, "numbers below 1024 such as 0..511"))
}

/// Checks that parents and class numbers are valid and that no class is too deep.
fn check_tree(read: &[ReadClass]) -> Result<(), SpecError> {
    let mut depths: Vec<usize> = Vec::with_capacity(read.len());
    for (place, class) in read.iter().enumerate() {
        let before = &read[..place];
        if place >= MAX_CLASSES || before.iter().any(|other| other.id == class.id) {
            return Err(refuse("class", &class.id.to_string(), "a unique number, and at most 1024 classes"));
        }
        let parent = before.iter().position(|other| other.is_parent_of(class));
        let depth = parent.map_or(0, |parent| depths[parent] + 1);
        let is_lost = class.parent.is_some() && parent.is_none();
        if let Some(id) = class.parent.filter(|_| is_lost || depth >= LEVELS) {
            return Err(refuse(
                "parent",
                &id.to_string(),
                "a class listed before this one, with at most 7 levels above",
            ));
        }
        depths.push(depth);
    }
    Ok(())
}

impl Text for HtbParams {
    const NAME: &'static str = "htb";
    const WORDS: &'static str = "default r2q class parent rate ceil burst cburst prio quantum match {";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let (mut default, mut r2q, mut read) = (0, R2Q, Vec::<ReadClass>::new());
        while let Some(word) = words.next_known()? {
            match word {
                "default" => {
                    let expected = "0 or a class number";
                    default = words.number(word, 0..=u64::from(u16::MAX), expected)? as u16;
                }
                "r2q" => r2q = words.number(word, 1..=1 << 30, "a whole number above 0")?,
                "class" => read.push(ReadClass::new(id(words, word)?)),
                _ => match read.last_mut() {
                    Some(class) => class.read_word(words, word)?,
                    None => return Err(SpecError::Missing { discipline: Self::NAME, word: "class" }),
                },
            }
        }
        check_tree(&read)?;
        let is_leaf: Vec<bool> =
            read.iter().map(|class| !read.iter().any(|other| class.is_parent_of(other))).collect();
        let finished = read.into_iter().zip(is_leaf).map(|(class, is_leaf)| class.finish(r2q, is_leaf));
        let classes = finished.collect::<Result<Vec<_>, _>>()?;
        let is_default = |class: &HtbClass| class.id == default && class.queue.is_some();
        if classes.is_empty() {
            return Err(SpecError::Missing { discipline: Self::NAME, word: "class" });
        }
        if default != 0 && !classes.iter().any(is_default) {
            return Err(refuse("default", &default.to_string(), "0 or a leaf class"));
        }
        Ok(HtbParams { default: (default != 0).then_some(default), classes })
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " default {}", self.default.unwrap_or(0))?;
        self.classes.iter().try_for_each(|class| write!(f, " {class}"))
    }
}

impl fmt::Display for HtbClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.id)?;
        if let Some(parent) = self.parent {
            write!(f, " parent {parent}")?;
        }
        let (rate, ceil) = (self.rate.as_bits_per_second(), self.ceil.as_bits_per_second());
        write!(
            f,
            " rate {rate}bit ceil {ceil}bit burst {}b cburst {}b",
            self.burst.get(),
            self.cburst.get()
        )?;
        write!(f, " prio {} quantum {}b", self.prio, self.quantum.get())?;
        self.matches.iter().try_for_each(|each| write!(f, " match {each}"))?;
        self.queue.as_ref().map_or(Ok(()), |queue| write!(f, " {{ {queue} }}"))
    }
}

impl fmt::Display for HtbMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HtbMatch::Dscp(dscp) => write!(f, "dscp {dscp}"),
            HtbMatch::Flow(flows) => write!(f, "flow {}..{}", flows.start(), flows.end()),
            HtbMatch::Ect1 => f.write_str("ect1"),
        }
    }
}

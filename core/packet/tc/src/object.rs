//! Queue disciplines, classes and filters as reported by the kernel, to be restored unchanged.
use crate::attribute::{Writer, attributes, find, text, u32_at};
use crate::message::{Header, Message, TC_HEADER_BYTES, types};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// Top-level attributes. Source: linux/rtnetlink.h (`TCA_...`).
pub(crate) mod top {
    pub(crate) const KIND: u16 = 1;
    pub(crate) const OPTIONS: u16 = 2;
    pub(crate) const XSTATS: u16 = 4;
    pub(crate) const STATS2: u16 = 7;
    pub(crate) const STAB: u16 = 8;
    pub(crate) const CHAIN: u16 = 11;
    pub(crate) const INGRESS_BLOCK: u16 = 13;
    pub(crate) const EGRESS_BLOCK: u16 = 14;
}

/// The type of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// A queue discipline.
    Qdisc,
    /// A class of a queue discipline.
    Class,
    /// A filter.
    Filter,
}

impl What {
    pub(crate) const fn new_type(self) -> u16 {
        match self {
            What::Qdisc => types::NEW_QDISC,
            What::Class => types::NEW_CLASS,
            What::Filter => types::NEW_FILTER,
        }
    }
    /// The keyword of `tc`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            What::Qdisc => "qdisc",
            What::Class => "class",
            What::Filter => "filter",
        }
    }
}

/// An object as reported by the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its type.
    pub what: What,
    /// Its position.
    pub header: Header,
    /// Attributes: types with flags, and values without padding.
    pub attributes: Vec<(u16, Vec<u8>)>,
}

impl Object {
    /// Reads a list entry; `None` if the message is about something else.
    #[must_use]
    pub fn read(message: &Message<'_>) -> Option<Object> {
        let what = match message.kind {
            types::NEW_QDISC => What::Qdisc,
            types::NEW_CLASS => What::Class,
            types::NEW_FILTER => What::Filter,
            _ => return None,
        };
        let attributes = attributes(message.body.get(TC_HEADER_BYTES..)?);
        let attributes = attributes.map(|a| (a.raw, a.value.to_vec())).collect();
        Some(Object { what, header: Header::read(message.body)?, attributes })
    }
    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, number: u16) -> Option<&[u8]> {
        self.attributes.iter().find(|(raw, _)| raw & 0x3fff == number).map(|(_, value)| value.as_slice())
    }
    /// Its kind, such as `htb` or `u32`.
    #[must_use]
    pub fn kind(&self) -> String {
        self.attribute(top::KIND).and_then(text).unwrap_or_default().to_owned()
    }
    /// Its options, in binary form.
    #[must_use]
    pub fn options(&self) -> Option<&[u8]> {
        self.attribute(top::OPTIONS)
    }
    /// The object without counters and informational fields; equal states give equal results.
    #[must_use]
    pub fn without_counters(&self) -> Object {
        let kept = [top::KIND, top::OPTIONS, top::STAB, top::CHAIN, top::INGRESS_BLOCK, top::EGRESS_BLOCK];
        let mut object = self.clone();
        object.attributes.retain(|(raw, _)| kept.contains(&(raw & 0x3fff)));
        let kind = object.kind();
        for (raw, value) in &mut object.attributes {
            if *raw & 0x3fff == top::OPTIONS {
                settle(self.what, &kind, value);
            }
        }
        if self.what == What::Qdisc {
            object.header.info = 0;
        }
        object
    }
    /// The object as it must be requested to be reported as now. `None` if it is created
    /// implicitly, like the table of a u32 filter, or the classes of some queue disciplines.
    #[must_use]
    pub fn to_make_again(&self) -> Option<Object> {
        const WITH_CLASSES: [&str; 5] = ["htb", "hfsc", "drr", "qfq", "ets"];
        let kind = self.kind();
        let mut object = self.without_counters();
        let follows = match self.what {
            What::Qdisc => false,
            What::Class => !WITH_CLASSES.contains(&kind.as_str()),
            What::Filter => self.header.handle == 0 || is_first_table(self),
        };
        for (raw, value) in &mut object.attributes {
            if *raw & 0x3fff == top::OPTIONS && self.what == What::Qdisc {
                round_up_codel(&kind, value);
            }
        }
        (!follows).then_some(object)
    }
}

/// The kernel creates one for a u32 filter. Others have numbers below 0x800, or more buckets.
fn is_first_table(filter: &Object) -> bool {
    const DIVISOR: u16 = 4;
    const OF_A_PERSON: u32 = 0x800 << 20;
    let divisor =
        filter.options().and_then(|options| find(options, DIVISOR)).and_then(|value| u32_at(value, 0));
    filter.kind() == "u32" && divisor == Some(1) && filter.header.handle >= OF_A_PERSON
}

/// CoDel stores times in units of 1024 ns and reports microseconds, rounding down both times.
/// Adding one microsecond restores the same value.
fn round_up_codel(kind: &str, options: &mut [u8]) {
    let times: &[u16] = match kind {
        "fq_codel" => &[1, 3, 7],
        "codel" => &[1, 3, 5],
        _ => return,
    };
    for number in times {
        let Some(at) = offset_of(options, *number) else { continue };
        let reported = u32_at(options, at).unwrap_or_default();
        if let Some(place) = options.get_mut(at..at + 4) {
            place.copy_from_slice(&reported.saturating_add(1).to_ne_bytes());
        }
    }
}

/// Offset of the value of an attribute.
fn offset_of(options: &[u8], number: u16) -> Option<usize> {
    find(options, number).map(|value| value.as_ptr() as usize - options.as_ptr() as usize)
}

/// Keeps constant options that a request may contain.
fn settle(what: What, kind: &str, options: &mut Vec<u8>) {
    match (what, kind) {
        (What::Qdisc, "htb") => settle_htb(options),
        (What::Filter, _) => *options = settle_filter(kind, options),
        _ => {}
    }
}

/// HTB reports version 0x30011 but expects 3, and reports a packet counter in its options.
fn settle_htb(options: &mut [u8]) {
    // Attribute 2, `struct tc_htb_glob`: the version is first, the counter last.
    const VERSION_AND_COUNTER: [(usize, u32); 2] = [(0, 3), (16, 0)];
    let Some(at) = offset_of(options, 2) else { return };
    for (offset, value) in VERSION_AND_COUNTER {
        if let Some(place) = options.get_mut(at + offset..at + offset + 4) {
            place.copy_from_slice(&value.to_ne_bytes());
        }
    }
}

/// Removes counters and the hardware offload state from the options of a filter.
fn settle_filter(kind: &str, options: &[u8]) -> Vec<u8> {
    // Attribute numbers of counters, flags and actions. Source: linux/pkt_cls.h.
    let (counters, flags, actions): (&[u16], u16, u16) = match kind {
        "u32" => (&[9], 11, 7),
        "matchall" => (&[4], 3, 2),
        "bpf" => (&[10, 11], 9, 1),
        "basic" => (&[5], u16::MAX, 3),
        "fw" => (&[], u16::MAX, 4),
        "flower" => (&[86], 22, 3),
        _ => (&[], u16::MAX, u16::MAX),
    };
    let mut settled = Writer::default();
    for attribute in attributes(options).filter(|a| !counters.contains(&a.number)) {
        if attribute.number == flags {
            // Requests may only skip hardware or software; the other flags are informational.
            let asked = u32_at(attribute.value, 0).unwrap_or(0) & 3;
            settled.u32(attribute.raw, (asked != 0).then_some(asked));
        } else if attribute.number == actions {
            settled.put(attribute.raw, &settle_actions(attribute.value));
        } else {
            settled.put(attribute.raw, attribute.value);
        }
    }
    settled.0
}

/// Keeps kind, index, cookie and options of each action, without times of use and reference counts.
fn settle_actions(actions: &[u8]) -> Vec<u8> {
    // TCA_ACT_KIND, INDEX, COOKIE, FLAGS.
    const KEPT: [u16; 4] = [1, 3, 6, 7];
    const OPTIONS: u16 = 2;
    let mut settled = Writer::default();
    for action in attributes(actions) {
        settled.nested(action.raw, |to| {
            for part in attributes(action.value) {
                if part.number == OPTIONS {
                    to.put(part.raw, &settle_action_options(action.value, part.value));
                } else if KEPT.contains(&part.number) {
                    to.put(part.raw, part.value);
                }
            }
        });
    }
    settled.0
}

/// Parameters start with `tc_gen`: index, capabilities, verdict, and two reference counts. Which
/// attribute has times (`struct tcf_t`) depends on the action; it is known for mirred only.
fn settle_action_options(action: &[u8], options: &[u8]) -> Vec<u8> {
    const MIRRED_TIMES: u16 = 1;
    const PARAMETERS: u16 = 2;
    let is_mirred = find(action, 1).and_then(text) == Some("mirred");
    let mut settled = Writer::default();
    for part in attributes(options) {
        if is_mirred && part.number == MIRRED_TIMES {
            continue;
        }
        let mut value = part.value.to_vec();
        if is_mirred && part.number == PARAMETERS && value.len() >= 20 {
            value[12..20].fill(0);
        }
        settled.put(part.raw, &value);
    }
    settled.0
}

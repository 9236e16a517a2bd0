//! Filters: u32, matchall and classic BPF, with a class or a mirred action.
use crate::attribute::{NESTED, Writer, attributes, find, find_u32, text, u16_at, u32_at};
use crate::bpf::Instruction;
use crate::handle::Handle;
use crate::object::{Object, What, top};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// All protocols (`ETH_P_ALL`).
const ALL_PROTOCOLS: u16 = 3;

/// A filter of all protocols.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// The queue discipline or hook that it is attached to.
    pub parent: Handle,
    /// Priority; 1 is first.
    pub priority: u16,
    /// Which packets it matches.
    pub matches: Match,
    /// The class to select.
    pub class: Option<Handle>,
    /// Alternatively, where to redirect packets.
    pub action: Option<Mirred>,
}

/// Which packets a filter matches.
#[derive(Clone, PartialEq, Debug)]
pub enum Match {
    /// Packets that match all keys.
    U32(Vec<U32Key>),
    /// All packets.
    All,
    /// Packets selected by a program, which may also select the class.
    Bpf(Vec<Instruction>),
}

/// Compares 32 bits of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct U32Key {
    /// Bits to compare.
    pub mask: u32,
    /// Their value.
    pub value: u32,
    /// Offset from the network header, in bytes.
    pub offset: i32,
}

/// Redirects matching packets to the egress of another interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mirred {
    /// Name of the interface; if read from an object, `#` and its index.
    pub to: String,
}

mod number {
    pub(super) const CLASS_U32: u16 = 1;
    pub(super) const SELECTOR_U32: u16 = 5;
    pub(super) const ACTION_U32: u16 = 7;
    pub(super) const CLASS_ALL: u16 = 1;
    pub(super) const ACTION_ALL: u16 = 2;
    pub(super) const ACTION_BPF: u16 = 1;
    pub(super) const CLASS_BPF: u16 = 3;
    pub(super) const LENGTH_BPF: u16 = 4;
    pub(super) const PROGRAM_BPF: u16 = 5;
    pub(super) const ACTION_KIND: u16 = 1;
    pub(super) const ACTION_OPTIONS: u16 = 2;
    pub(super) const MIRRED_PARAMETERS: u16 = 2;
}

/// `struct tc_u32_sel` without keys, and `struct tc_u32_key`.
const SELECTOR_BYTES: usize = 16;
const KEY_BYTES: usize = 16;

/// Priority and protocol in the form of `tcm_info`.
pub(crate) fn info(priority: u16) -> u32 {
    u32::from(priority) << 16 | u32::from(ALL_PROTOCOLS.to_be())
}

impl Match {
    const fn kind(&self) -> &'static str {
        match self {
            Match::U32(_) => "u32",
            Match::All => "matchall",
            Match::Bpf(_) => "bpf",
        }
    }
}

impl Filter {
    /// Reads a filter; `None` if it has another kind or protocol or is truncated.
    #[must_use]
    pub fn read(object: &Object) -> Option<Filter> {
        let priority = (object.header.info >> 16) as u16;
        if object.what != What::Filter || object.header.info != info(priority) {
            return None;
        }
        let options = object.options()?;
        let (matches, class, action) = match object.kind().as_str() {
            "u32" => (Match::U32(read_selector(options)?), number::CLASS_U32, number::ACTION_U32),
            "matchall" => (Match::All, number::CLASS_ALL, number::ACTION_ALL),
            "bpf" => (Match::Bpf(read_program(options)?), number::CLASS_BPF, number::ACTION_BPF),
            _ => return None,
        };
        let action = find(options, action).and_then(Mirred::read);
        let class = find_u32(options, class).map(Handle);
        Some(Filter { parent: Handle(object.header.parent), priority, matches, class, action })
    }
    /// Writes the filter. `action_index`: the interface index of the redirect.
    pub(crate) fn write(&self, to: &mut Writer, action_index: u32) {
        let action =
            |w: &mut Writer, number| self.action.iter().for_each(|_| write_action(w, number, action_index));
        let class = self.class.map(|class| class.0);
        to.text(top::KIND, self.matches.kind()).nested(top::OPTIONS, |w| match &self.matches {
            Match::U32(keys) => {
                w.u32(number::CLASS_U32, class);
                action(w, number::ACTION_U32);
                w.put(number::SELECTOR_U32, &selector(keys));
            }
            Match::All => {
                w.u32(number::CLASS_ALL, class);
                action(w, number::ACTION_ALL);
            }
            Match::Bpf(program) => {
                action(w, number::ACTION_BPF);
                w.u32(number::CLASS_BPF, class);
                write_program(w, program);
            }
        });
    }
    /// Writes the arguments of `tc` after `dev NAME`.
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " parent {} protocol all prio {} {}", self.parent, self.priority, self.matches.kind())?;
        match &self.matches {
            Match::U32(keys) => {
                for key in keys {
                    write!(f, " match u32 {:#x} {:#x} at {}", key.value, key.mask, key.offset)?;
                }
            }
            Match::All => {}
            Match::Bpf(program) => {
                write!(f, " bytecode '{}", program.len())?;
                program
                    .iter()
                    .try_for_each(|i| write!(f, ",{} {} {} {}", i.code, i.jump_true, i.jump_false, i.k))?;
                f.write_str("'")?;
            }
        }
        if let Some(class) = self.class {
            write!(f, " flowid {class}")?;
        }
        self.action
            .as_ref()
            .map_or(Ok(()), |mirred| write!(f, " action mirred egress redirect dev {}", mirred.to))
    }
}

fn selector(keys: &[U32Key]) -> Vec<u8> {
    const TERMINAL: u8 = 1;
    let mut bytes = alloc::vec![0; SELECTOR_BYTES];
    bytes[0] = TERMINAL;
    // 255 is the kernel's limit, so it rejects more keys.
    bytes[2] = u8::try_from(keys.len()).unwrap_or(u8::MAX);
    for key in keys {
        bytes.extend(key.mask.to_be_bytes());
        bytes.extend(key.value.to_be_bytes());
        bytes.extend(key.offset.to_ne_bytes());
        bytes.extend(0_i32.to_ne_bytes());
    }
    bytes
}

fn read_selector(options: &[u8]) -> Option<Vec<U32Key>> {
    let selector = find(options, number::SELECTOR_U32)?;
    let count = usize::from(*selector.get(2)?);
    let keys = selector.get(SELECTOR_BYTES..SELECTOR_BYTES + count * KEY_BYTES)?;
    let key = |bytes: &[u8]| {
        Some(U32Key {
            mask: u32::from_be(u32_at(bytes, 0)?),
            value: u32::from_be(u32_at(bytes, 4)?),
            offset: u32_at(bytes, 8)?.cast_signed(),
        })
    };
    keys.chunks_exact(KEY_BYTES).map(key).collect()
}

fn write_program(to: &mut Writer, program: &[Instruction]) {
    let length = u16::try_from(program.len()).unwrap_or(u16::MAX);
    let bytes: Vec<u8> = program.iter().flat_map(|i| i.encode()).collect();
    to.put(number::LENGTH_BPF, &length.to_ne_bytes()).put(number::PROGRAM_BPF, &bytes);
}

fn read_program(options: &[u8]) -> Option<Vec<Instruction>> {
    let length = usize::from(u16_at(find(options, number::LENGTH_BPF)?, 0)?);
    let program = find(options, number::PROGRAM_BPF)?.get(..length * Instruction::BYTES)?;
    program.chunks_exact(Instruction::BYTES).map(Instruction::decode).collect()
}

/// A mirred action: `struct tc_mirred` with verdict `TC_ACT_STOLEN` and `TCA_EGRESS_REDIR`.
fn write_action(to: &mut Writer, number: u16, interface: u32) {
    const STOLEN: u32 = 4;
    const EGRESS_REDIRECT: u32 = 1;
    // Index, capabilities, verdict, two reference counts, operation, interface.
    let words = [0, 0, STOLEN, 0, 0, EGRESS_REDIRECT, interface];
    to.nested(number, |actions| {
        actions.nested(1, |action| {
            action.text(number::ACTION_KIND, "mirred").nested(number::ACTION_OPTIONS | NESTED, |options| {
                options.put(number::MIRRED_PARAMETERS, words.map(u32::to_ne_bytes).as_flattened());
            });
        });
    });
}

impl Mirred {
    fn read(actions: &[u8]) -> Option<Mirred> {
        let action = attributes(actions).next()?.value;
        if text(find(action, number::ACTION_KIND)?)? != "mirred" {
            return None;
        }
        let parameters = find(find(action, number::ACTION_OPTIONS)?, number::MIRRED_PARAMETERS)?;
        Some(Mirred { to: format!("#{}", u32_at(parameters, 24)?) })
    }
    /// Creates a redirect to this interface.
    #[must_use]
    pub fn to(name: &str) -> Mirred {
        Mirred { to: name.to_owned() }
    }
}

//! HTB classes: `struct tc_htb_opt`.
use crate::attribute::{Writer, find, find_u64, u32_at};
use crate::handle::Handle;
use crate::object::{Object, What, top};
use crate::rate::{RateSpec, SPEC_BYTES, bytes_of, ticks};
use core::fmt;

/// An HTB class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtbClass {
    /// The queue discipline, or the class that it borrows from.
    pub parent: Handle,
    /// Handle of the class.
    pub handle: Handle,
    /// The guaranteed rate.
    pub rate: RateSpec,
    /// The maximum rate, including borrowing.
    pub ceil: RateSpec,
    /// Burst at the guaranteed rate, in bytes.
    pub burst: u32,
    /// Burst at the ceiling, in bytes.
    pub ceil_burst: u32,
    /// DRR quantum among borrowing classes, in bytes; 0 selects the kernel's default.
    pub quantum: u32,
    /// Borrowing priority; 0 is first.
    pub priority: u32,
}

mod number {
    pub(super) const PARAMETERS: u16 = 1;
    pub(super) const RATE64: u16 = 6;
    pub(super) const CEIL64: u16 = 7;
}

impl HtbClass {
    /// Reads a class; `None` if the object is something else or truncated.
    #[must_use]
    pub fn read(object: &Object) -> Option<HtbClass> {
        if object.what != What::Class || object.kind() != "htb" {
            return None;
        }
        let options = object.options()?;
        let parameters = find(options, number::PARAMETERS)?;
        let rate = RateSpec::decode(parameters, find_u64(options, number::RATE64))?;
        let ceil = RateSpec::decode(parameters.get(SPEC_BYTES..)?, find_u64(options, number::CEIL64))?;
        // After the rates: both buffers, quantum, level, priority.
        let word = |n: usize| u32_at(parameters, 2 * SPEC_BYTES + 4 * n);
        Some(HtbClass {
            parent: Handle(object.header.parent),
            handle: Handle(object.header.handle),
            rate,
            ceil,
            burst: bytes_of(word(0)?, &rate),
            ceil_burst: bytes_of(word(1)?, &ceil),
            quantum: word(2)?,
            priority: word(4)?,
        })
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        to.text(top::KIND, "htb").nested(top::OPTIONS, |options| {
            options.u64(number::RATE64, self.rate.wide()).u64(number::CEIL64, self.ceil.wide());
            let mut parameters = [self.rate.encode(), self.ceil.encode()].concat();
            let (buffer, ceil_buffer) = (ticks(self.burst, &self.rate), ticks(self.ceil_burst, &self.ceil));
            // The level is only reported, never requested.
            for word in [buffer, ceil_buffer, self.quantum, 0, self.priority] {
                parameters.extend(word.to_ne_bytes());
            }
            options.put(number::PARAMETERS, &parameters);
        });
    }
    /// Writes the arguments of `tc` after `dev NAME`.
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = if self.parent == Handle::ROOT { self.handle.qdisc() } else { self.parent };
        write!(f, " parent {parent} classid {} htb", self.handle)?;
        if self.priority > 0 {
            write!(f, " prio {}", self.priority)?;
        }
        write!(f, " rate {} ceil {}", self.rate.rate(), self.ceil.rate())?;
        write!(f, " burst {}b cburst {}b", self.burst, self.ceil_burst)?;
        if self.quantum > 0 {
            write!(f, " quantum {}", self.quantum)?;
        }
        self.rate.write_line(f)
    }
}

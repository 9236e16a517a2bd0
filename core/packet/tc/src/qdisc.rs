//! Queue disciplines, in requests and in answers.
mod cake;
mod fq_codel;
mod htb;
mod stab;
mod tbf;

pub use cake::{AckFilter, Cake, Cells, Diffserv, FlowMode};
pub use fq_codel::FqCodel;
pub use htb::Htb;
pub use stab::Stab;
pub use tbf::{Peak, Tbf};

use crate::attribute::{Writer, u32_at};
use crate::handle::Handle;
use crate::object::{Object, What, top};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A queue discipline.
#[derive(Clone, PartialEq, Debug)]
pub struct Qdisc {
    /// Root, ingress, or a class.
    pub parent: Handle,
    /// Its handle; none lets the kernel choose, and is the handle of default queue disciplines.
    pub handle: Handle,
    /// Kind and options.
    pub kind: Kind,
    /// Size table, if there is one.
    pub stab: Option<Stab>,
}

/// Kind and options. `None` selects the kernel's default, or in a change keeps the option.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Shaper, fair queueing and AQM combined.
    Cake(Cake),
    /// CAKE on each hardware queue with one shaper for all (Linux 7.0).
    CakeMq(Cake),
    /// Fair queueing with `CoDel` (RFC 8290).
    FqCodel(FqCodel),
    /// Classes that borrow from each other.
    Htb(Htb),
    /// A token bucket.
    Tbf(Tbf),
    /// FIFO with a limit in bytes.
    Bfifo(Option<u32>),
    /// FIFO with a limit in packets.
    Pfifo(Option<u32>),
    /// Three bands of priority.
    PfifoFast,
    /// One queue discipline for each hardware queue.
    Mq,
    /// No queue.
    Noqueue,
    /// Filters of ingress packets.
    Ingress,
    /// Filters of ingress and egress packets.
    Clsact,
    /// Another kind, not interpreted.
    Other {
        /// Its name.
        name: String,
        /// Its options in binary form.
        options: Option<Vec<u8>>,
    },
}

impl Kind {
    /// The name of the kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Kind::Cake(_) => "cake",
            Kind::CakeMq(_) => "cake_mq",
            Kind::FqCodel(_) => "fq_codel",
            Kind::Htb(_) => "htb",
            Kind::Tbf(_) => "tbf",
            Kind::Bfifo(_) => "bfifo",
            Kind::Pfifo(_) => "pfifo",
            Kind::PfifoFast => "pfifo_fast",
            Kind::Mq => "mq",
            Kind::Noqueue => "noqueue",
            Kind::Ingress => "ingress",
            Kind::Clsact => "clsact",
            Kind::Other { name, .. } => name,
        }
    }
    fn write(&self, to: &mut Writer) {
        let _ = match self {
            Kind::Cake(cake) | Kind::CakeMq(cake) => to.nested(top::OPTIONS, |w| cake.write(w)),
            Kind::FqCodel(fq_codel) => to.nested(top::OPTIONS, |w| fq_codel.write(w)),
            Kind::Htb(htb) => to.nested(top::OPTIONS, |w| htb.write(w)),
            Kind::Tbf(tbf) => to.nested(top::OPTIONS, |w| tbf.write(w)),
            // struct tc_fifo_qopt, not an attribute.
            Kind::Bfifo(limit) | Kind::Pfifo(limit) => to.u32(top::OPTIONS, *limit),
            Kind::Other { options: Some(options), .. } => to.put(top::OPTIONS, options),
            Kind::PfifoFast
            | Kind::Mq
            | Kind::Noqueue
            | Kind::Ingress
            | Kind::Clsact
            | Kind::Other { .. } => to,
        };
    }
    fn read(name: &str, options: Option<&[u8]>) -> Option<Kind> {
        let bytes = options.unwrap_or_default();
        Some(match name {
            "cake" => Kind::Cake(Cake::read(bytes)),
            "cake_mq" => Kind::CakeMq(Cake::read(bytes)),
            "fq_codel" => Kind::FqCodel(FqCodel::read(bytes)),
            "htb" => Kind::Htb(Htb::read(bytes)?),
            "tbf" => Kind::Tbf(Tbf::read(bytes)?),
            "bfifo" => Kind::Bfifo(u32_at(bytes, 0)),
            "pfifo" => Kind::Pfifo(u32_at(bytes, 0)),
            "pfifo_fast" => Kind::PfifoFast,
            "mq" => Kind::Mq,
            "noqueue" => Kind::Noqueue,
            "ingress" => Kind::Ingress,
            "clsact" => Kind::Clsact,
            _ => Kind::Other { name: name.to_owned(), options: options.map(<[u8]>::to_vec) },
        })
    }
}

impl Qdisc {
    /// Reads a queue discipline; `None` if the object is something else or truncated.
    #[must_use]
    pub fn read(object: &Object) -> Option<Qdisc> {
        if object.what != What::Qdisc {
            return None;
        }
        Some(Qdisc {
            parent: Handle(object.header.parent),
            handle: Handle(object.header.handle),
            kind: Kind::read(&object.kind(), object.options())?,
            stab: object.attribute(top::STAB).and_then(Stab::read),
        })
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        to.text(top::KIND, self.kind.name());
        self.kind.write(to);
        if let Some(stab) = &self.stab {
            to.nested(top::STAB, |w| stab.write(w));
        }
    }
    /// Writes the arguments of `tc` after `dev NAME`.
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, self.parent) {
            (Kind::Ingress, _) => return f.write_str(" handle ffff: ingress"),
            (Kind::Clsact, _) => return f.write_str(" clsact"),
            (_, Handle::ROOT) => f.write_str(" root")?,
            (_, parent) => write!(f, " parent {parent}")?,
        }
        if self.handle != Handle::NONE {
            write!(f, " handle {}", self.handle)?;
        }
        if let Some(stab) = &self.stab {
            stab.write_words(f)?;
        }
        write!(f, " {}", self.kind.name())?;
        match &self.kind {
            Kind::Cake(cake) | Kind::CakeMq(cake) => cake.write_words(f),
            Kind::FqCodel(fq_codel) => fq_codel.write_words(f),
            Kind::Htb(htb) => htb.write_words(f),
            Kind::Tbf(tbf) => tbf.write_words(f),
            Kind::Bfifo(Some(limit)) => write!(f, " limit {limit}b"),
            Kind::Pfifo(Some(limit)) => write!(f, " limit {limit}"),
            _ => Ok(()),
        }
    }
}

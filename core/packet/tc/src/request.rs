//! Requests to the kernel: as bytes, and as the equivalent command.
use crate::attribute::Writer;
use crate::class::HtbClass;
use crate::filter::{Filter, info};
use crate::handle::Handle;
use crate::link::{UP, ifla};
use crate::message::{Header, Verb, flags, request, types};
use crate::object::{Object, What};
use crate::qdisc::Qdisc;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A request. Interfaces are named; their indexes are resolved when it is sent.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// Creates an `ifb`: packets redirected to it pass its egress queue, then continue.
    AddIfb {
        /// Name of the interface.
        name: String,
        /// Number of transmit queues.
        queues: u32,
    },
    /// Removes an interface.
    DeleteLink {
        /// Name of the interface.
        name: String,
    },
    /// Changes an interface.
    SetLink {
        /// Name of the interface.
        name: String,
        /// Enables or disables it.
        up: Option<bool>,
        /// New `txqueuelen`.
        queue_packets: Option<u32>,
    },
    /// Creates or changes a queue discipline.
    Qdisc {
        /// Create, change or replace.
        verb: Verb,
        /// Name of the interface.
        device: String,
        /// The queue discipline.
        qdisc: Qdisc,
    },
    /// Removes a queue discipline; at the root the kernel's default replaces it.
    DeleteQdisc {
        /// Name of the interface.
        device: String,
        /// Its parent.
        parent: Handle,
        /// For [`Handle::INGRESS`]: `ingress` or `clsact`.
        kind: Option<&'static str>,
    },
    /// Creates or changes an HTB class.
    Class {
        /// Create, change or replace.
        verb: Verb,
        /// Name of the interface.
        device: String,
        /// The class.
        class: HtbClass,
    },
    /// Creates a filter.
    Filter {
        /// Name of the interface.
        device: String,
        /// The filter.
        filter: Filter,
    },
    /// Removes the filters of one priority.
    DeleteFilter {
        /// Name of the interface.
        device: String,
        /// Their parent.
        parent: Handle,
        /// Their priority.
        priority: u16,
    },
    /// Restores an object.
    Again {
        /// Name of the interface.
        device: String,
        /// The object without counters.
        object: Object,
    },
}

/// An interface in a request that does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing(pub String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interface {} does not exist", self.0)
    }
}
impl core::error::Error for Missing {}

/// Maximum length of an interface name in bytes (`IFNAMSIZ` includes a NUL).
pub(crate) const LONGEST_NAME: usize = 15;

impl Request {
    /// Encodes the request, which asks for an acknowledgment. `index_of` resolves names.
    ///
    /// # Errors
    /// The interface that does not exist.
    pub fn encode(&self, sequence: u32, index_of: &dyn Fn(&str) -> Option<u32>) -> Result<Vec<u8>, Missing> {
        let find = |name: &str| index_of(name).ok_or_else(|| Missing(name.to_owned()));
        let mut body = Writer::default();
        let (kind, extra) = match self {
            Request::AddIfb { name, queues } => add_ifb(&mut body, name, *queues),
            Request::DeleteLink { name } => {
                link_header(&mut body, find(name)?, 0, 0);
                (types::DELETE_LINK, 0)
            }
            Request::SetLink { name, up, queue_packets } => {
                let flag = if *up == Some(true) { UP } else { 0 };
                link_header(&mut body, find(name)?, flag, if up.is_some() { UP } else { 0 });
                body.u32(ifla::QUEUE_PACKETS, *queue_packets);
                (types::NEW_LINK, 0)
            }
            Request::Qdisc { verb, device, qdisc } => {
                let (handle, parent) = places(qdisc);
                header(&mut body, find(device)?, handle, parent, 0);
                qdisc.write(&mut body);
                (types::NEW_QDISC, verb.flags())
            }
            Request::DeleteQdisc { device, parent, kind } => {
                header(&mut body, find(device)?, delete_handle(*parent), *parent, 0);
                if let Some(kind) = kind {
                    body.text(crate::object::top::KIND, kind);
                }
                (types::DELETE_QDISC, 0)
            }
            Request::Class { verb, device, class } => {
                header(&mut body, find(device)?, class.handle, class.parent, 0);
                class.write(&mut body);
                (types::NEW_CLASS, verb.flags())
            }
            Request::Filter { device, filter } => {
                let to = filter.action.as_ref().map_or(Ok(0), |action| find(&action.to))?;
                header(&mut body, find(device)?, Handle::NONE, filter.parent, info(filter.priority));
                filter.write(&mut body, to);
                (types::NEW_FILTER, Verb::Add.flags())
            }
            Request::DeleteFilter { device, parent, priority } => {
                header(&mut body, find(device)?, Handle::NONE, *parent, info(*priority));
                (types::DELETE_FILTER, 0)
            }
            Request::Again { device, object } => {
                again(&mut body, find(device)?, object);
                (object.what.new_type(), Verb::Add.flags())
            }
        };
        Ok(request(kind, flags::ACK | extra, sequence, &body))
    }
}

/// Ingress and clsact always have the same handle.
fn places(qdisc: &Qdisc) -> (Handle, Handle) {
    match qdisc.kind.name() {
        "ingress" | "clsact" => (Handle::INGRESS_QDISC, Handle::INGRESS),
        _ => (qdisc.handle, qdisc.parent),
    }
}

fn delete_handle(parent: Handle) -> Handle {
    if parent == Handle::INGRESS { Handle::INGRESS_QDISC } else { Handle::NONE }
}

fn header(to: &mut Writer, interface: u32, handle: Handle, parent: Handle, info: u32) {
    Header { interface, handle: handle.0, parent: parent.0, info }.write(to);
}

/// `struct ifinfomsg`: family, type, index, flags, mask of the flags to change.
fn link_header(to: &mut Writer, index: u32, up: u32, changed: u32) {
    to.bytes(&[0; 4]).bytes(&index.to_ne_bytes());
    to.bytes(&up.to_ne_bytes()).bytes(&changed.to_ne_bytes());
}

fn add_ifb(to: &mut Writer, name: &str, queues: u32) -> (u16, u16) {
    link_header(to, 0, 0, 0);
    if queues > 1 {
        to.u32(ifla::TRANSMIT_QUEUES, queues);
    }
    to.text(ifla::NAME, name).nested(ifla::INFO, |info| {
        // iproute2 omits the NUL here.
        info.put(ifla::INFO_KIND, b"ifb");
    });
    (types::NEW_LINK, Verb::Add.flags())
}

fn again(to: &mut Writer, interface: u32, object: &Object) {
    let info = if object.what == What::Filter { object.header.info } else { 0 };
    Header { interface, info, ..object.header }.write(to);
    for (raw, value) in &object.attributes {
        to.put(*raw, value);
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::AddIfb { name, queues: 0 | 1 } => write!(f, "ip link add {name} type ifb"),
            Request::AddIfb { name, queues } => write!(f, "ip link add {name} numtxqueues {queues} type ifb"),
            Request::DeleteLink { name } => write!(f, "ip link del dev {name}"),
            Request::SetLink { name, up, queue_packets } => {
                write!(f, "ip link set dev {name}")?;
                if let Some(packets) = queue_packets {
                    write!(f, " txqueuelen {packets}")?;
                }
                up.map_or(Ok(()), |up| f.write_str(if up { " up" } else { " down" }))
            }
            Request::Qdisc { verb, device, qdisc } => {
                write!(f, "tc qdisc {} dev {device}", verb.name())?;
                qdisc.write_words(f)
            }
            Request::DeleteQdisc { device, parent, kind } => match kind {
                Some(kind) => write!(f, "tc qdisc del dev {device} {kind}"),
                None if *parent == Handle::ROOT => write!(f, "tc qdisc del dev {device} root"),
                None => write!(f, "tc qdisc del dev {device} parent {parent}"),
            },
            Request::Class { verb, device, class } => {
                write!(f, "tc class {} dev {device}", verb.name())?;
                class.write_words(f)
            }
            Request::Filter { device, filter } => {
                write!(f, "tc filter add dev {device}")?;
                filter.write_words(f)
            }
            Request::DeleteFilter { device, parent, priority } => {
                write!(f, "tc filter del dev {device} parent {parent} protocol all prio {priority}")
            }
            Request::Again { device, object } => write_again(f, device, object),
        }
    }
}

/// The command if the object is fully understood; otherwise a description.
fn write_again(f: &mut fmt::Formatter<'_>, device: &str, object: &Object) -> fmt::Result {
    write!(f, "tc {} add dev {device}", object.what.name())?;
    let (qdisc, class) = (Qdisc::read(object), HtbClass::read(object));
    match (qdisc, class, Filter::read(object)) {
        (Some(qdisc), _, _) => qdisc.write_words(f),
        (_, Some(class), _) => class.write_words(f),
        (_, _, Some(filter)) => filter.write_words(f),
        _ => {
            let Header { parent, handle, .. } = object.header;
            write!(
                f,
                " parent {} handle {} {} (previous options)",
                Handle(parent),
                Handle(handle),
                object.kind()
            )
        }
    }
}

/// True if the kernel accepts the name and no command can misinterpret it.
#[must_use]
pub fn is_interface_name(name: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '/' && c != ':' && c != '%';
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain) && name != "." && name != ".."
}

/// Name of the ifb of an interface: `ifb-eth0`, or with a number above 0 `ifb1-eth0`.
#[must_use]
pub fn ifb_name(device: &str, number: u32) -> String {
    let prefix = if number == 0 { "ifb-".to_owned() } else { format!("ifb{number}-") };
    let room = LONGEST_NAME.saturating_sub(prefix.len());
    let cut = device.char_indices().map(|(at, _)| at).find(|at| device.len() - at <= room).unwrap_or(0);
    prefix + &device[cut..]
}

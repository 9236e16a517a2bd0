//! Handles of queue disciplines and classes: `1:`, `1:10`, root, ingress.
use core::fmt;

/// 16 bits for the queue discipline and 16 for its class; both hexadecimal in text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Handle(pub u32);

impl Handle {
    /// No handle, or any free one.
    pub const NONE: Handle = Handle(0);
    /// The parent of an interface's queue discipline.
    pub const ROOT: Handle = Handle(0xffff_ffff);
    /// The parent of the ingress and clsact queue disciplines.
    pub const INGRESS: Handle = Handle(0xffff_fff1);
    /// The handle of ingress and clsact: `ffff:`.
    pub const INGRESS_QDISC: Handle = Handle(0xffff_0000);
    /// clsact's hook for ingress packets.
    pub const CLSACT_INGRESS: Handle = Handle(0xffff_fff2);
    /// clsact's hook for egress packets.
    pub const CLSACT_EGRESS: Handle = Handle(0xffff_fff3);

    /// `major:minor`.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Handle {
        Handle((major as u32) << 16 | minor as u32)
    }
    /// The part of the queue discipline.
    #[must_use]
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }
    /// The part of the class.
    #[must_use]
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }
    /// `major:`.
    #[must_use]
    pub const fn qdisc(self) -> Handle {
        Handle(self.0 & 0xffff_0000)
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.minor()) {
            (Handle::ROOT, _) => f.write_str("root"),
            (Handle::INGRESS, _) => f.write_str("ingress"),
            (_, 0) => write!(f, "{:x}:", self.major()),
            (_, minor) => write!(f, "{:x}:{minor:x}", self.major()),
        }
    }
}

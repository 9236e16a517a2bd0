//! Names of queue disciplines and classes: `1:`, `1:10`, root, ingress.
use core::fmt;

/// 16 bits of a queue discipline, 16 of a class in it; both hexadecimal in text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Handle(pub u32);

impl Handle {
    /// None, or whichever is free.
    pub const NONE: Handle = Handle(0);
    /// The parent of an interface's queue discipline.
    pub const ROOT: Handle = Handle(0xffff_ffff);
    /// The parent of what treats packets that arrive (ingress, clsact).
    pub const INGRESS: Handle = Handle(0xffff_fff1);
    /// The handle of ingress and clsact: `ffff:`.
    pub const INGRESS_QDISC: Handle = Handle(0xffff_0000);
    /// clsact's hook for packets that arrive.
    pub const CLSACT_INGRESS: Handle = Handle(0xffff_fff2);
    /// clsact's hook for packets that leave.
    pub const CLSACT_EGRESS: Handle = Handle(0xffff_fff3);

    /// `major:minor`.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Handle {
        Handle((major as u32) << 16 | minor as u32)
    }
    /// The queue discipline's part.
    #[must_use]
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }
    /// The class's part.
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

/// The two ECN bits of an IP header. Source: RFC 3168 section 5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ecn {
    /// 00: not ECN-capable transport.
    #[default]
    NotEct,
    /// 01: ECN-capable, L4S (RFC 9331).
    Ect1,
    /// 10: ECN-capable.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

impl Ecn {
    /// All codepoints, in the order of their bits.
    pub const ALL: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

    /// The codepoint of a traffic class, whose other six bits are the DSCP.
    pub const fn of_class(class: u8) -> Ecn {
        Ecn::ALL[(class & 0b11) as usize]
    }
    /// A traffic class with this codepoint and the DSCP of `class`.
    pub const fn in_class(self, class: u8) -> u8 {
        class & !0b11 | self.bits()
    }
    /// Its two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
    /// Its name.
    pub const fn name(self) -> &'static str {
        ["not-ect", "ect1", "ect0", "ce"][self as usize]
    }
}

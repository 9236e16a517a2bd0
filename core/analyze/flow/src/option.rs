//! TCP options (IANA TCP option kinds).

/// Kinds of options.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NO_OPERATION: u8 = 1;
    pub(super) const MAXIMUM_SEGMENT_SIZE: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
    pub(super) const MULTIPATH: u8 = 30;
    pub(super) const FAST_OPEN: u8 = 34;
    pub(super) const ACCURATE_ECN_0: u8 = 172;
    pub(super) const ACCURATE_ECN_1: u8 = 174;
}

/// Maximum window scale (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// Options that an end offered in its SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offer {
    /// Maximum segment size, bytes.
    pub mss_bytes: Option<u16>,
    /// Window scale.
    pub window_shift: Option<u8>,
    /// It supports selective acknowledgments (RFC 2018).
    pub selective: bool,
    /// It supports timestamps (RFC 7323).
    pub timestamps: bool,
    /// TCP Fast Open: a cookie or a cookie request (RFC 7413).
    pub fast_open: bool,
    /// Multipath TCP (RFC 8684).
    pub multipath: bool,
    /// An Accurate ECN option (RFC 9768).
    pub accurate_ecn: bool,
}

/// SACK blocks of a header.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    all: [(u32, u32); 4],
    count: usize,
}

impl Blocks {
    pub(crate) fn as_slice(&self) -> &[(u32, u32)] {
        self.all.get(..self.count).unwrap_or_default()
    }
    /// Parses the options of a header. Almost all contain timestamps in the form of RFC 7323
    /// appendix A, followed by nothing or by one SACK option.
    pub(crate) fn of(options: &[u8]) -> Blocks {
        let rest = match options {
            [1, 1, kind::TIMESTAMPS, 10, _, _, _, _, _, _, _, _, rest @ ..] => rest,
            all => all,
        };
        let mut blocks = Blocks::default();
        match rest {
            [] => {}
            [1, 1, kind::SACK, length, body @ ..] if usize::from(*length) == body.len() + 2 => {
                blocks.read(body)
            }
            rest => each(rest, |kind, body| {
                if kind == kind::SACK {
                    blocks.read(body);
                }
            }),
        }
        blocks
    }
    fn read(&mut self, body: &[u8]) {
        for (block, bytes) in self.all.iter_mut().zip(body.chunks_exact(8)) {
            *block = (u32_of(bytes), u32_of(bytes.get(4..).unwrap_or_default()));
        }
        self.count = (body.len() / 8).min(self.all.len());
    }
}

impl Offer {
    pub(crate) fn of(options: &[u8]) -> Offer {
        let mut offer = Offer::default();
        each(options, |kind, body| match (kind, body) {
            (kind::MAXIMUM_SEGMENT_SIZE, [high, low]) => {
                offer.mss_bytes = Some(u16::from_be_bytes([*high, *low]))
            }
            (kind::WINDOW_SCALE, [shift]) => offer.window_shift = Some((*shift).min(MAX_SHIFT)),
            (kind::SACK_PERMITTED, []) => offer.selective = true,
            (kind::TIMESTAMPS, body) => offer.timestamps = body.len() == 8,
            (kind::FAST_OPEN, _) => offer.fast_open = true,
            (kind::MULTIPATH, _) => offer.multipath = true,
            (kind::ACCURATE_ECN_0 | kind::ACCURATE_ECN_1, _) => offer.accurate_ecn = true,
            _ => {}
        });
        offer
    }
}

/// Calls `f` with kind and body of each option that is completely stored and well formed.
fn each(mut options: &[u8], mut f: impl FnMut(u8, &[u8])) {
    while let Some((kind, rest)) = options.split_first() {
        match *kind {
            kind::END => return,
            kind::NO_OPERATION => options = rest,
            kind => {
                let length = rest.first().map_or(0, |length| usize::from(*length));
                let Some(body) = options.get(2..length) else { return };
                f(kind, body);
                options = options.get(length..).unwrap_or_default();
            }
        }
    }
}

fn u32_of(bytes: &[u8]) -> u32 {
    match bytes {
        [a, b, c, d, ..] => u32::from_be_bytes([*a, *b, *c, *d]),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syn_of_linux() {
        let options = [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
        let offer = Offer::of(&options);
        assert_eq!((offer.mss_bytes, offer.window_shift), (Some(1460), Some(7)));
        assert!(offer.selective && offer.timestamps && !offer.fast_open);
    }

    #[test]
    fn sack_blocks_with_and_without_timestamps() {
        let sack = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0];
        let stamps = [1, 1, 8, 10, 9, 9, 9, 9, 8, 8, 8, 8];
        assert_eq!(Blocks::of(&sack).as_slice(), [(1, 2), (256, 512)]);
        assert_eq!(Blocks::of(&[&stamps[..], &sack].concat()).as_slice(), [(1, 2), (256, 512)]);
        assert!(Blocks::of(&stamps).as_slice().is_empty());
        assert!(Blocks::of(&sack[..11]).as_slice().is_empty(), "cut short");
        assert!(Blocks::of(&[5, 0, 5, 1, 5]).as_slice().is_empty(), "no length goes nowhere");
    }
}

//! TCP options without those that could identify someone.
use alloc::vec::Vec;

/// Option kinds. Source: IANA TCP option kinds.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NO_OPERATION: u8 = 1;
    /// Segment size, window scale, SACK permitted, SACK.
    pub(super) const FIRST_HARMLESS: u8 = 2;
    pub(super) const LAST_HARMLESS: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
    pub(super) const USER_TIMEOUT: u8 = 28;
    pub(super) const FAST_OPEN: u8 = 34;
    pub(super) const ACCURATE_ECN: [u8; 2] = [172, 174];
}

/// Appends `length` bytes: the harmless options of `stored` at their positions, and padding.
pub(super) fn write(stored: &[u8], length: usize, into: &mut Vec<u8>) {
    let start = into.len();
    into.resize(start + length, kind::NO_OPERATION);
    let Some(room) = into.get_mut(start..) else { return };
    let mut at = 0;
    while let Some(kind) = stored.get(at).copied().filter(|kind| *kind != kind::END) {
        let end = match stored.get(at + 1) {
            _ if kind == kind::NO_OPERATION => at + 1,
            Some(bytes) if *bytes >= 2 => at + usize::from(*bytes),
            _ => return,
        };
        let (Some(from), Some(to)) = (stored.get(at..end), room.get_mut(at..end)) else {
            return;
        };
        match kind {
            kind::FIRST_HARMLESS..=kind::LAST_HARMLESS | kind::TIMESTAMPS | kind::USER_TIMEOUT => {
                to.copy_from_slice(from);
            }
            _ if kind::ACCURATE_ECN.contains(&kind) => to.copy_from_slice(from),
            // Keeps the presence of a cookie but not its value.
            kind::FAST_OPEN => {
                to.fill(0);
                to.iter_mut().zip(from).take(2).for_each(|(to, from)| *to = *from);
            }
            _ => {}
        }
        at = end;
    }
}

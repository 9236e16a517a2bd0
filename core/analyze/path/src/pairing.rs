//! Finds the same packet in two captures.
use crate::capture::Capture;
use crate::fingerprint::PacketMark;
use alloc::vec;
use alloc::vec::Vec;

/// Result of searching a packet of one capture in another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Partner {
    /// Not found.
    None,
    /// Found unambiguously at this index.
    At(usize),
    /// Found among identical packets, so its delay is unknown.
    Among(usize),
}

/// For each packet of one capture, its index in another. The upper bit marks identical packets.
#[derive(Clone, Debug)]
pub(crate) struct Partners {
    places: Vec<u32>,
    /// Packets of which the other capture has more copies, and the number of additional copies.
    pub(crate) extra: Vec<(u32, u32)>,
}

const NOWHERE: u32 = u32::MAX;
const ALIKE: u32 = 1 << 31;

impl Partners {
    pub(crate) fn of(&self, place: usize) -> Partner {
        match self.places.get(place) {
            None | Some(&NOWHERE) => Partner::None,
            Some(place) if place & ALIKE != 0 => Partner::Among((place & !ALIKE) as usize),
            Some(place) => Partner::At(*place as usize),
        }
    }
    pub(crate) fn has(&self, place: usize) -> bool {
        self.of(place) != Partner::None
    }
    /// Unambiguous matches, in time order of the first capture.
    pub(crate) fn certain(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.places.len()).filter_map(|from| match self.of(from) {
            Partner::At(to) => Some((from, to)),
            _ => None,
        })
    }
}

pub(crate) type Entry = (u64, u32);

/// Packets of a capture, sorted by fingerprint and then by time.
pub(crate) fn sorted(capture: &Capture) -> Vec<Entry> {
    // Memory limits the number of packets to less than 2^31.
    let places = 0..capture.marks.len().min(ALIKE as usize) as u32;
    let mut entries: Vec<Entry> = capture.marks.iter().map(PacketMark::fingerprint).zip(places).collect();
    entries.sort_unstable();
    entries
}

/// Entries with the first fingerprint, and the remaining ones.
fn run(entries: &[Entry]) -> Option<(u64, &[Entry], &[Entry])> {
    let (first, _) = *entries.first()?;
    let length = entries.iter().take_while(|(print, _)| *print == first).count();
    let (same, rest) = entries.split_at(length);
    Some((first, same, rest))
}

pub(crate) fn partners(a: &[Entry], b: &[Entry]) -> Partners {
    let mut found = Partners { places: vec![NOWHERE; a.len()], extra: Vec::new() };
    let (mut in_a, mut in_b) = (run(a), run(b));
    while let (Some((print_a, same_a, rest_a)), Some((print_b, same_b, rest_b))) = (in_a, in_b) {
        if print_a == print_b {
            found.join(same_a, same_b);
        }
        if print_a <= print_b {
            in_a = run(rest_a);
        }
        if print_b <= print_a {
            in_b = run(rest_b);
        }
    }
    found
}

/// Indices of packets that occur once in both captures. If they occur twice, as for a datagram that
/// is echoed, the first ones are used.
pub(crate) fn unique_matches(a: &[Entry], b: &[Entry]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let (mut in_a, mut in_b) = (run(a), run(b));
    while let (Some((print_a, same_a, rest_a)), Some((print_b, same_b, rest_b))) = (in_a, in_b) {
        match (same_a, same_b) {
            ([(_, from)], [(_, to)]) | ([(_, from), _], [(_, to), _]) if print_a == print_b => {
                found.push((*from, *to));
            }
            _ => {}
        }
        if print_a <= print_b {
            in_a = run(rest_a);
        }
        if print_b <= print_a {
            in_b = run(rest_b);
        }
    }
    found
}

impl Partners {
    /// Matches packets with the same fingerprint in time order.
    fn join(&mut self, same_a: &[Entry], same_b: &[Entry]) {
        let alike = if same_a.len() > 1 { ALIKE } else { 0 };
        for ((_, from), (_, to)) in same_a.iter().zip(same_b) {
            if let Some(place) = self.places.get_mut(*from as usize) {
                *place = to | alike;
            }
        }
        if let (Some((_, first)), Some(extra)) = (same_a.first(), same_b.len().checked_sub(same_a.len()))
            && extra > 0
        {
            self.extra.push((*first, extra as u32));
        }
    }
}

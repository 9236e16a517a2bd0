//! The same packet in two captures.
use crate::capture::Capture;
use crate::fingerprint::PacketMark;
use alloc::vec;
use alloc::vec::Vec;

/// Where a packet of one capture is in another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Partner {
    /// Nowhere.
    None,
    /// At this place, beyond doubt.
    At(usize),
    /// It was seen, but so were others that look the same: no delay can be told.
    Among(usize),
}

/// Of each packet of one capture, its place in another: the upper bit says that there are several alike.
#[derive(Clone, Debug)]
pub(crate) struct Partners {
    places: Vec<u32>,
    /// Packets of which the other capture has more copies, and how many more.
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
    /// Those in time order of the first capture that are beyond doubt.
    pub(crate) fn certain(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.places.len()).filter_map(|from| match self.of(from) {
            Partner::At(to) => Some((from, to)),
            _ => None,
        })
    }
}

/// A fingerprint, and the place of the packet that has it.
pub(crate) type Entry = (u64, u32);

/// The packets of a capture in the order of fingerprints, then of time.
pub(crate) fn sorted(capture: &Capture) -> Vec<Entry> {
    // More packets than 2^31 are beyond any limit that memory allows.
    let places = 0..capture.marks.len().min(ALIKE as usize) as u32;
    let mut entries: Vec<Entry> = capture.marks.iter().map(PacketMark::fingerprint).zip(places).collect();
    entries.sort_unstable();
    entries
}

/// Those with the first fingerprint, and what is after them.
fn run(entries: &[Entry]) -> Option<(u64, &[Entry], &[Entry])> {
    let (first, _) = *entries.first()?;
    let length = entries.iter().take_while(|(print, _)| *print == first).count();
    let (same, rest) = entries.split_at(length);
    Some((first, same, rest))
}

/// Finds the packets of one capture in another.
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

/// Places of what both have once, or twice: then the first, as of a datagram that is sent back.
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
    /// Packets with one fingerprint, in the order of time.
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

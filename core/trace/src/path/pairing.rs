//! The same packet in two captures.
use super::collect::Capture;
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

/// Places of a capture's packets in the order of fingerprints, then of time.
pub(crate) fn sorted(capture: &Capture) -> Vec<u32> {
    // More packets than 2^31 are beyond any limit that memory allows.
    let mut places: Vec<u32> = (0..capture.marks.len().min(ALIKE as usize) as u32).collect();
    places.sort_unstable_by_key(|place| (print(capture, *place), *place));
    places
}

fn print(capture: &Capture, place: u32) -> u64 {
    capture.marks.get(place as usize).map_or(0, |mark| mark.fingerprint)
}

/// A run of places with one fingerprint, and what is after it.
fn run<'a>(capture: &Capture, places: &'a [u32]) -> Option<(u64, &'a [u32], &'a [u32])> {
    let first = print(capture, *places.first()?);
    let length = places.iter().take_while(|place| print(capture, **place) == first).count();
    let (same, rest) = places.split_at(length);
    Some((first, same, rest))
}

/// A capture with its sorted places.
pub(crate) type Sorted<'a> = (&'a Capture, &'a [u32]);

/// Finds the packets of `a` in `b`.
pub(crate) fn partners(a: Sorted<'_>, b: Sorted<'_>) -> Partners {
    let mut found = Partners { places: vec![NOWHERE; a.0.marks.len()], extra: Vec::new() };
    let (mut in_a, mut in_b) = (run(a.0, a.1), run(b.0, b.1));
    while let (Some((print_a, same_a, rest_a)), Some((print_b, same_b, rest_b))) = (in_a, in_b) {
        if print_a == print_b {
            found.join(same_a, same_b);
        }
        if print_a <= print_b {
            in_a = run(a.0, rest_a);
        }
        if print_b <= print_a {
            in_b = run(b.0, rest_b);
        }
    }
    found
}

impl Partners {
    /// Packets with one fingerprint, in the order of time.
    fn join(&mut self, same_a: &[u32], same_b: &[u32]) {
        let alike = if same_a.len() > 1 { ALIKE } else { 0 };
        for (from, to) in same_a.iter().zip(same_b) {
            if let Some(place) = self.places.get_mut(*from as usize) {
                *place = to | alike;
            }
        }
        if let (Some(first), Some(extra)) = (same_a.first(), same_b.len().checked_sub(same_a.len()))
            && extra > 0
        {
            self.extra.push((*first, extra as u32));
        }
    }
}

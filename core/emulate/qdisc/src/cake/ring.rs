//! Linked lists of flows in service order, with removal from the middle in constant time.
use super::hash::PLACES;
use alloc::boxed::Box;

/// Two of the three lists of a tin; the third is in [`super::rounds`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    /// New flows, which may be sparse.
    New,
    /// Empty flows whose AQM state has not yet decayed.
    Decaying,
}

const ENDS: usize = 2;

impl List {
    const fn end(self) -> usize {
        PLACES + self as usize
    }
}

/// Two circular lists, each with a sentinel that is not a flow.
pub(super) struct Rings {
    next: Box<[u16]>,
    before: Box<[u16]>,
}

impl Rings {
    pub(super) fn new() -> Self {
        let alone: Box<[u16]> = (0..PLACES + ENDS).map(|place| place as u16).collect();
        Rings { next: alone.clone(), before: alone }
    }
    pub(super) fn first(&self, list: List) -> Option<usize> {
        let first = usize::from(self.next[list.end()]);
        (first != list.end()).then_some(first)
    }
    /// Removes `flow` from its list, if it is in one.
    pub(super) fn take_out(&mut self, flow: usize) {
        let (next, before) = (self.next[flow], self.before[flow]);
        self.next[usize::from(before)] = next;
        self.before[usize::from(next)] = before;
        (self.next[flow], self.before[flow]) = (flow as u16, flow as u16);
    }
    /// Moves `flow` to the end of `list`.
    pub(super) fn move_to(&mut self, list: List, flow: usize) {
        self.take_out(flow);
        let (end, last) = (list.end(), self.before[list.end()]);
        self.next[usize::from(last)] = flow as u16;
        (self.next[flow], self.before[flow]) = (end as u16, last);
        self.before[end] = flow as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn flows_can_be_removed_anywhere_and_are_added_last() {
        let mut rings = Rings::new();
        (0..4).for_each(|flow| rings.move_to(List::New, flow));
        rings.move_to(List::Decaying, 2);
        rings.move_to(List::New, 0);
        let mut order = vec![];
        while let Some(flow) = rings.first(List::New) {
            order.push(flow);
            rings.take_out(flow);
        }
        assert_eq!((order, rings.first(List::Decaying)), (vec![1, 3, 0], Some(2)));
        rings.take_out(2);
        assert_eq!(rings.first(List::Decaying), None);
    }
}

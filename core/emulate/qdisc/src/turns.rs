//! Deficit round robin with priority for flows that come new: the scheduler of FQ-CoDel (RFC 8290 section 4) and its kin.
use alloc::vec::Vec;
use fathom_units::Bytes;

/// No flow.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Turn {
    /// Bytes it may still send in this turn.
    deficit: i64,
    /// The flow behind it on its list.
    next: u32,
    is_listed: bool,
}

/// Flows one behind the other, chained through their own entries.
#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE };

    const fn is_empty(self) -> bool {
        self.first == NONE
    }
    fn push(&mut self, flow: usize, flows: &mut [Turn]) {
        let number = flow as u32;
        flows[flow].next = NONE;
        match flows.get_mut(self.last as usize) {
            Some(last) => last.next = number,
            None => self.first = number,
        }
        self.last = number;
    }
    fn pop(&mut self, flows: &[Turn]) -> Option<usize> {
        let first = self.first as usize;
        self.first = flows.get(first)?.next;
        if self.is_empty() {
            self.last = NONE;
        }
        Some(first)
    }
}

/// Whose turn it is, of flows that are known by their numbers.
pub(crate) struct Turns {
    quantum: i64,
    flows: Vec<Turn>,
    new: List,
    old: List,
}

fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.get()).unwrap_or(i64::MAX)
}

impl Turns {
    /// With flows from 0 to `flows` - 1.
    pub(crate) fn new(flows: usize, quantum: Bytes) -> Self {
        let flows = alloc::vec![Turn { deficit: 0, next: NONE, is_listed: false }; flows];
        Turns { quantum: signed(quantum), flows, new: List::EMPTY, old: List::EMPTY }
    }
    /// A packet has come for `flow`. True if it is a new flow for the scheduler, whose deficit is to be set.
    pub(crate) fn arrived(&mut self, flow: usize) -> bool {
        let is_new = !self.flows[flow].is_listed;
        if is_new {
            self.flows[flow].is_listed = true;
            self.new.push(flow, &mut self.flows);
        }
        is_new
    }
    pub(crate) fn deficit(&self, flow: usize) -> i64 {
        self.flows[flow].deficit
    }
    pub(crate) fn set_deficit(&mut self, flow: usize, bytes: i64) {
        self.flows[flow].deficit = bytes;
    }
    pub(crate) fn quantum(&self) -> i64 {
        self.quantum
    }
    /// The flow whose turn it is. Those that have used their turn up go behind all others.
    pub(crate) fn current(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let flow = list.first as usize;
            let turn = self.flows.get_mut(flow)?;
            if turn.deficit > 0 {
                return Some(flow);
            }
            turn.deficit += self.quantum;
            list.pop(&self.flows);
            self.old.push(flow, &mut self.flows);
        }
    }
    /// None of them has anything: they are off the lists, one after the other.
    pub(crate) fn clear(&mut self) -> Option<usize> {
        let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
        let flow = list.pop(&self.flows)?;
        self.flows[flow].is_listed = false;
        Some(flow)
    }
    /// `flow` sent a packet.
    pub(crate) fn sent(&mut self, flow: usize, len: Bytes) {
        self.flows[flow].deficit -= signed(len);
    }
    /// The flow whose turn it is has nothing. If it is new and `always`, or if there are old ones, it goes behind them, so
    /// that it cannot come back as a new one before they had their turn. Else it is off the lists, which is true then.
    pub(crate) fn ran_empty(&mut self, always: bool) -> bool {
        let is_new = !self.new.is_empty();
        let list = if is_new { &mut self.new } else { &mut self.old };
        let Some(flow) = list.pop(&self.flows) else { return false };
        let stays = is_new && (always || !self.old.is_empty());
        if stays {
            self.old.push(flow, &mut self.flows);
        }
        self.flows[flow].is_listed = stays;
        !stays
    }
}

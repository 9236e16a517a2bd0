//! Deficit round robin with priority for new flows, as in FQ-CoDel (RFC 8290 section 4).
use alloc::vec::Vec;
use fathom_units::Bytes;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Turn {
    /// Bytes that it may still send in this turn.
    deficit: i64,
    /// The next flow on its list.
    next: u32,
    is_listed: bool,
}

/// A linked list of flows through their own entries.
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

/// The scheduler state of flows, which are identified by number.
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
    /// Creates a scheduler for the flows 0 to `flows` - 1.
    pub(crate) fn new(flows: usize, quantum: Bytes) -> Self {
        let flows = alloc::vec![Turn { deficit: 0, next: NONE, is_listed: false }; flows];
        Turns { quantum: signed(quantum), flows, new: List::EMPTY, old: List::EMPTY }
    }
    /// Records a packet for `flow`. True if the flow is new; then the caller sets its deficit.
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
    /// The flow whose turn it is. Flows that used up a turn move to the end of the old flows.
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
    /// Removes the next flow from its list. Called repeatedly when all flows are empty.
    pub(crate) fn clear(&mut self) -> Option<usize> {
        let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
        let flow = list.pop(&self.flows)?;
        self.flows[flow].is_listed = false;
        Some(flow)
    }
    pub(crate) fn sent(&mut self, flow: usize, len: Bytes) {
        self.flows[flow].deficit -= signed(len);
    }
    /// The flow whose turn it is has no packets. If it is new, and `always` is set or there are old
    /// flows, it moves behind them, so that it cannot return as a new flow before they had their
    /// turn. Otherwise it leaves the lists, and the result is true.
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

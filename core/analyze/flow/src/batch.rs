//! Packets that wait for others of their flow.
use crate::header::{Header, Incoming, NONE};
use alloc::vec::Vec;

/// The first and the last of what waits of a flow, by number.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u16,
    last: u16,
}

impl Ends {
    const NONE: Ends = Ends { first: NONE, last: NONE };
}

/// What waits of a flow: its packets, and the options of some of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    headers: Ends,
    options: Ends,
}

impl Chain {
    pub(crate) const EMPTY: Chain = Chain { headers: Ends::NONE, options: Ends::NONE };

    pub(crate) const fn is_empty(self) -> bool {
        self.headers.first == NONE
    }
}

/// Options of a TCP header at most, bytes.
const MAX_OPTION_BYTES: usize = 40;

/// The options of a packet.
#[derive(Clone, Copy, Debug)]
struct Options {
    /// The number of the next of its flow.
    next: u16,
    length: u8,
    bytes: [u8; MAX_OPTION_BYTES],
}

/// Packets in the order in which they passed, and flows in the order of their first.
#[derive(Debug)]
pub(crate) struct Batch {
    /// So many packets may wait while few flows begin.
    capacity: usize,
    /// So many packets may wait now.
    room: usize,
    headers: Vec<Header>,
    options: Vec<Options>,
    /// Places of flows.
    flows: Vec<u32>,
    /// Flows that began.
    new_flows: usize,
}

/// So many wait at most: of some hundred flows each has dozens then, which find its state in the caches, and all of them take 1 MiB.
const MAX_PACKETS: usize = 16_384;
/// So many flows begin meanwhile at most: what is kept of each is 4 kB, written when it begins, and is to be in the caches still when its first
/// packets are told of.
const MAX_NEW_FLOWS: usize = 64;

impl Batch {
    /// For no more than `most` packets.
    pub(crate) const fn new(capacity: usize) -> Self {
        let capacity = if capacity < MAX_PACKETS { capacity } else { MAX_PACKETS };
        Batch {
            capacity,
            room: capacity,
            headers: Vec::new(),
            options: Vec::new(),
            flows: Vec::new(),
            new_flows: 0,
        }
    }
    /// One more of the flow at `place`, of which `chain` waits.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: u32, chain: &mut Chain, header: Header, options: Option<&[u8]>) {
        let number = self.headers.len() as u16;
        self.headers.push(header);
        let Chain { headers: Ends { first, last }, .. } = chain;
        if *first == NONE {
            *first = number;
            self.flows.push(place);
        } else if let Some(before) = self.headers.get_mut(usize::from(*last)) {
            before.next = number;
        }
        *last = number;
        if let Some(options) = options {
            self.push_options(chain, options);
        }
    }
    /// The options of the last packet of a chain.
    #[inline(never)]
    fn push_options(&mut self, chain: &mut Chain, options: &[u8]) {
        let number = self.options.len() as u16;
        let mut kept = Options {
            next: NONE,
            length: options.len().min(MAX_OPTION_BYTES) as u8,
            bytes: [0; MAX_OPTION_BYTES],
        };
        kept.bytes.iter_mut().zip(options).for_each(|(to, from)| *to = *from);
        self.options.push(kept);
        let Chain { headers, options: Ends { first, last } } = chain;
        if let Some(header) = self.headers.get_mut(usize::from(headers.last)) {
            header.has_options = true;
        }
        if *first == NONE {
            *first = number;
        } else if let Some(before) = self.options.get_mut(usize::from(*last)) {
            before.next = number;
        }
        *last = number;
    }
    /// A flow begins.
    pub(crate) const fn note_new_flow(&mut self) {
        self.new_flows += 1;
        if self.new_flows >= MAX_NEW_FLOWS {
            self.room = 0;
        }
    }
    /// Whether no more should wait.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.headers.len() >= self.room
    }
    /// Places of the flows of which packets wait, in the order of the first.
    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }
    /// The packets of a chain, in the order in which they passed.
    #[inline]
    pub(crate) fn packets(&self, chain: Chain) -> impl Iterator<Item = Incoming<'_>> {
        let mut ahead = self.with_next(chain.headers.first);
        let mut options = chain.options.first;
        core::iter::from_fn(move || {
            let (header, next) = ahead?;
            // Which is the one after the next is asked now: by then that one, which is in no near cache, is there.
            ahead = self.with_next(next);
            Some(Incoming::new(
                header,
                if header.has_options { self.take_options(&mut options) } else { &[] },
            ))
        })
    }
    /// A header, and the number of the next of its flow.
    #[inline]
    fn with_next(&self, number: u16) -> Option<(&Header, u16)> {
        let header = self.headers.get(usize::from(number))?;
        Some((header, header.next))
    }
    /// The options of this number, which becomes that of the next of its flow.
    #[inline]
    fn take_options(&self, number: &mut u16) -> &[u8] {
        let Some(options) = self.options.get(usize::from(*number)) else { return &[] };
        *number = options.next;
        options.bytes.get(..usize::from(options.length)).unwrap_or_default()
    }
    /// None waits any longer.
    pub(crate) fn clear(&mut self) {
        self.headers.clear();
        self.options.clear();
        self.flows.clear();
        self.new_flows = 0;
        self.room = self.capacity;
    }
}

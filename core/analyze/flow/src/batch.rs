//! Batches of packets, grouped by flow.
use crate::header::{Header, Incoming, NONE};
use alloc::vec::Vec;

/// Indices of the first and last entry of a flow.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u16,
    last: u16,
}

impl Ends {
    const NONE: Ends = Ends { first: NONE, last: NONE };
}

/// A flow's queued packets, and the options of some of them, as linked lists.
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

const MAX_OPTION_BYTES: usize = 40;

#[derive(Clone, Copy, Debug)]
struct Options {
    next: u16,
    length: u8,
    bytes: [u8; MAX_OPTION_BYTES],
}

/// Queued packets in capture order, and their flows in the order of first packets.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Maximum number of packets if few new flows start.
    capacity: usize,
    /// Maximum number of packets for the current batch.
    room: usize,
    headers: Vec<Header>,
    options: Vec<Options>,
    flows: Vec<u32>,
    new_flows: usize,
}

/// Batch size: with some hundred flows each has dozens of packets per batch, so its state stays in
/// the CPU caches, and the batch takes 1 MiB.
const MAX_PACKETS: usize = 16_384;
/// Maximum number of new flows per batch. The state of each is 4 kB, written when the flow starts,
/// and must still be in the caches when its packets are processed.
const MAX_NEW_FLOWS: usize = 64;

impl Batch {
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
    /// Appends a packet to the `chain` of the flow at `place`.
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
    /// Stores the options of the last packet of a chain.
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
    pub(crate) const fn note_new_flow(&mut self) {
        self.new_flows += 1;
        if self.new_flows >= MAX_NEW_FLOWS {
            self.room = 0;
        }
    }
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.headers.len() >= self.room
    }
    /// Indices of the flows with queued packets, in the order of their first packets.
    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }
    #[inline]
    pub(crate) fn packets(&self, chain: Chain) -> impl Iterator<Item = Incoming<'_>> {
        let mut ahead = self.with_next(chain.headers.first);
        let mut options = chain.options.first;
        core::iter::from_fn(move || {
            let (header, next) = ahead?;
            // Reads one packet ahead, to load it into the cache early.
            ahead = self.with_next(next);
            Some(Incoming::new(
                header,
                if header.has_options { self.take_options(&mut options) } else { &[] },
            ))
        })
    }
    /// A header, and the index of the flow's next packet.
    #[inline]
    fn with_next(&self, number: u16) -> Option<(&Header, u16)> {
        let header = self.headers.get(usize::from(number))?;
        Some((header, header.next))
    }
    /// The options at index `number`, which advances to the flow's next entry.
    #[inline]
    fn take_options(&self, number: &mut u16) -> &[u8] {
        let Some(options) = self.options.get(usize::from(*number)) else { return &[] };
        *number = options.next;
        options.bytes.get(..usize::from(options.length)).unwrap_or_default()
    }
    pub(crate) fn clear(&mut self) {
        self.headers.clear();
        self.options.clear();
        self.flows.clear();
        self.new_flows = 0;
        self.room = self.capacity;
    }
}

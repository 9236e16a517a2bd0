//! Packets that wait for others of their flow.
use crate::header::{Header, Incoming, NONE};
use crate::search::partition_near;
use alloc::vec::Vec;

/// So many wait at most: of some hundred flows each has dozens then, which find its state in the caches, and all of them take 1 MiB.
const MOST: usize = 16_384;
/// So many flows begin meanwhile at most: what is kept of each is 4 kB, written when it begins, and is to be in the caches still when its first
/// packets are told of.
const MOST_BEGUN: usize = 64;
/// Options of a TCP header at most, bytes.
const MOST_OPTIONS: usize = 40;

/// The first and the last packet of a flow that wait, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u16,
    last: u16,
}

impl Chain {
    pub(crate) const EMPTY: Chain = Chain { first: NONE, last: NONE };

    pub(crate) const fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// The options of a packet, by its number.
#[derive(Clone, Copy, Debug)]
struct Options {
    number: u16,
    length: u8,
    bytes: [u8; MOST_OPTIONS],
}

/// Packets in the order in which they passed, and flows in the order of their first.
#[derive(Debug)]
pub(crate) struct Batch {
    /// So many packets may wait while few flows begin.
    most: usize,
    /// So many packets may wait now.
    room: usize,
    headers: Vec<Header>,
    options: Vec<Options>,
    /// Places of flows.
    flows: Vec<u32>,
    /// Flows that began.
    begun: usize,
}

impl Batch {
    /// For no more than `most` packets.
    pub(crate) const fn new(most: usize) -> Self {
        let most = if most < MOST { most } else { MOST };
        Batch { most, room: most, headers: Vec::new(), options: Vec::new(), flows: Vec::new(), begun: 0 }
    }
    /// One more of the flow at `place`, of which `chain` waits.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: u32, chain: &mut Chain, header: Header, options: Option<&[u8]>) {
        let number = self.headers.len() as u16;
        self.headers.push(header);
        if let Some(options) = options {
            self.keep(number, options);
        }
        if chain.is_empty() {
            chain.first = number;
            self.flows.push(place);
        } else if let Some(last) = self.headers.get_mut(usize::from(chain.last)) {
            last.next = number;
        }
        chain.last = number;
    }
    #[inline(never)]
    fn keep(&mut self, number: u16, options: &[u8]) {
        let mut kept =
            Options { number, length: options.len().min(MOST_OPTIONS) as u8, bytes: [0; MOST_OPTIONS] };
        kept.bytes.iter_mut().zip(options).for_each(|(to, from)| *to = *from);
        self.options.push(kept);
        if let Some(header) = self.headers.get_mut(usize::from(number)) {
            header.has_options = true;
        }
    }
    /// A flow begins.
    pub(crate) const fn begin(&mut self) {
        self.begun += 1;
        if self.begun >= MOST_BEGUN {
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
    pub(crate) fn of(&self, chain: Chain) -> impl Iterator<Item = Incoming<'_>> {
        let mut ahead = self.with_next(chain.first);
        core::iter::from_fn(move || {
            let (number, header, next) = ahead?;
            // Which is the one after the next is asked now: by then that one, which is in no near cache, is there.
            ahead = self.with_next(next);
            Some(Incoming::new(header, if header.has_options { self.options_of(number) } else { &[] }))
        })
    }
    /// A header, with its number and that of the next of its flow.
    #[inline]
    fn with_next(&self, number: u16) -> Option<(u16, &Header, u16)> {
        let header = self.headers.get(usize::from(number))?;
        Some((number, header, header.next))
    }
    #[inline(never)]
    fn options_of(&self, number: u16) -> &[u8] {
        // Those of one flow are spread over all, and halving would touch many.
        let guess = usize::from(number) * self.options.len() / self.headers.len().max(1);
        let is_before = |at: usize| self.options.get(at).is_some_and(|options| options.number < number);
        let place = partition_near(guess, self.options.len(), is_before);
        let options = self.options.get(place).filter(|options| options.number == number);
        options.and_then(|options| options.bytes.get(..usize::from(options.length))).unwrap_or_default()
    }
    /// None waits any longer.
    pub(crate) fn clear(&mut self) {
        self.headers.clear();
        self.options.clear();
        self.flows.clear();
        self.begun = 0;
        self.room = self.most;
    }
}

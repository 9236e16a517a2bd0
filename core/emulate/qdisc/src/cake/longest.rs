//! Finds the longest queue, updated with every packet.
use alloc::vec::Vec;

const NOWHERE: u32 = u32::MAX;

/// A max-heap of the non-empty queues, ordered by bytes and then by number.
pub(super) struct Longest {
    /// Bytes and queue; each entry is greater than its two children.
    heap: Vec<(u64, u32)>,
    /// Each queue's position in the heap.
    places: Vec<u32>,
}

impl Longest {
    pub(super) fn new(queues: usize) -> Self {
        Longest { heap: Vec::with_capacity(queues), places: (0..queues).map(|_| NOWHERE).collect() }
    }
    pub(super) fn queue(&self) -> Option<usize> {
        self.heap.first().map(|(_, queue)| *queue as usize)
    }
    pub(super) fn set(&mut self, queue: usize, bytes: u64) {
        let place = self.places[queue];
        match (place, bytes) {
            (NOWHERE, 0) => {}
            (NOWHERE, _) => {
                self.heap.push((bytes, queue as u32));
                self.up(self.heap.len() - 1);
            }
            (_, 0) => self.remove(place as usize),
            _ => {
                self.heap[place as usize].0 = bytes;
                self.settle(place as usize);
            }
        }
    }

    fn remove(&mut self, place: usize) {
        let (_, queue) = self.heap.swap_remove(place);
        self.places[queue as usize] = NOWHERE;
        if place < self.heap.len() {
            self.settle(place);
        }
    }
    fn settle(&mut self, place: usize) {
        let place = self.up(place);
        self.down(place);
    }
    fn up(&mut self, mut place: usize) -> usize {
        let entry = self.heap[place];
        while place > 0 && self.heap[(place - 1) / 2] < entry {
            self.put(place, self.heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        self.put(place, entry);
        place
    }
    fn down(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let children = (2 * place + 1)..(2 * place + 3).min(self.heap.len());
            let Some(larger) = children.max_by_key(|child| self.heap[*child]) else { break };
            if self.heap[larger] < entry {
                break;
            }
            self.put(place, self.heap[larger]);
            place = larger;
        }
        self.put(place, entry);
    }
    fn put(&mut self, place: usize, entry: (u64, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    #[test]
    fn it_agrees_with_a_linear_search() {
        for seed in 0..20 {
            let (mut rng, mut longest, mut bytes) = (Rng::new(seed), Longest::new(50), [0_u64; 50]);
            for step in 0..2000 {
                let queue = rng.below(50) as usize;
                bytes[queue] = if rng.chance(0.3) { 0 } else { rng.below(40) };
                longest.set(queue, bytes[queue]);
                let most = bytes.iter().copied().zip(0..50).max().filter(|(most, _)| *most > 0);
                assert_eq!(longest.queue(), most.map(|(_, found)| found), "seed {seed}, step {step}");
            }
        }
    }
}

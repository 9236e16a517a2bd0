//! Which flows are worth a picture.
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_trace::{FlowId, Segment, Sink};

/// Counts bytes by flow, to choose the largest for a second pass.
#[derive(Debug, Default)]
pub struct Largest {
    bytes: BTreeMap<FlowId, u64>,
}

impl Largest {
    /// The flows with most bytes, at most `count` of them, the largest first; of equals the first opened.
    pub fn flows(&self, count: usize) -> Vec<FlowId> {
        let mut flows: Vec<(u64, FlowId)> = self.bytes.iter().map(|(flow, bytes)| (*bytes, *flow)).collect();
        flows.sort_by_key(|(bytes, flow)| (core::cmp::Reverse(*bytes), *flow));
        flows.into_iter().take(count).map(|(_, flow)| flow).collect()
    }
}

impl Sink for Largest {
    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        *self.bytes.entry(flow).or_default() += segment.stop.saturating_sub(segment.start);
    }
    fn forgotten(&mut self, flow: FlowId) {
        self.bytes.remove(&flow);
    }
}

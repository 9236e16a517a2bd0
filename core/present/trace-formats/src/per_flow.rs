//! Something of each flow that is looked into.
use alloc::boxed::Box;
use alloc::vec::Vec;
use fathom_flow::FlowId;

/// By number of the flow.
#[derive(Clone, Debug)]
pub(crate) struct PerFlow<T> {
    all: Vec<Option<Box<T>>>,
}

impl<T> PerFlow<T> {
    pub(crate) const fn new() -> Self {
        PerFlow { all: Vec::new() }
    }
    pub(crate) fn add(&mut self, flow: FlowId, value: T) {
        let place = flow.0 as usize;
        if self.all.len() <= place {
            self.all.resize_with(place + 1, || None);
        }
        if let Some(there) = self.all.get_mut(place) {
            *there = Some(Box::new(value));
        }
    }
    pub(crate) fn get(&mut self, flow: FlowId) -> Option<&mut T> {
        self.all.get_mut(flow.0 as usize)?.as_deref_mut()
    }
    pub(crate) fn take(&mut self, flow: FlowId) -> Option<Box<T>> {
        self.all.get_mut(flow.0 as usize)?.take()
    }
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.all.drain(..).flatten().map(|value| *value)
    }
}

//! Remote-write 1.0: `prometheus.WriteRequest`. Field numbers are those of `prompb/remote.proto`
//! and `types.proto`.
use crate::line::{Points, Written, sample};
use crate::{Line, Message, Request, native};
use alloc::vec::Vec;

/// A request of remote-write 1.0.
#[derive(Debug)]
pub struct Write1 {
    classic: bool,
    body: Message,
    points: u64,
}

impl Write1 {
    /// An empty request, with native or classic histograms.
    pub fn new(classic: bool) -> Self {
        Write1 { classic, body: Message::default(), points: 0 }
    }
}

impl Request for Write1 {
    fn add(&mut self, line: &Line<'_>) {
        let (body, points) = (&mut self.body, &mut self.points);
        line.each_written(self.classic, |written| {
            *points += written.points.len() as u64;
            body.message(1, &series(&written));
        });
    }
    fn len(&self) -> usize {
        self.body.len()
    }
    fn points(&self) -> u64 {
        self.points
    }
    fn take(&mut self) -> Vec<u8> {
        self.points = 0;
        core::mem::take(&mut self.body).into_bytes()
    }
}

fn series(written: &Written<'_>) -> Message {
    let mut series = Message::default();
    for (name, value) in &written.labels {
        let mut label = Message::default();
        label.bytes(1, name.as_bytes());
        label.bytes(2, value.as_bytes());
        series.message(1, &label);
    }
    match &written.points {
        Points::Numbers(numbers) => numbers.iter().for_each(|one| series.message(2, &sample(*one))),
        Points::Histograms(histograms) => histograms
            .iter()
            .for_each(|(at_ms, sketch)| series.message(4, &native::histogram(*sketch, *at_ms))),
    }
    series
}

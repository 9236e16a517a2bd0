//! Information about several captures, before hops are analyzed.
use crate::capture::Capture;
use crate::clock::{Clock, Fit};
use crate::nat::NatNames;
use crate::order::{Order, Table};
use crate::pairing::{Entry, Partners, partners};
use alloc::vec::Vec;

pub(crate) struct Known<'a> {
    pub(crate) captures: &'a [Capture],
    pub(crate) places: Vec<Vec<Entry>>,
    pub(crate) table: Table,
    pub(crate) order: Order,
    pub(crate) is_one_clock: bool,
    /// Translated flows of each capture.
    pub(crate) renamed: &'a [NatNames],
}

impl Known<'_> {
    /// Matches packets of capture `a` with those of capture `b`.
    pub(crate) fn partners(&self, a: usize, b: usize) -> Option<Partners> {
        Some(partners(self.places.get(a)?, self.places.get(b)?))
    }
    /// Relation of two clocks, from packets in both directions.
    pub(crate) fn clock(&self, a: usize, b: usize, found: &Partners) -> Option<Clock> {
        let (first, second) = (self.captures.get(a)?, self.captures.get(b)?);
        if self.is_one_clock {
            return Some(Clock::same(a, b, first.first));
        }
        let places = self.order.captures.each_ref().map(|order| {
            let place = |capture: usize| order.iter().position(|other| *other == capture);
            Some(place(a)? > place(b)?)
        });
        let mut fit = Fit::new(first.first, first.last);
        for (from, to) in found.certain() {
            let (Some(here), Some(there)) = (first.marks.get(from), second.marks.get(to)) else { continue };
            let direction = self.order.direction(here.hosts(), here.sense());
            if let Some(Some(is_back)) = direction.and_then(|direction| places.get(direction)) {
                fit.add(here.at, there.at.saturating_sub(here.at), *is_back);
            }
        }
        fit.solve(a, b)
    }
}

//! Reconstructs the path from several captures.
use crate::between::CapturePair;
use crate::capture::{Capture, Settings};
use crate::hop;
use crate::known::Known;
use crate::nat::NatNames;
use crate::order::{Order, Table};
use crate::pairing::sorted;
use crate::report::{CaptureSummary, NoPath, PathDirection, PathReport};
use alloc::vec::Vec;

fn table(known: &Known<'_>, found: &mut [Vec<bool>]) -> Table {
    let mut table = Table::new();
    let count = known.captures.len();
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    for (a, b) in pairs {
        let Some(partners) = known.partners(a, b) else { continue };
        let (Some(first), Some(second)) = (known.captures.get(a), known.captures.get(b)) else { continue };
        for (from, to) in partners.certain() {
            for (capture, place) in [(a, from), (b, to)] {
                if let Some(is_found) = found.get_mut(capture).and_then(|found| found.get_mut(place)) {
                    *is_found = true;
                }
            }
        }
        let between = CapturePair::new(first, second, &partners);
        if !between.is_empty() {
            table.insert((a, b), between);
        }
    }
    table
}

/// Analyzes the captures; one packet in 2^`thinned` was kept.
pub(crate) fn analyze(
    captures: &[Capture],
    renamed: &[NatNames],
    settings: &Settings,
    thinned: u64,
) -> Result<PathReport, NoPath> {
    if captures.len() < 2 {
        return Err(NoPath::OneCapture);
    }
    let places = captures.iter().map(sorted).collect();
    let is_one_clock = settings.is_one_clock;
    let (table_so_far, order) = (Table::new(), Order::default());
    let mut known = Known { captures, places, table: table_so_far, order, is_one_clock, renamed };
    let mut found: Vec<Vec<bool>> =
        captures.iter().map(|capture| alloc::vec![false; capture.marks.len()]).collect();
    known.table = table(&known, &mut found);
    if known.table.is_empty() {
        return Err(NoPath::NothingInCommon {
            packets: captures.iter().map(|capture| capture.packets).collect(),
        });
    }
    known.order = Order::find(captures.len(), &known.table);
    let seen = captures.iter().zip(&found).map(|(capture, found)| CaptureSummary {
        packets: capture.packets,
        unmarked: capture.unmarked,
        super_packets: capture.super_packets,
        found_elsewhere: found.iter().filter(|is_found| **is_found).count() as u64,
        first: capture.first,
        last: capture.last,
    });
    let directions = [0, 1].map(|direction| PathDirection {
        captures: known.order.captures[direction].clone(),
        hops: hop::all(&known, direction),
    });
    Ok(PathReport { captures: seen.collect(), directions, one_of: 1 << thinned })
}

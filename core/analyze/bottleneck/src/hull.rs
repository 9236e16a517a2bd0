//! The lower convex hull of points that come in the order of their abscissa.
use alloc::vec::Vec;

/// Vertices kept. The hull of a real clock has some tens; a hostile one is thinned.
const LIMIT: usize = 256;

/// Lower convex hull of TSval (abscissa, ticks) and arrival (ordinate, ns): what lies under all delays.
#[derive(Clone, Default, Debug)]
pub(crate) struct Hull {
    vertices: Vec<(f64, f64)>,
}

/// Twice the area of the triangle, positive for a turn to the left.
fn turn(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

impl Hull {
    /// Of several arrivals with one TSval the first is the least: the others change nothing.
    #[inline]
    pub(crate) fn push(&mut self, point: (f64, f64)) {
        if self.vertices.last().is_some_and(|last| point.0 <= last.0) {
            return;
        }
        while let [.., a, b] = self.vertices.as_slice()
            && turn(*a, *b, point) <= 0.0
        {
            self.vertices.pop();
        }
        self.vertices.push(point);
        if self.vertices.len() > LIMIT {
            self.thin();
        }
    }
    /// Forgets every other vertex between the ends. The hull then lies a little too high in between.
    #[cold]
    fn thin(&mut self) {
        let last = self.vertices.len() - 1;
        let mut number = 0;
        self.vertices.retain(|_| {
            number += 1;
            (number - 1) % 2 == 0 || number - 1 == last
        });
    }
    pub(crate) fn vertices(&self) -> &[(f64, f64)] {
        &self.vertices
    }
}

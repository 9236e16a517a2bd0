//! Lower convex hull of points in the order of their x coordinates.
use alloc::vec::Vec;

/// Maximum number of vertices. A real clock has some tens; a crafted one is thinned out.
const LIMIT: usize = 256;

/// Lower convex hull of arrival time (y, ns) over TSval (x, ticks), the bound of all arrivals.
#[derive(Clone, Default, Debug)]
pub(crate) struct Hull {
    vertices: Vec<(f64, f64)>,
}

/// Twice the area of the triangle, positive for a left turn.
fn turn(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

impl Hull {
    /// Adds a point. Of several arrivals with the same TSval, only the first matters.
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
    /// Removes every other vertex except the ends. The hull is then slightly too high in between.
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

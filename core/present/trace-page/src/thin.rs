//! A table that grows coarser rather than larger.
use alloc::vec::Vec;

/// A row that can take in the row after it.
pub(crate) trait Row: Copy {
    /// Rare rows stay as they are, always.
    fn is_rare(&self) -> bool;
    /// Becomes one row with the next.
    fn merge(&mut self, next: &Self);
}

/// Rows in order of time. Each ordinary one represents up to `stride` consecutive rows; a rare
/// one represents itself.
#[derive(Debug)]
pub(crate) struct Thinned<R> {
    rows: Vec<R>,
    stride: u32,
    ordinary: usize,
    /// Place of the ordinary row that is not full, and how many it represents.
    open: Option<(usize, u32)>,
}

impl<R> Default for Thinned<R> {
    fn default() -> Self {
        Thinned { rows: Vec::new(), stride: 1, ordinary: 0, open: None }
    }
}

impl<R: Row> Thinned<R> {
    /// Adds a row; true if the table has one ordinary row more.
    pub(crate) fn push(&mut self, row: R) -> bool {
        if !row.is_rare() {
            if let Some((place, count)) = self.open.filter(|(_, count)| *count < self.stride)
                && let Some(there) = self.rows.get_mut(place)
            {
                there.merge(&row);
                self.open = Some((place, count + 1));
                return false;
            }
            self.open = Some((self.rows.len(), 1));
            self.ordinary += 1;
        }
        self.rows.push(row);
        !row.is_rare()
    }
    /// Makes one of each two ordinary rows in a row.
    pub(crate) fn halve(&mut self) {
        let mut kept: Vec<R> = Vec::with_capacity(self.rows.len() - self.ordinary / 2);
        let mut first: Option<usize> = None;
        for row in &self.rows {
            if row.is_rare() {
                kept.push(*row);
            } else if let Some(there) = first.take().and_then(|place| kept.get_mut(place)) {
                there.merge(row);
            } else {
                first = Some(kept.len());
                kept.push(*row);
            }
        }
        self.ordinary = kept.iter().filter(|row| !row.is_rare()).count();
        self.rows = kept;
        self.stride = self.stride.saturating_mul(2);
        self.open = None;
    }
    pub(crate) fn rows(&self) -> &[R] {
        &self.rows
    }
    pub(crate) fn rows_mut(&mut self) -> &mut [R] {
        &mut self.rows
    }
    pub(crate) const fn stride(&self) -> u32 {
        self.stride
    }
    pub(crate) const fn ordinary(&self) -> usize {
        self.ordinary
    }
}

//! The two directions of a path, and pairs of values per direction.
use core::fmt;
use core::ops::{Index, IndexMut};
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// A direction of travel, seen from the user's edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the user (upload).
    Up,
    /// To the user (download).
    Down,
}

impl Direction {
    /// Both directions, up first.
    pub const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];

    /// `up` or `down`: the name in files, flags and protocols.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }
    /// The opposite direction.
    pub const fn reverse(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
    /// Index into [`Direction::BOTH`]: 0 for up, 1 for down.
    pub const fn index(self) -> usize {
        match self {
            Direction::Up => 0,
            Direction::Down => 1,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is neither `up` nor `down`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoDirection;

impl fmt::Display for NoDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown direction (expected \"up\" or \"down\")")
    }
}

impl core::error::Error for NoDirection {}

impl FromStr for Direction {
    type Err = NoDirection;

    fn from_str(text: &str) -> Result<Self, NoDirection> {
        Direction::BOTH.into_iter().find(|direction| direction.name() == text).ok_or(NoDirection)
    }
}

/// One value per direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct PerDirection<T> {
    /// From the user.
    pub up: T,
    /// To the user.
    pub down: T,
}

impl<T> PerDirection<T> {
    /// Calls `make` for each direction, up first.
    pub fn from_fn(mut make: impl FnMut(Direction) -> T) -> Self {
        PerDirection { up: make(Direction::Up), down: make(Direction::Down) }
    }
    /// The value of `direction`.
    pub const fn get(&self, direction: Direction) -> &T {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }
    /// The mutable value of `direction`.
    pub const fn get_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
    /// References to both values.
    pub const fn as_ref(&self) -> PerDirection<&T> {
        PerDirection { up: &self.up, down: &self.down }
    }
    /// Mutable references to both values.
    pub const fn as_mut(&mut self) -> PerDirection<&mut T> {
        PerDirection { up: &mut self.up, down: &mut self.down }
    }
    /// Applies `change` to each value, up first.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerDirection<U> {
        PerDirection { up: change(self.up), down: change(self.down) }
    }
    /// Pairs each value with the value of `other` for the same direction.
    pub fn zip<U>(self, other: PerDirection<U>) -> PerDirection<(T, U)> {
        PerDirection { up: (self.up, other.up), down: (self.down, other.down) }
    }
    /// Iterates over the directions and their values, up first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Direction, &T)> + use<'_, T> {
        self.as_ref().into_iter()
    }
    /// Iterates over the directions and their mutable values, up first.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (Direction, &mut T)> + use<'_, T> {
        self.as_mut().into_iter()
    }
}

impl<T> IntoIterator for PerDirection<T> {
    type Item = (Direction, T);
    type IntoIter = core::array::IntoIter<(Direction, T), 2>;

    fn into_iter(self) -> Self::IntoIter {
        [(Direction::Up, self.up), (Direction::Down, self.down)].into_iter()
    }
}

impl<T> Index<Direction> for PerDirection<T> {
    type Output = T;

    fn index(&self, direction: Direction) -> &T {
        self.get(direction)
    }
}

impl<T> IndexMut<Direction> for PerDirection<T> {
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        self.get_mut(direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn the_name_parses_back() {
        for direction in Direction::BOTH {
            assert_eq!(direction.name().parse(), Ok(direction));
            assert_eq!(Direction::BOTH[direction.index()], direction);
            assert_eq!(direction.reverse().reverse(), direction);
            assert_ne!(direction.reverse(), direction);
        }
        for wrong in ["", "Up", "UP", "up ", "upload", "both"] {
            assert_eq!(wrong.parse::<Direction>(), Err(NoDirection), "{wrong}");
        }
        assert_eq!(format!("{:>5}|{:<5}", Direction::Up, Direction::Down), "   up|down ");
    }

    #[test]
    fn values_stay_with_their_direction() {
        let mut pair = PerDirection::from_fn(|direction| direction.name().len());
        assert_eq!((pair.up, pair.down), (2, 4));
        pair[Direction::Down] += 1;
        *pair.get_mut(Direction::Up) += 1;
        assert_eq!(pair, PerDirection { up: 3, down: 5 });
        for (direction, value) in pair.iter_mut() {
            *value *= direction.index() + 1;
        }
        assert!(pair.iter().eq([(Direction::Up, &3), (Direction::Down, &10)]));
        assert_eq!(pair.map(|value| value / 2).zip(pair).down, (5, 10));
    }
}

//! The part of MessagePack that Crusader writes.
use crate::error::Problem;
use alloc::format;
use alloc::vec::Vec;

/// Deepest nesting that is skipped.
const MAX_DEPTH: u32 = 16;

/// Reads values in order.
pub(super) struct Reader<'d> {
    rest: &'d [u8],
}

impl<'d> Reader<'d> {
    pub(super) const fn new(rest: &'d [u8]) -> Self {
        Reader { rest }
    }
    fn take(&mut self, count: usize) -> Result<&'d [u8], Problem> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Problem::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }
    fn byte(&mut self) -> Result<u8, Problem> {
        self.take(1).map(|taken| taken[0])
    }
    /// A big-endian number of `count` bytes.
    fn big_endian(&mut self, count: usize) -> Result<u64, Problem> {
        Ok(self.take(count)?.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }
    fn unexpected<T>(tag: u8) -> Result<T, Problem> {
        Err(Problem::Damaged(format!("unexpected tag {tag:#04x}")))
    }
    /// Skips a nil, if there is one.
    pub(super) fn nil(&mut self) -> bool {
        let is_nil = self.rest.first() == Some(&0xc0);
        self.rest = &self.rest[usize::from(is_nil)..];
        is_nil
    }
    pub(super) fn boolean(&mut self) -> Result<bool, Problem> {
        match self.byte()? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            tag => Self::unexpected(tag),
        }
    }
    /// A number that is not negative.
    pub(super) fn number(&mut self) -> Result<u64, Problem> {
        match self.byte()? {
            small @ 0..=0x7f => Ok(u64::from(small)),
            tag @ 0xcc..=0xcf => self.big_endian(1 << (tag - 0xcc)),
            tag => Self::unexpected(tag),
        }
    }
    pub(super) fn text(&mut self) -> Result<&'d str, Problem> {
        let count = match self.byte()? {
            tag @ 0xa0..=0xbf => u64::from(tag & 0x1f),
            tag @ 0xd9..=0xdb => self.big_endian(1 << (tag - 0xd9))?,
            tag => return Self::unexpected(tag),
        };
        let bytes = self.take(count as usize)?;
        core::str::from_utf8(bytes).map_err(|error| Problem::Damaged(format!("{error}")))
    }
    /// Seconds and nanoseconds, as a map or a list; in nanoseconds.
    pub(super) fn duration(&mut self) -> Result<u64, Problem> {
        let (mut seconds, mut nanos) = (0_u64, 0);
        if matches!(self.rest.first(), Some(0x92)) {
            self.byte()?;
            (seconds, nanos) = (self.number()?, self.number()?);
        } else {
            self.map(&mut |key, reader| {
                match key {
                    "secs" => seconds = reader.number()?,
                    _ => nanos = reader.number()?,
                }
                Ok(())
            })?;
        }
        let all = seconds.checked_mul(1_000_000_000).and_then(|all| all.checked_add(nanos));
        all.ok_or_else(|| Problem::Damaged(format!("value {seconds} is out of range")))
    }
    /// Calls `entry` for each key; it reads the value.
    pub(super) fn map(
        &mut self,
        entry: &mut dyn FnMut(&str, &mut Self) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let count = match self.byte()? {
            tag @ 0x80..=0x8f => u64::from(tag & 0x0f),
            tag @ 0xde..=0xdf => self.big_endian(2 << (tag - 0xde))?,
            tag => return Self::unexpected(tag),
        };
        for _ in 0..count {
            let key = self.text()?;
            entry(key, self)?;
        }
        Ok(())
    }
    /// Reads each element with `element`.
    pub(super) fn list<T>(
        &mut self,
        element: fn(&mut Self) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        let count = match self.byte()? {
            tag @ 0x90..=0x9f => u64::from(tag & 0x0f),
            tag @ 0xdc..=0xdd => self.big_endian(2 << (tag - 0xdc))?,
            tag => return Self::unexpected(tag),
        };
        // Not reserved: the count may be a lie.
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(element(self)?);
        }
        Ok(all)
    }
    /// Skips a value.
    pub(super) fn skip(&mut self) -> Result<(), Problem> {
        self.skip_at(MAX_DEPTH)
    }
    fn skip_at(&mut self, depth: u32) -> Result<(), Problem> {
        let tag = self.byte()?;
        let Some(deeper) = depth.checked_sub(1) else { return Self::unexpected(tag) };
        let (bytes, values) = match tag {
            0..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => (0, 0),
            0x80..=0x8f => (0, 2 * u64::from(tag & 0x0f)),
            0x90..=0x9f => (0, u64::from(tag & 0x0f)),
            0xa0..=0xbf => (u64::from(tag & 0x1f), 0),
            0xc4..=0xc6 => (self.big_endian(1 << (tag - 0xc4))?, 0),
            0xcc..=0xcf => (1 << (tag - 0xcc), 0),
            0xd0..=0xd3 => (1 << (tag - 0xd0), 0),
            0xca => (4, 0),
            0xcb => (8, 0),
            0xd9..=0xdb => (self.big_endian(1 << (tag - 0xd9))?, 0),
            0xdc..=0xdd => (0, self.big_endian(2 << (tag - 0xdc))?),
            0xde..=0xdf => (0, 2 * self.big_endian(2 << (tag - 0xde))?),
            _ => return Self::unexpected(tag),
        };
        self.take(bytes as usize)?;
        for _ in 0..values {
            self.skip_at(deeper)?;
        }
        Ok(())
    }
}

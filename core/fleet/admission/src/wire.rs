//! Reads the Protobuf wire format strictly.
use crate::Why;

/// The value of a field. Groups and 32-bit fields occur in no message of remote-write.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Number(u64),
    Fixed,
    Bytes(&'a [u8]),
}

/// The fields of a message.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next field; `None` at the end of the message.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Value<'a>)>, Why> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => fixed(&mut self.0)?,
            2 => Value::Bytes(bytes(&mut self.0)?),
            _ => return Err(Why::Field),
        };
        let field = u32::try_from(key >> 3).ok().filter(|field| *field > 0).ok_or(Why::Field)?;
        Ok(Some((field, value)))
    }
}

/// A number of 1 to 10 bytes that fits into 64 bits.
pub(crate) fn varint(from: &mut &[u8]) -> Result<u64, Why> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first().ok_or(Why::Truncated)?;
        *from = rest;
        if shift == 63 && *byte > 1 {
            return Err(Why::Field);
        }
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Why::Field)
}

fn fixed<'a>(from: &mut &'a [u8]) -> Result<Value<'a>, Why> {
    let (_, rest) = from.split_at_checked(8).ok_or(Why::Truncated)?;
    *from = rest;
    Ok(Value::Fixed)
}

fn bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Why> {
    let len = usize::try_from(varint(from)?).map_err(|_| Why::Truncated)?;
    let (value, rest) = from.split_at_checked(len).ok_or(Why::Truncated)?;
    *from = rest;
    Ok(value)
}

/// Which scalar fields were read. A decoder takes the last of several, and a checker might take
/// another one: a second one is therefore an error.
#[derive(Default)]
pub(crate) struct Once(u32);

impl Once {
    pub(crate) fn see(&mut self, field: u32) -> Result<(), Why> {
        let bit = 1_u32.checked_shl(field).ok_or(Why::Field)?;
        if self.0 & bit != 0 {
            return Err(Why::Field);
        }
        self.0 |= bit;
        Ok(())
    }
}

//! Partial rejections by an OTLP receiver: `ExportMetricsServiceResponse`.
use alloc::string::String;

/// A partial rejection.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Partial {
    /// Number of rejected points.
    pub rejected: u64,
    /// The reason; or a warning if no point was rejected.
    pub message: String,
}

/// The field `partial_success` of a response; `None` if it is missing or the response is invalid.
pub fn partial_success(mut response: &[u8]) -> Option<Partial> {
    while !response.is_empty() {
        let (field, value) = next(&mut response)?;
        if let (1, Field::Bytes(partial)) = (field, value) {
            return partial_of(partial);
        }
    }
    None
}

fn partial_of(mut bytes: &[u8]) -> Option<Partial> {
    let mut partial = Partial::default();
    while !bytes.is_empty() {
        match next(&mut bytes)? {
            (1, Field::Number(number)) => partial.rejected = number,
            (2, Field::Bytes(text)) => partial.message = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    (partial != Partial::default()).then_some(partial)
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

fn next<'a>(from: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = varint(from)?;
    let value = match key & 7 {
        0 => Field::Number(varint(from)?),
        1 => skip(from, 8)?,
        2 => {
            let len = usize::try_from(varint(from)?).ok()?;
            let (bytes, rest) = from.split_at_checked(len)?;
            *from = rest;
            Field::Bytes(bytes)
        }
        5 => skip(from, 4)?,
        _ => return None,
    };
    Some((key >> 3, value))
}

fn skip<'a>(from: &mut &'a [u8], len: usize) -> Option<Field<'a>> {
    let (_, rest) = from.split_at_checked(len)?;
    *from = rest;
    Some(Field::Other)
}

fn varint(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

//! Remote-write 2.0: `io.prometheus.write.v2.Request`, field numbers of
//! `prompb/io/prometheus/write/v2/types.proto`.
use crate::series::{of_series, push, text};
use crate::wire::{Fields, Once, Value, varint};
use crate::{DecodeError, Points, Series, Why};
use alloc::vec::Vec;

/// Maximum number of strings. A request of Fathom has at most 10,000 points.
const MAX_SYMBOLS: usize = 65_536;
/// Maximum length of a string; help texts are the longest.
const MAX_SYMBOL_BYTES: usize = 2_048;

pub(crate) fn walk<'a, E: From<DecodeError>>(
    body: &'a [u8],
    take: &mut impl FnMut(&Series<'_, 'a>) -> Result<(), E>,
) -> Result<(), E> {
    let symbols = symbols(body).map_err(of_series(0))?;
    let (mut fields, mut labels, mut number) = (Fields(body), Vec::new(), 0);
    while let Some((field, value)) = fields.next().map_err(of_series(0))? {
        let (5, Value::Bytes(message)) = (field, value) else { continue };
        number += 1;
        let points = read(message, &symbols, &mut labels).map_err(of_series(number))?;
        let series = Series { labels: &labels, points };
        series.check().map_err(of_series(number))?;
        take(&series)?;
    }
    Ok(())
}

/// All strings, which may follow the series that use them.
fn symbols(body: &[u8]) -> Result<Vec<&str>, Why> {
    let (mut fields, mut symbols) = (Fields(body), Vec::new());
    while let Some((field, value)) = fields.next()? {
        match (field, value) {
            (4, Value::Bytes(bytes)) => {
                if symbols.len() == MAX_SYMBOLS || bytes.len() > MAX_SYMBOL_BYTES {
                    return Err(Why::Symbols);
                }
                symbols.push(text(bytes)?);
            }
            (5, Value::Bytes(_)) => {}
            _ => return Err(Why::Field),
        }
    }
    if symbols.first().is_some_and(|first| !first.is_empty()) { Err(Why::Symbols) } else { Ok(symbols) }
}

fn read<'a>(
    message: &'a [u8],
    symbols: &[&'a str],
    labels: &mut Vec<(&'a str, &'a str)>,
) -> Result<Points, Why> {
    labels.clear();
    let (mut fields, mut once, mut points) = (Fields(message), Once::default(), Points::default());
    while let Some((field, value)) = fields.next()? {
        match (field, value) {
            (1, Value::Bytes(mut refs)) => {
                while !refs.is_empty() {
                    let name = symbol(symbols, varint(&mut refs)?)?;
                    push(labels, (name, symbol(symbols, varint(&mut refs)?)?))?;
                }
            }
            (2, Value::Bytes(sample)) => points.sample(sample, true)?,
            (3, Value::Bytes(histogram)) => points.histogram(histogram, true)?,
            (4, _) => return Err(Why::Exemplar),
            (5, Value::Bytes(bytes)) => {
                once.see(field)?;
                metadata(bytes, symbols)?;
            }
            (6, Value::Number(start)) => {
                once.see(field)?;
                points.start(start)?;
            }
            _ => return Err(Why::Field),
        }
    }
    Ok(points)
}

fn metadata(message: &[u8], symbols: &[&str]) -> Result<(), Why> {
    let (mut fields, mut once) = (Fields(message), Once::default());
    while let Some((field, value)) = fields.next()? {
        once.see(field)?;
        match (field, value) {
            (1, Value::Number(_)) => {}
            (3 | 4, Value::Number(number)) => {
                symbol(symbols, number)?;
            }
            _ => return Err(Why::Field),
        }
    }
    Ok(())
}

fn symbol<'a>(symbols: &[&'a str], number: u64) -> Result<&'a str, Why> {
    usize::try_from(number).ok().and_then(|at| symbols.get(at)).copied().ok_or(Why::Symbol)
}

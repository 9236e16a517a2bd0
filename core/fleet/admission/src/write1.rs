//! Remote-write 1.0: `prometheus.WriteRequest`, field numbers of `prompb/remote.proto` and
//! `types.proto`.
use crate::series::{of_series, push, text};
use crate::wire::{Fields, Once, Value};
use crate::{DecodeError, Points, Series, Why};
use alloc::vec::Vec;

pub(crate) fn walk<'a, E: From<DecodeError>>(
    body: &'a [u8],
    take: &mut impl FnMut(&Series<'_, 'a>) -> Result<(), E>,
) -> Result<(), E> {
    let (mut fields, mut labels, mut number) = (Fields(body), Vec::new(), 0);
    while let Some(field) = fields.next().map_err(of_series(0))? {
        let (1, Value::Bytes(message)) = field else { return Err(of_series(0)(Why::Field).into()) };
        number += 1;
        let points = read(message, &mut labels).map_err(of_series(number))?;
        let series = Series { labels: &labels, points };
        series.check().map_err(of_series(number))?;
        take(&series)?;
    }
    Ok(())
}

fn read<'a>(message: &'a [u8], labels: &mut Vec<(&'a str, &'a str)>) -> Result<Points, Why> {
    labels.clear();
    let (mut fields, mut points) = (Fields(message), Points::default());
    while let Some((field, value)) = fields.next()? {
        let Value::Bytes(bytes) = value else { return Err(Why::Field) };
        match field {
            1 => push(labels, label(bytes)?)?,
            2 => points.sample(bytes, false)?,
            3 => return Err(Why::Exemplar),
            4 => points.histogram(bytes, false)?,
            _ => return Err(Why::Field),
        }
    }
    Ok(points)
}

fn label(message: &[u8]) -> Result<(&str, &str), Why> {
    let (mut fields, mut once, mut label) = (Fields(message), Once::default(), ("", ""));
    while let Some((field, value)) = fields.next()? {
        once.see(field)?;
        match (field, value) {
            (1, Value::Bytes(name)) => label.0 = text(name)?,
            (2, Value::Bytes(bytes)) => label.1 = text(bytes)?,
            _ => return Err(Why::Field),
        }
    }
    Ok(label)
}

//! Reads an answer of Prometheus' HTTP API series by series. Whatever the size of the answer, one
//! series is held at a time.
use crate::answer::AnswerError;
use crate::labels::SeriesLabels;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What an answer has for each series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerKind {
    /// One value.
    Vector,
    /// Values in order of time.
    Matrix,
}

impl AnswerKind {
    const fn name(self) -> &'static str {
        match self {
            AnswerKind::Vector => "vector",
            AnswerKind::Matrix => "matrix",
        }
    }
    /// The member of a series with its values.
    const fn member(self) -> &'static str {
        match self {
            AnswerKind::Vector => "value",
            AnswerKind::Matrix => "values",
        }
    }
}

/// Takes the labels of a series and its points: seconds since 1970 and value. `Break` ends the
/// reading with an error.
pub type EachSeries<'a> = dyn FnMut(&SeriesLabels, &[(f64, f64)]) -> ControlFlow<()> + 'a;

/// Passes each series of an answer to `each`, also those before an error. Values that are no number
/// are left out, as are vector series without another.
///
/// # Errors
/// The error of the deserializer: what is wrong with the answer. Inside, the error of the engine.
pub fn read_answer<'de, D: Deserializer<'de>>(
    answer: D,
    kind: AnswerKind,
    each: &mut EachSeries<'_>,
) -> Result<Result<(), AnswerError>, D::Error> {
    let mut buffers = Buffers::default();
    answer.deserialize_map(Whole(Reading { kind, each, buffers: &mut buffers }))
}

/// The labels and points of the current series. Its memory is used again.
#[derive(Default)]
struct Buffers {
    labels: SeriesLabels,
    points: Vec<(f64, f64)>,
}

struct Reading<'r, 'e> {
    kind: AnswerKind,
    each: &'r mut EachSeries<'e>,
    buffers: &'r mut Buffers,
}

impl<'e> Reading<'_, 'e> {
    fn reborrow(&mut self) -> Reading<'_, 'e> {
        Reading { kind: self.kind, each: self.each, buffers: self.buffers }
    }
}

/// Sets a member that may be there once.
fn once<T, E: Error>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    if slot.replace(value).is_some() { Err(E::duplicate_field(name)) } else { Ok(()) }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum WholeMember {
    Status,
    Error,
    Data,
    #[serde(other)]
    Other,
}

struct Whole<'r, 'e>(Reading<'r, 'e>);

impl<'de> Visitor<'de> for Whole<'_, '_> {
    type Value = Result<(), AnswerError>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a status")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut status: Option<String> = None;
        let mut error: Option<Option<String>> = None;
        let mut data: Option<Option<IsKind>> = None;
        while let Some(member) = map.next_key()? {
            match member {
                WholeMember::Status => once(&mut status, "status", map.next_value()?)?,
                WholeMember::Error => once(&mut error, "error", map.next_value()?)?,
                WholeMember::Data if data.is_some() => return Err(Error::duplicate_field("data")),
                WholeMember::Data => data = Some(map.next_value_seed(Data(self.0.reborrow()))?),
                WholeMember::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let status = status.ok_or_else(|| Error::missing_field("status"))?;
        let invalid = |why: &str| Err(AnswerError::Invalid(why.to_owned()));
        Ok(match (status.as_str(), data.flatten()) {
            ("success", Some(IsKind(true))) => Ok(()),
            ("success", Some(IsKind(false))) => invalid("values of another kind"),
            ("success", None) => invalid("without data"),
            (other, _) => Err(AnswerError::Engine(error.flatten().unwrap_or_else(|| other.to_owned()))),
        })
    }
}

/// Whether the data are of the kind that was asked for.
#[derive(Clone, Copy)]
struct IsKind(bool);

#[derive(Deserialize)]
#[serde(field_identifier)]
enum DataMember {
    #[serde(rename = "resultType")]
    Kind,
    #[serde(rename = "result")]
    Result,
    #[serde(other)]
    Other,
}

/// An object, or null.
struct Data<'r, 'e>(Reading<'r, 'e>);

impl<'de> DeserializeSeed<'de> for Data<'_, '_> {
    type Value = Option<IsKind>;
    fn deserialize<D: Deserializer<'de>>(self, data: D) -> Result<Self::Value, D::Error> {
        data.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Data<'_, '_> {
    type Value = Option<IsKind>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a result")
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut is_kind, mut result) = (None, None);
        while let Some(member) = map.next_key()? {
            match member {
                DataMember::Kind => {
                    let name: String = map.next_value()?;
                    once(&mut is_kind, "resultType", IsKind(name == self.0.kind.name()))?;
                }
                DataMember::Result if result.is_some() => return Err(Error::duplicate_field("result")),
                DataMember::Result => {
                    result = Some(());
                    if let Some(IsKind(false)) = is_kind {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        map.next_value_seed(AllSeries(self.0.reborrow()))?;
                    }
                }
                DataMember::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        result.ok_or_else(|| Error::missing_field("result"))?;
        is_kind.ok_or_else(|| Error::missing_field("resultType")).map(Some)
    }
}

struct AllSeries<'r, 'e>(Reading<'r, 'e>);

impl<'de> DeserializeSeed<'de> for AllSeries<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, all: D) -> Result<(), D::Error> {
        all.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AllSeries<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of series")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
        while all.next_element_seed(Series(self.0.reborrow()))?.is_some() {}
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum SeriesMember {
    Metric,
    Value,
    Values,
    #[serde(other)]
    Other,
}

struct Series<'r, 'e>(Reading<'r, 'e>);

impl<'de> DeserializeSeed<'de> for Series<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, series: D) -> Result<(), D::Error> {
        series.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Series<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a series")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Reading { kind, each, buffers: Buffers { labels, points } } = self.0;
        let (mut metric, mut values) = (None, None);
        labels.clear();
        points.clear();
        while let Some(member) = map.next_key()? {
            match (member, kind) {
                (SeriesMember::Metric, _) => {
                    once(&mut metric, "metric", ())?;
                    map.next_value_seed(&mut *labels)?;
                }
                (SeriesMember::Value, AnswerKind::Vector) => {
                    once(&mut values, kind.member(), ())?;
                    points.extend(map.next_value_seed(Pair)?);
                }
                (SeriesMember::Values, AnswerKind::Matrix) => {
                    once(&mut values, kind.member(), ())?;
                    map.next_value_seed(Pairs(points))?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        values.ok_or_else(|| Error::missing_field(kind.member()))?;
        if kind == AnswerKind::Vector && points.is_empty() {
            return Ok(());
        }
        if each(labels, points).is_break() { Err(Error::custom("stopped")) } else { Ok(()) }
    }
}

struct Pairs<'p>(&'p mut Vec<(f64, f64)>);

impl<'de> DeserializeSeed<'de> for Pairs<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, pairs: D) -> Result<(), D::Error> {
        pairs.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pairs<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<(), A::Error> {
        while let Some(pair) = pairs.next_element_seed(Pair)? {
            self.0.extend(pair);
        }
        Ok(())
    }
}

/// A time and a value; `None` if the value is no number.
struct Pair;

impl<'de> DeserializeSeed<'de> for Pair {
    type Value = Option<(f64, f64)>;
    fn deserialize<D: Deserializer<'de>>(self, pair: D) -> Result<Self::Value, D::Error> {
        pair.deserialize_tuple(2, self)
    }
}

impl<'de> Visitor<'de> for Pair {
    type Value = Option<(f64, f64)>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time and a value")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Self::Value, A::Error> {
        let at_s: f64 = pair.next_element()?.ok_or_else(|| Error::invalid_length(0, &self))?;
        let value = pair.next_element_seed(Number)?.ok_or_else(|| Error::invalid_length(1, &self))?;
        Ok(value.map(|value| (at_s, value)))
    }
}

/// A number as text; `None` if it is none, or infinite.
struct Number;

impl<'de> DeserializeSeed<'de> for Number {
    type Value = Option<f64>;
    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<Self::Value, D::Error> {
        text.deserialize_str(self)
    }
}

impl Visitor<'_> for Number {
    type Value = Option<f64>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number in quotes")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.parse().ok().filter(|value: &f64| value.is_finite()))
    }
}

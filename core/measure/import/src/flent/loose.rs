//! Numbers of a format whose values can be anything.
use core::fmt;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A number; NaN for everything that is not one, such as null or a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loose(pub(super) f64);

impl Default for Loose {
    fn default() -> Self {
        Loose(f64::NAN)
    }
}

impl Loose {
    /// The number, if it is one.
    pub(super) fn get(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

struct Any;

impl<'d> Visitor<'d> for Any {
    type Value = Loose;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
        Ok(Loose(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
        Ok(Loose(value as f64))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
        Ok(Loose(value as f64))
    }
    fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
        Ok(Loose(f64::from(u8::from(value))))
    }
    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::default())
    }
    fn visit_str<E>(self, _: &str) -> Result<Loose, E> {
        Ok(Loose::default())
    }
    fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<Loose, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::default())
    }
    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Loose, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::default())
    }
}

impl<'d> Deserialize<'d> for Loose {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

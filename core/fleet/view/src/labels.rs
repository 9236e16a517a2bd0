//! Labels of series, and sets of labels that sites share.
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// The labels of a site by name. Sites with the same labels may share them.
pub type SiteLabels = Arc<BTreeMap<String, String>>;

/// The labels of one series, in one piece of memory that is used again for the next.
#[derive(Clone, Default, Debug)]
pub struct SeriesLabels {
    text: String,
    /// Where each name starts in `text`, where its value starts, and where that ends.
    places: Vec<[usize; 3]>,
}

impl SeriesLabels {
    /// Each name with its value, in the order of the answer. Of labels with the same name, the last
    /// one counts.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> + Clone {
        let part = |from, to| self.text.get(from..to).unwrap_or_default();
        self.places.iter().map(move |[name, value, end]| (part(*name, *value), part(*value, *end)))
    }
    /// The value of a label.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
    /// The labels by name.
    #[must_use]
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.places.clear();
    }
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        let start = self.text.len();
        self.text.push_str(name);
        let middle = self.text.len();
        self.text.push_str(value);
        self.places.push([start, middle, self.text.len()]);
    }
}

/// Reads an object of labels.
impl<'de> DeserializeSeed<'de> for &mut SeriesLabels {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, labels: D) -> Result<(), D::Error> {
        labels.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut SeriesLabels {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        loop {
            let start = self.text.len();
            if map.next_key_seed(Text(&mut self.text))?.is_none() {
                return Ok(());
            }
            let middle = self.text.len();
            map.next_value_seed(Text(&mut self.text))?;
            self.places.push([start, middle, self.text.len()]);
        }
    }
}

/// Appends a text.
struct Text<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<(), D::Error> {
        text.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
}

/// Sets of labels that were seen before. A fleet has few plans and providers, and many sites.
#[derive(Default, Debug)]
pub(crate) struct LabelSets {
    known: BTreeMap<Vec<u8>, SiteLabels>,
    /// The key of the current series; its memory is used again.
    key: Vec<u8>,
}

/// Sets that are remembered: with more, sites hardly share any.
const MAX_SETS: usize = 65_536;

impl LabelSets {
    /// The labels of a site with those of `pairs`, which replace others of the same name.
    pub(crate) fn union<'a>(
        &mut self,
        old: &SiteLabels,
        pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> SiteLabels {
        if pairs.clone().all(|(name, value)| old.get(name).is_some_and(|known| known == value)) {
            return Arc::clone(old);
        }
        let new = || pairs.clone().map(|(name, value)| (name.into(), value.into()));
        if !old.is_empty() {
            let mut all = BTreeMap::clone(old);
            all.extend(new());
            return Arc::new(all);
        }
        self.key.clear();
        for text in pairs.clone().flat_map(|(name, value)| [name, value]) {
            self.key.extend((text.len() as u64).to_le_bytes());
            self.key.extend(text.as_bytes());
        }
        if let Some(known) = self.known.get(&self.key) {
            return Arc::clone(known);
        }
        let labels: SiteLabels = Arc::new(new().collect());
        if self.known.len() < MAX_SETS {
            self.known.insert(self.key.clone(), Arc::clone(&labels));
        }
        labels
    }
}

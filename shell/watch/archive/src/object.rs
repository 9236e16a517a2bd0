//! Objects and their keys.
use crate::feed::Content;
use crate::hour::Hour;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::PathBuf;

/// Characters that are escaped in the value of a partition, as Hive does.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// What is stored under one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Object {
    /// The table of an hour.
    Table(Content, Hour),
    /// A result file.
    Result {
        /// Its name.
        name: String,
        /// Its date, which is a part of the key.
        date: String,
        /// The file.
        path: PathBuf,
    },
    /// The description of the site.
    Site(String),
}

impl Object {
    pub(crate) fn key(&self, site: &str) -> String {
        let site = encoded(site);
        match self {
            Object::Table(content, hour) => {
                let kind = match content {
                    Content::Samples => "samples",
                    Content::Windows => "windows",
                };
                format!("{kind}/site={site}/date={}/{:02}.parquet", hour.start().date(), hour.of_day())
            }
            Object::Result { name, date, .. } => format!("runs/site={site}/date={date}/{name}"),
            Object::Site(_) => format!("sites/site={site}/site.json"),
        }
    }
}

/// A site as the value of a partition.
pub(crate) fn encoded(site: &str) -> String {
    utf8_percent_encode(site, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_partitions_of_hive() {
        let hour = Hour::of("2026-01-05T09:30:00Z".parse().unwrap());
        let key = |object: Object, site| object.key(site);
        assert_eq!(
            key(Object::Table(Content::Samples, hour), "berlin-1"),
            "samples/site=berlin-1/date=2026-01-05/09.parquet"
        );
        assert_eq!(
            key(Object::Table(Content::Windows, hour), "../a b"),
            "windows/site=..%2Fa%20b/date=2026-01-05/09.parquet"
        );
        assert_eq!(key(Object::Site(String::new()), "x"), "sites/site=x/site.json");
        let result =
            Object::Result { name: "a.json".into(), date: "2026-01-05".into(), path: PathBuf::new() };
        assert_eq!(key(result, "x"), "runs/site=x/date=2026-01-05/a.json");
    }
}

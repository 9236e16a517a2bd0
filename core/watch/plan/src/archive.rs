//! The `[[archive]]` tables: object stores for single samples and results.
use crate::error::Fault;
use crate::section::Section;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_text::nearest;

const KINDS: [&str; 3] = ["folder", "s3", "gateway"];
/// The region of stores that have none.
const DEFAULT_REGION: &str = "us-east-1";

/// Where objects go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArchivePlace {
    /// A directory, which must exist.
    Folder(String),
    /// A bucket of a store with the API of S3.
    S3 {
        /// URL of the store.
        endpoint: String,
        /// The bucket.
        bucket: String,
        /// What the names of all objects begin with; may be empty.
        prefix: String,
        /// The region.
        region: String,
        /// File with the keys.
        credentials_file: String,
        /// PEM file with the certificate authorities of the store; `None` for the system's.
        ca_file: Option<String>,
    },
    /// The gateway at which the site is enrolled.
    Gateway,
}

/// A destination for single samples and results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Archive {
    /// Unique name, used in messages and in the name of the cursor file.
    pub name: String,
    /// Where objects go.
    pub place: ArchivePlace,
}

/// Parses all `[[archive]]` tables.
pub(crate) fn archives(root: &Section<'_>, has_site: bool) -> Result<Vec<Archive>, Fault> {
    let (mut all, mut names): (Vec<Archive>, BTreeSet<String>) = Default::default();
    for section in root.sections("archive")? {
        if !has_site {
            return Err(Fault::new(section.offset, "archive: needs a [site]".to_string()));
        }
        let archive = archive(&section)?;
        if !names.insert(archive.name.clone()) {
            let what = format!("name: duplicate archive name \"{}\"", archive.name);
            return Err(Fault::new(section.offset_of("name"), what));
        }
        all.push(archive);
    }
    Ok(all)
}

fn archive(section: &Section<'_>) -> Result<Archive, Fault> {
    let kind = section.text("kind")?.unwrap_or_default();
    let known: &[&str] = match kind {
        "folder" => &["name", "kind", "path"],
        "s3" => &["name", "kind", "endpoint", "bucket", "prefix", "region", "credentials_file", "ca_file"],
        "gateway" => &["name", "kind"],
        _ => {
            let guess =
                nearest(kind, &KINDS).map_or_else(String::new, |g| format!("; did you mean \"{g}\"?"));
            let what = format!("kind: unknown kind \"{kind}\" (known: {}{guess})", KINDS.join(", "));
            return Err(Fault::new(section.offset_of("kind"), what));
        }
    };
    section.only(known)?;
    let place = match kind {
        "folder" => ArchivePlace::Folder(required(section, "path")?),
        "gateway" => ArchivePlace::Gateway,
        _ => ArchivePlace::S3 {
            endpoint: required(section, "endpoint")?,
            bucket: required(section, "bucket")?,
            prefix: section.text("prefix")?.unwrap_or_default().to_string(),
            region: section.text("region")?.unwrap_or(DEFAULT_REGION).to_string(),
            credentials_file: required(section, "credentials_file")?,
            ca_file: section.text("ca_file")?.map(ToString::to_string),
        },
    };
    Ok(Archive { name: crate::push::name(section, kind.to_string())?, place })
}

fn required(section: &Section<'_>, key: &str) -> Result<String, Fault> {
    let text = section.text(key)?.filter(|text| !text.is_empty());
    text.map(ToString::to_string)
        .ok_or_else(|| Fault::new(section.offset_of(key), format!("{key} is missing")))
}

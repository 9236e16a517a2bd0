//! Keys of objects: which files an agent may write.
use crate::SiteName;
use core::fmt;

/// First segments.
const KINDS: [&str; 4] = ["samples", "windows", "runs", "sites"];
/// Maximum length of a key, and of a segment. File systems allow 255 bytes.
const MAX_KEY_BYTES: usize = 512;
const MAX_SEGMENT_BYTES: usize = 200;
/// Number of segments.
const MIN_SEGMENTS: usize = 3;
const MAX_SEGMENTS: usize = 10;

/// Why the key of an object is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKeyError {
    /// Its length, its number of segments, or a character.
    Form,
    /// It does not begin with a known kind and the own site.
    NotOwn,
}

impl fmt::Display for ObjectKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ObjectKeyError::Form => "invalid object key",
            ObjectKeyError::NotOwn => "invalid object key (expected another site or kind)",
        })
    }
}

impl core::error::Error for ObjectKeyError {}

/// Checks a key: `(samples|windows|runs|sites)/site=<own site>/...`. No segment is empty or begins
/// with a dot.
///
/// # Errors
/// Another form, or the key of another site.
pub fn check_object_key(key: &str, site: &SiteName) -> Result<(), ObjectKeyError> {
    let segments = key.split('/').count();
    let has_form = key.len() <= MAX_KEY_BYTES
        && (MIN_SEGMENTS..=MAX_SEGMENTS).contains(&segments)
        && key.split('/').all(is_segment);
    if !has_form {
        return Err(ObjectKeyError::Form);
    }
    let mut parts = key.split('/');
    let is_kind = parts.next().is_some_and(|kind| KINDS.contains(&kind));
    let is_own = parts.next().and_then(|part| part.strip_prefix("site=")) == Some(site.as_str());
    if is_kind && is_own { Ok(()) } else { Err(ObjectKeyError::NotOwn) }
}

fn is_segment(segment: &str) -> bool {
    let is_known = |b: u8| b.is_ascii_alphanumeric() || b"-_.=".contains(&b);
    (1..=MAX_SEGMENT_BYTES).contains(&segment.len())
        && !segment.starts_with('.')
        && segment.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn only_keys_of_the_own_site_are_accepted() {
        let site = SiteName::parse("berlin.1").unwrap();
        for good in [
            "samples/site=berlin.1/date=2026-01-01/part-0.parquet",
            "sites/site=berlin.1/site.json",
            "windows/site=berlin.1/a=b",
        ] {
            assert_eq!(check_object_key(good, &site), Ok(()), "{good}");
        }
        for bad in [
            "",
            "/",
            "samples",
            "samples/site=berlin.1",
            "samples/site=berlin.1/",
            "samples/site=berlin.1//a",
            "samples/site=berlin.1/..",
            "samples/site=berlin.1/../site=x/a",
            "samples/site=berlin.1/.a",
            "/samples/site=berlin.1/a",
            "samples/site=berlin.1/a%2fb",
            "samples/site=berlin.1/a\\b",
            "samples/site=berlin.1/a\0",
            "samples/site=berlin.1/ä",
            &format!("samples/site=berlin.1/{}", "x".repeat(201)),
            &format!("samples/site=berlin.1/{}", "x/".repeat(8) + "x"),
        ] {
            assert_eq!(check_object_key(bad, &site), Err(ObjectKeyError::Form), "{bad:?}");
        }
        for other in ["samples/site=berlin/a", "other/site=berlin.1/a", "samples/berlin.1/a", "a/b/c"] {
            assert_eq!(check_object_key(other, &site), Err(ObjectKeyError::NotOwn), "{other}");
        }
    }
}

//! Configuration of a networkQuality server (draft-ietf-ippm-responsiveness-09, section 6).
use crate::speed_test::{LARGE_PATH, SMALL_PATH, UPLOAD_PATH};
use alloc::format;
use alloc::string::{String, ToString};
use serde::Deserialize;

/// The only version.
const VERSION: u32 = 1;

/// URLs that a server announces at `/.well-known/nq`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announced {
    /// An object of one byte.
    pub small: String,
    /// An object of gigabytes.
    pub large: String,
    /// Where uploads of any size go.
    pub upload: String,
    /// Host to connect to instead of that of the URLs.
    pub endpoint: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    version: u32,
    urls: Urls,
    test_endpoint: Option<String>,
}

/// Servers use the names of the draft, those of earlier clients, or both.
#[derive(Deserialize)]
struct Urls {
    small_download_url: Option<String>,
    large_download_url: Option<String>,
    upload_url: Option<String>,
    small_https_download_url: Option<String>,
    large_https_download_url: Option<String>,
    https_upload_url: Option<String>,
}

/// Parses a configuration.
///
/// # Errors
/// What is wrong or missing.
pub fn parse(bytes: &[u8]) -> Result<Announced, String> {
    if bytes.trim_ascii_start().starts_with(b"<") {
        return Err("a web page".to_string());
    }
    let Document { version, urls, test_endpoint } =
        serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if version != VERSION {
        return Err(format!("version {version} (expected {VERSION})"));
    }
    let missing = |name: &str| format!("no {name}");
    Ok(Announced {
        small: urls
            .small_download_url
            .or(urls.small_https_download_url)
            .ok_or_else(|| missing("small_download_url"))?,
        large: urls
            .large_download_url
            .or(urls.large_https_download_url)
            .ok_or_else(|| missing("large_download_url"))?,
        upload: urls.upload_url.or(urls.https_upload_url).ok_or_else(|| missing("upload_url"))?,
        endpoint: test_endpoint,
    })
}

/// The configuration of a server whose URLs start with `base`, with the names of the draft and of
/// earlier clients.
#[must_use]
pub fn configuration(base: &str) -> String {
    let [small, large, upload] = [SMALL_PATH, LARGE_PATH, UPLOAD_PATH].map(|path| format!("{base}{path}"));
    serde_json::json!({
        "version": VERSION,
        "urls": {
            "small_download_url": small, "large_download_url": large, "upload_url": upload,
            "small_https_download_url": small, "large_https_download_url": large, "https_upload_url": upload,
        },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    #[test]
    fn the_names_of_the_draft_and_of_earlier_clients_are_known() {
        let draft = r#"{"version":1,"urls":{"small_download_url":"s","large_download_url":"l","upload_url":"u","new":1},"test_endpoint":"e","x":0}"#;
        let [small, large, upload] = ["s", "l", "u"].map(str::to_owned);
        let announced = Announced { small, large, upload, endpoint: Some("e".into()) };
        assert_eq!(parse(draft.as_bytes()), Ok(announced.clone()));
        let earlier = r#"{"version":1,"urls":{"small_https_download_url":"s","large_https_download_url":"l","https_upload_url":"u"}}"#;
        assert_eq!(parse(earlier.as_bytes()), Ok(Announced { endpoint: None, ..announced }));
        assert_eq!(parse(br#"{"version":2,"urls":{}}"#), Err("version 2 (expected 1)".to_owned()));
        assert_eq!(parse(br#"{"version":1,"urls":{}}"#), Err("no small_download_url".to_owned()));
        let of_ours = parse(configuration("https://192.0.2.1:8443").as_bytes()).unwrap();
        assert_eq!((of_ours.small.as_str(), of_ours.endpoint), ("https://192.0.2.1:8443/nq/small", None));
        assert_eq!(parse(b"\n<!doctype html>"), Err("a web page".to_owned()));
    }
}

//! Judgment of runs, which another crate makes.
use crate::TestId;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use fathom_run::Run;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// What a run shows.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Judged {
    /// The few numbers that a page shows, as JSON.
    pub brief: String,
    /// As JSON, for programs: `docs/schema/result.schema.json`.
    pub json: String,
    /// As an HTML page.
    pub page: String,
    /// The verdict in a sentence.
    pub headline: String,
    /// A picture of the verdict for links to the page: PNG.
    pub preview: Vec<u8>,
}

/// What is known of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is not over.
    Running,
    /// It has a result.
    Over(Box<Judged>),
}

impl Judged {
    /// The page with what programs show of a link to it (Open Graph). `url` is its address.
    #[must_use]
    pub fn page_at(&self, url: &str) -> String {
        let headline = self.headline.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let meta = |name: &str, content: &str| format!("<meta property=\"{name}\" content=\"{content}\">");
        let head = [
            ("og:title", "Lag when busy"),
            ("og:description", headline.as_str()),
            ("og:url", url),
            ("og:image", &format!("{url}.png")),
            ("twitter:card", "summary_large_image"),
        ];
        let head: String = head.into_iter().map(|(name, content)| meta(name, content)).collect();
        self.page.replacen("<title>", &format!("{head}<title>"), 1)
    }
    /// What the page may load and run: its own styles and pictures, and the scripts that it has.
    #[must_use]
    pub fn policy(&self) -> String {
        let scripts = self.page.split("<script>").skip(1).filter_map(|rest| rest.split_once("</script>"));
        let scripts = hashes(scripts.map(|(script, _)| script));
        let scripts = if scripts.is_empty() { "'none'" } else { &scripts };
        format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}; img-src data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
    }
}

/// What the pages of `ui/src/site` may load and run: files of this server, WebAssembly, and reports
/// with these `scripts` in a frame, which the page makes itself.
#[must_use]
pub(crate) fn site_policy(scripts: &[&str]) -> String {
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; worker-src blob:; frame-src blob:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self'",
        hashes(scripts.iter().copied())
    )
}

/// Sources that allow these scripts.
fn hashes<'a>(scripts: impl Iterator<Item = &'a str>) -> String {
    let hash = |script: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)));
    scripts.map(hash).collect::<Vec<_>>().join(" ")
}

/// Judges runs, and keeps those whose users agree.
pub trait Judge: Send + Sync {
    /// What this run shows.
    fn judge(&self, run: &Run) -> Judged;
    /// The scripts of reports that the pages of `ui/src/site` make.
    fn scripts(&self) -> &[&str] {
        &[]
    }
    /// Whether runs are kept for longer than a day.
    fn keeps(&self) -> bool {
        false
    }
    /// The run of a test that was kept, perhaps by an earlier server.
    fn kept(&self, _id: TestId) -> Option<Run> {
        None
    }
    /// Keeps the run of a test. Called only if its user agrees.
    fn keep(&self, _id: TestId, _run: &Run) {}
}

impl fmt::Debug for dyn Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_scripts_of_a_page_may_run() {
        let of = |page: &str| Judged { page: page.to_owned(), ..Judged::default() }.policy();
        // `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`
        let known = "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=';";
        assert!(of("<script>alert(1)</script>").contains(known));
        assert!(of("<p>none</p>").contains("script-src 'none';"));
    }

    #[test]
    fn a_headline_is_no_html() {
        let page = "<head><title>x</title></head>".to_owned();
        let judged = Judged { page, headline: "\"<b>&".to_owned(), ..Judged::default() };
        let shared = judged.page_at("http://192.0.2.1:3279/result/ab");
        assert!(shared.contains("content=\"&quot;&lt;b>&amp;\"><meta"), "{shared}");
        assert!(shared.contains("\"og:image\" content=\"http://192.0.2.1:3279/result/ab.png\""), "{shared}");
    }
}

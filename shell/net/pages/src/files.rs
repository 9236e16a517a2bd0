//! The files of the page.
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::sync::OnceLock;

/// A file, as it is served.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Media type.
    pub kind: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
    /// The same, compressed with gzip.
    pub gzipped: &'static [u8],
}

struct Source {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    gzipped: OnceLock<Vec<u8>>,
}

const fn source(path: &'static str, kind: &'static str, bytes: &'static [u8]) -> Source {
    Source { path, kind, bytes, gzipped: OnceLock::new() }
}

/// Prefix of the pages that analyze captures and simulate lines.
pub const SITE: &str = "/site/";
/// Whether this build has them.
pub const HAS_SITE: bool = cfg!(feature = "engine");

#[cfg(feature = "engine")]
static SITE_FILES: [Source; 7] = [
    // Links of its pages to the start of the site.
    source("/site/", HTML, include_bytes!("../../../../ui/src/speed/index.html")),
    source("/site/trace.html", HTML, include_bytes!("../../../../ui/src/site/trace.html")),
    source("/site/sim.html", HTML, include_bytes!("../../../../ui/src/site/sim.html")),
    source("/site/trace.js", SCRIPT, include_bytes!("../../../../ui/dist/site-trace.js")),
    source("/site/sim.js", SCRIPT, include_bytes!("../../../../ui/dist/site-sim.js")),
    source("/site/site.css", STYLE, include_bytes!("../../../../ui/dist/site.css")),
    // `packaging/engine` builds it.
    source("/site/engine.js", SCRIPT, include_bytes!(env!("FATHOM_ENGINE"))),
];
#[cfg(not(feature = "engine"))]
static SITE_FILES: [Source; 0] = [];

static FILES: [Source; 6] = [
    source("/", HTML, include_bytes!("../../../../ui/src/speed/index.html")),
    source("/page/speed.js", SCRIPT, include_bytes!("../../../../ui/dist/speed.js")),
    source("/page/load.js", SCRIPT, include_bytes!("../../../../ui/dist/speed-load.js")),
    source("/page/probe.js", SCRIPT, include_bytes!("../../../../ui/dist/speed-probe.js")),
    source("/page/speed.css", STYLE, include_bytes!("../../../../ui/dist/speed.css")),
    source("/page/icon.svg", "image/svg+xml", include_bytes!("../../../../ui/src/speed/icon.svg")),
];
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript";
const STYLE: &str = "text/css";

/// The file at a path.
#[must_use]
pub fn file(path: &str) -> Option<File> {
    let source = FILES.iter().chain(&SITE_FILES).find(|source| source.path == path)?;
    let gzipped = source.gzipped.get_or_init(|| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        // Writing to memory does not fail.
        let _ = packer.write_all(source.bytes);
        packer.finish().unwrap_or_default()
    });
    Some(File { kind: source.kind, bytes: source.bytes, gzipped })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small() {
        let sizes: Vec<usize> = FILES.iter().filter_map(|f| file(f.path)).map(|f| f.gzipped.len()).collect();
        assert!(sizes.iter().all(|size| *size > 0));
        // Of 150 kB that a page may have.
        assert!(sizes.iter().sum::<usize>() < 60_000, "{sizes:?}");
    }
}

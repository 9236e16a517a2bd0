//! The files of the page.
use flate2::Compression;
use flate2::write::{GzDecoder, GzEncoder};
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
    included: Included,
    /// The other form, when it is first needed.
    other: OnceLock<Vec<u8>>,
}

/// How this program includes a file.
enum Included {
    Plain(&'static [u8]),
    #[cfg_attr(not(feature = "engine"), expect(dead_code, reason = "the only such file is the engine"))]
    Gzipped(&'static [u8]),
}

const fn source(path: &'static str, kind: &'static str, bytes: &'static [u8]) -> Source {
    Source { path, kind, included: Included::Plain(bytes), other: OnceLock::new() }
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
    Source {
        path: "/site/engine.js",
        kind: SCRIPT,
        // `packaging/engine` builds it.
        included: Included::Gzipped(include_bytes!(env!("FATHOM_ENGINE"))),
        other: OnceLock::new(),
    },
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
    let (bytes, gzipped) = match source.included {
        Included::Plain(bytes) => (bytes, source.other.get_or_init(|| gzip(bytes)).as_slice()),
        Included::Gzipped(gzipped) => (source.other.get_or_init(|| gunzip(gzipped)).as_slice(), gzipped),
    };
    Some(File { kind: source.kind, bytes, gzipped })
}

// Writing to memory does not fail.

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

fn gunzip(gzipped: &[u8]) -> Vec<u8> {
    let mut unpacker = GzDecoder::new(Vec::new());
    let _ = unpacker.write_all(gzipped);
    unpacker.finish().unwrap_or_default()
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

    #[test]
    fn both_forms_of_each_file_are_the_same() {
        for source in FILES.iter().chain(&SITE_FILES) {
            let file = file(source.path).unwrap();
            assert_eq!(gunzip(file.gzipped), file.bytes, "{}", source.path);
        }
    }
}

//! The page itself. Its script and style are made from `ui/` by `npm run build`, and committed so that building this needs no Node.
use crate::reply::{Age, Reply, Whole};
use hyper::HeaderMap;

struct Asset {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    /// Seen by those who have not given the password yet.
    open: bool,
}

const HTML: &str = "text/html; charset=utf-8";

const ASSETS: [Asset; 6] = [
    Asset { path: "/", content_type: HTML, bytes: include_bytes!("page/index.html"), open: false },
    Asset { path: "/login", content_type: HTML, bytes: include_bytes!("page/login.html"), open: true },
    Asset {
        path: "/watch.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../../ui/dist/watch.js"),
        open: true,
    },
    Asset {
        path: "/watch.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../../../ui/dist/watch.css"),
        open: true,
    },
    Asset {
        path: "/icon.svg",
        content_type: "image/svg+xml",
        bytes: include_bytes!("page/icon.svg"),
        open: true,
    },
    Asset {
        path: "/api/v1/openapi.json",
        content_type: "application/json",
        bytes: include_bytes!("../../../docs/openapi.json"),
        open: true,
    },
];

/// The asset of a path, as an answer; or nothing.
pub(crate) fn find(path: &str, request: &HeaderMap, open_only: bool) -> Option<Reply> {
    let asset = ASSETS.iter().find(|asset| asset.path == path && (asset.open || !open_only))?;
    let whole = Whole { content_type: asset.content_type, bytes: asset.bytes.to_vec(), age: Age::Changing };
    Some(whole.reply(request))
}

//! The page itself. Its script and style are made from `ui/` by `npm run build`, and committed so
//! that building this needs no Node.
use crate::reply::{Age, Reply, Whole};
use hyper::HeaderMap;

struct Asset {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const PAGE: &str = include_str!("page/index.html");
/// The button that ends the session, as the page has it, and as those see it who had to log in.
const HIDDEN_WAY_OUT: &str = "id=\"logout\" hidden";
const WAY_OUT: &str = "id=\"logout\"";
/// Where the head of the page ends.
const HEAD_END: &str = "</head>";

/// What anyone may see.
const ASSETS: [Asset; 5] = [
    Asset { path: "/login", content_type: HTML, bytes: include_bytes!("page/login.html") },
    Asset {
        path: "/watch.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../../../ui/dist/watch.js"),
    },
    Asset {
        path: "/watch.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../../../../ui/dist/watch.css"),
    },
    Asset { path: "/icon.svg", content_type: "image/svg+xml", bytes: include_bytes!("page/icon.svg") },
    Asset {
        path: "/api/v1/openapi.json",
        content_type: "application/json",
        bytes: include_bytes!("../../../../docs/openapi.json"),
    },
];

/// The asset of a path that anyone may see, as an answer; or nothing.
pub(crate) fn open(path: &str, request: &HeaderMap) -> Option<Reply> {
    let asset = ASSETS.iter().find(|asset| asset.path == path)?;
    Some(reply(asset.content_type, asset.bytes.to_vec(), request))
}

/// The page, with what stands in its head besides.
pub(crate) fn page(asks_password: bool, head: &str, request: &HeaderMap) -> Reply {
    let text = PAGE.replacen(HEAD_END, &format!("{head}\n{HEAD_END}"), 1);
    let text = if asks_password { text.replacen(HIDDEN_WAY_OUT, WAY_OUT, 1) } else { text };
    reply(HTML, text.into_bytes(), request)
}

fn reply(content_type: &'static str, bytes: Vec<u8>, request: &HeaderMap) -> Reply {
    Whole { content_type, bytes, age: Age::Changing }.reply(request)
}

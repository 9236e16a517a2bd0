//! The page. Its script and style are built from `ui/` with `npm run build` and committed, so that
//! this crate builds without Node.
use crate::reply::{Age, Reply, Whole};
use hyper::HeaderMap;

struct Asset {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const PAGE: &str = include_str!("page/index.html");
/// The logout button in the page, which is shown only to users who had to log in.
const HIDDEN_WAY_OUT: &str = "id=\"logout\" hidden";
const WAY_OUT: &str = "id=\"logout\"";
/// The end of the page's head.
const HEAD_END: &str = "</head>";

/// Files that need no login.
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

/// The file at a path that needs no login, as a response; `None` if there is none.
pub(crate) fn open(path: &str, request: &HeaderMap) -> Option<Reply> {
    let asset = ASSETS.iter().find(|asset| asset.path == path)?;
    Some(reply(asset.content_type, asset.bytes.to_vec(), request))
}

/// The page, with `head` added to its head.
pub(crate) fn page(asks_password: bool, head: &str, request: &HeaderMap) -> Reply {
    let text = PAGE.replacen(HEAD_END, &format!("{head}\n{HEAD_END}"), 1);
    let text = if asks_password { text.replacen(HIDDEN_WAY_OUT, WAY_OUT, 1) } else { text };
    reply(HTML, text.into_bytes(), request)
}

fn reply(content_type: &'static str, bytes: Vec<u8>, request: &HeaderMap) -> Reply {
    Whole { content_type, bytes, age: Age::Changing }.reply(request)
}

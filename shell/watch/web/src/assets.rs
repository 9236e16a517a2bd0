//! The page and its files. Its script and style are built from `ui/` with `npm run build` and
//! committed, so that this crate builds without Node.
use fathom_web::Asset;

/// The page.
pub(crate) const PAGE: &str = include_str!("page/index.html");

/// Files that need no login.
pub(crate) const ASSETS: &[Asset] = &[
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
    Asset {
        path: "/api/v1/openapi.json",
        content_type: "application/json",
        bytes: include_bytes!("../../../../docs/openapi.json"),
    },
];

//! The page. Its script and style are built from `ui/` with `npm run build` and committed, so that
//! this crate builds without Node.
use fathom_web::Asset;

/// The page itself.
pub(crate) const PAGE: &str = include_str!("page/index.html");

/// Files that need no login.
pub(crate) const ASSETS: &[Asset] = &[
    Asset {
        path: "/fleet.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../../../ui/dist/fleet.js"),
    },
    Asset {
        path: "/fleet.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../../../../ui/dist/fleet.css"),
    },
];

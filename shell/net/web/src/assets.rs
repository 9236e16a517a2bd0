//! Files that need no login, and the page itself.
use crate::reply::{Age, Reply, Whole};
use crate::routes::About;
use hyper::HeaderMap;

/// A file that needs no login.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its path on the server, such as `/watch.js`.
    pub path: &'static str,
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
/// The login page, with `{names}` of the fields of [`About`].
const LOGIN: &str = include_str!("login.html");
const ICON: &[u8] = include_bytes!("icon.svg");
/// The logout button in a page, which is shown only to users who had to log in.
const HIDDEN_WAY_OUT: &str = "id=\"logout\" hidden";
const WAY_OUT: &str = "id=\"logout\"";
/// The end of a page's head.
const HEAD_END: &str = "</head>";

/// The file at a path that needs no login, as a response; `None` if there is none.
pub(crate) fn open(about: &About, path: &str, request: &HeaderMap) -> Option<Reply> {
    match path {
        "/login" => Some(reply(HTML, login(about).into_bytes(), request)),
        "/icon.svg" => Some(reply("image/svg+xml", ICON.to_vec(), request)),
        _ => {
            let asset = about.assets.iter().find(|asset| asset.path == path)?;
            Some(reply(asset.content_type, asset.bytes.to_vec(), request))
        }
    }
}

/// A page of HTML, with `head` added to its head. The element `id="logout" hidden` is shown if
/// clients need a password.
pub fn page(html: &str, head: &str, asks_password: bool, request: &HeaderMap) -> Reply {
    let text = html.replacen(HEAD_END, &format!("{head}\n{HEAD_END}"), 1);
    let text = if asks_password { text.replacen(HIDDEN_WAY_OUT, WAY_OUT, 1) } else { text };
    reply(HTML, text.into_bytes(), request)
}

fn login(about: &About) -> String {
    let About { name, command, style, .. } = about;
    LOGIN.replace("{name}", name).replace("{command}", command).replace("{style}", style)
}

fn reply(content_type: &'static str, bytes: Vec<u8>, request: &HeaderMap) -> Reply {
    Whole { content_type, bytes, age: Age::Changing }.reply(request)
}

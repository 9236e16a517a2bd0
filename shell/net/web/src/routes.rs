//! How a page describes itself to the server.
use crate::assets::Asset;
use crate::reply::{Refusal, Reply};
use hyper::http::request::Parts;
use std::sync::Arc;

/// A page and its API.
pub trait Routes: Send + Sync + 'static {
    /// Its name and its files.
    const ABOUT: About;

    /// Which share of a client's connections the response to a path takes.
    fn share(&self, _path: &str) -> Share {
        Share::Query
    }

    /// Responds to a GET of a client that has access. `asks_password` is true if clients need a
    /// password, so that the page offers to log out. The future ends early if the client
    /// disconnects.
    fn get(
        self: &Arc<Self>,
        request: &Parts,
        asks_password: bool,
    ) -> impl Future<Output = Result<Reply, Refusal>> + Send;

    /// Starts tasks that run in addition to the requests, with `tokio::spawn`. They end with the
    /// server.
    fn start(self: &Arc<Self>) {}
}

/// The name of a page, its files, and its threads.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name, one word of lower-case letters. It follows "Fathom" on the login page, and is part
    /// of the name of its cookie.
    pub name: &'static str,
    /// The command that serves it, such as `fathom watch`: it printed where the password is.
    pub command: &'static str,
    /// Path of the style sheet, one of `assets`, which the login page uses too.
    pub style: &'static str,
    /// Files that need no login.
    pub assets: &'static [Asset],
    /// Maximum number of threads that read what the page shows.
    pub threads: usize,
}

/// A share of the connections: of those of one client, and of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// None: the response is always sent, for example to a monitor.
    Free,
    /// That of queries, until the response is complete.
    Query,
    /// That of streams, which last until the client disconnects.
    Stream,
}

//! Tests of the server with a page of one file, over real sockets. Attacks are tested with the page
//! of a watch (`shell/watch/web/tests/system`).
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use fathom_web::{
    About, Asset, Refusal, Reply, Routes, Server, Share, WebConfig, WebError, page, pieces, serve,
};
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

const PATIENCE: Duration = Duration::from_secs(20);

/// A page whose queries wait until the test releases them.
#[derive(Default)]
struct Lake {
    waiting: AtomicUsize,
    go: Notify,
    started: Arc<Notify>,
}

impl Routes for Lake {
    const ABOUT: About = About {
        name: "lake",
        command: "fathom lake",
        style: "/lake.css",
        assets: &[Asset { path: "/lake.css", content_type: "text/css", bytes: b"b{color:red}" }],
        threads: 1,
    };

    fn share(&self, path: &str) -> Share {
        match path {
            "/free" => Share::Free,
            "/stream" => Share::Stream,
            _ => Share::Query,
        }
    }

    async fn get(self: &Arc<Self>, request: &Parts, asks_password: bool) -> Result<Reply, Refusal> {
        let html = "<html><head></head><body><form id=\"logout\" hidden></form></body></html>";
        match request.uri.path() {
            "/" => Ok(page(html, "<meta name=\"a\">", asks_password, &request.headers)),
            "/free" => Ok(page("free", "", false, &request.headers)),
            "/slow" => {
                self.waiting.fetch_add(1, SeqCst);
                self.go.notified().await;
                Ok(page("slow", "", false, &request.headers))
            }
            "/stream" => {
                let (sender, receiver) = mpsc::channel(1);
                let started = Arc::clone(&self.started);
                tokio::spawn(async move {
                    started.notified().await;
                    // A client that disconnected needs no end.
                    let _ = sender.send(Bytes::from_static(b"started")).await;
                });
                Ok(pieces("text/plain", receiver))
            }
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, "there is no such place")),
        }
    }

    fn start(self: &Arc<Self>) {
        let started = Arc::clone(&self.started);
        tokio::spawn(async move { started.notify_one() });
    }
}

fn local(secret_file: Option<PathBuf>) -> WebConfig {
    WebConfig { secret_file, ..WebConfig::default() }
}

/// Sends a request and returns the whole response.
fn send(server: &Server, request: &str) -> String {
    let mut stream = begin(server, request);
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn begin(server: &Server, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "{request}").unwrap();
    stream
}

fn get(server: &Server, path: &str, headers: &str) -> String {
    send(server, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"))
}

fn status(response: &str) -> u16 {
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_page_is_behind_its_login() {
    let folder = tempfile::tempdir().unwrap();
    let config = local(Some(folder.path().join("password")));
    let server = serve(&config, Arc::new(Lake::default())).unwrap();
    let login = get(&server, "/login", "");
    for part in [
        "<title>Log in – Fathom lake</title>",
        "<link rel=\"stylesheet\" href=\"/lake.css\">",
        "<b>Fathom</b> lake",
        "<code>fathom lake</code>",
    ] {
        assert!(login.contains(part), "{part} in {login}");
    }
    assert!(!login.contains('{'), "{login}");
    assert!(get(&server, "/lake.css", "").ends_with("b{color:red}"));
    assert_eq!(status(&get(&server, "/icon.svg", "")), 200);

    assert!(get(&server, "/", "").contains("location: /login\r\n"));
    let refused = get(&server, "/free", "");
    assert!(refused.contains("www-authenticate: Bearer realm=\"fathom lake\"\r\n"), "{refused}");

    let form = format!("password={}", server.new_password.clone().unwrap());
    let head = format!(
        "POST /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        form.len()
    );
    let inside = send(&server, &format!("{head}{form}"));
    let cookie = inside.split_once("set-cookie: ").unwrap().1.split(';').next().unwrap();
    assert!(cookie.starts_with("fathom_lake="), "{cookie}");
    // The cookie of another page of this host does not matter.
    let home = get(&server, "/", &format!("Cookie: fathom_watch=0; {cookie}\r\n"));
    assert!(home.contains("<meta name=\"a\">\n</head>") && home.contains("<form id=\"logout\">"), "{home}");
    assert_eq!(status(&get(&server, "/", &format!("Cookie: fathom_watch={}\r\n", &cookie[12..]))), 303);
}

#[test]
fn free_paths_are_answered_when_a_client_has_its_share_of_queries() {
    let routes = Arc::new(Lake::default());
    let server = serve(&local(None), Arc::clone(&routes)).unwrap();
    let slow = "GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let mut all: Vec<TcpStream> = (0..16).map(|_| begin(&server, slow)).collect();
    while routes.waiting.load(SeqCst) < 16 {
        std::thread::yield_now();
    }
    assert_eq!(status(&get(&server, "/slow", "")), 429);
    assert_eq!(status(&get(&server, "/free", "")), 200);
    routes.go.notify_waiters();
    for stream in &mut all {
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert_eq!(status(&response), 200);
    }
    assert_eq!(status(&get(&server, "/nothing", "")), 404);
    assert!(get(&server, "/", "").contains("<form id=\"logout\" hidden>"));
}

#[test]
fn tasks_run_besides_the_requests() {
    let server = serve(&local(None), Arc::new(Lake::default())).unwrap();
    assert!(get(&server, "/stream", "").contains("started"));
}

#[test]
fn others_need_a_password() {
    let everywhere = WebConfig { listen: "0.0.0.0:0".parse().unwrap(), ..WebConfig::default() };
    let refused = serve(&everywhere, Arc::new(Lake::default()));
    assert!(matches!(refused, Err(WebError::NoSecret { .. })));
}

//! Serves the status over HTTP: one short connection at a time.
use super::render::{metrics, page};
use super::status::Status;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{http_response, parse_request};
use fathom_units::Duration;
use fathom_watch_metrics::OPENMETRICS_TYPE;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// Interval of checks for the end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Timeout per client, because others are waiting.
const CLIENT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(1);
/// Longer requests are refused.
const MOST_REQUEST_BYTES: usize = 8192;

/// The status server.
pub(super) struct StatusServer {
    status: Arc<Mutex<Option<Status>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StatusServer {
    pub(super) fn open(address: SocketAddr) -> io::Result<StatusServer> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let (status, stop) = (Arc::default(), Arc::default());
        let (shown, is_over) = (Arc::clone(&status), Arc::clone(&stop));
        let thread = std::thread::spawn(move || serve(&listener, &shown, &is_over));
        Ok(StatusServer { status, stop, thread: Some(thread) })
    }
    pub(super) fn show(&self, status: &Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status.clone());
    }
}

impl Drop for StatusServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn serve(listener: &TcpListener, shown: &Mutex<Option<Status>>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        // A failed wait is retried in the next round.
        let _ = poll::wait(&mut [PollFd::readable(listener.as_fd())], Some(POLL_INTERVAL));
        let Ok((client, _)) = listener.accept() else { continue };
        let status = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Errors concern only the client that disconnected.
        let _ = serve_client(client, status.as_ref());
    }
}

fn serve_client(mut client: TcpStream, status: Option<&Status>) -> io::Result<()> {
    let (begun, mut request) = (Instant::now(), Vec::new());
    client.set_nonblocking(false)?;
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    while begun.elapsed() < CLIENT_TIMEOUT && request.len() < MOST_REQUEST_BYTES {
        client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
        let mut buffer = [0; 1024];
        let length = client.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..length]);
        match parse_request(&request) {
            Ok(None) => {}
            Ok(Some((head, _))) => return client.write_all(&answer(head.path, status)),
            Err(error) => {
                let words = format!("{error}\n");
                return client.write_all(&http_response(error.status(), "text/plain", words.as_bytes()));
            }
        }
    }
    Ok(())
}

fn answer(path: &str, status: Option<&Status>) -> Vec<u8> {
    match (path.split('?').next(), status) {
        (Some("/metrics"), Some(status)) => http_response(200, OPENMETRICS_TYPE, metrics(status).as_bytes()),
        (Some("/"), Some(status)) => http_response(200, "text/html; charset=utf-8", page(status).as_bytes()),
        (Some("/metrics" | "/"), None) => {
            http_response(200, "text/plain", b"just started; try again in a second\n")
        }
        _ => http_response(404, "text/plain", b"only / and /metrics exist\n"),
    }
}

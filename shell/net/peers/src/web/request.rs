//! Requests with TLS, without I/O: one on a new connection by HTTP/1.1 or HTTP/2, or many on one by
//! HTTP/2.
use super::multiplexed::{ALPN, Sender, connect, reason, receive};
use crate::tls::{Tls, TlsProbe};
use fathom_client::{Encrypted, Exchange, ExchangeStage, Requests, StartExchange, StartRequests};
use fathom_probe::protocol::AGENT;
use h2::client::Builder;
use http::header::USER_AGENT;
use http::{Request, Uri};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};

/// Size of the pipe to the state machine of HTTP/2, which reads all that it is given: more than a
/// record of TLS (RFC 8446, section 5.1) and what is received at once.
const PIPE_BYTES: usize = 64 * 1024;
const ENDED: &str = "the connection ended";

/// A connection with TLS, then what `request` starts on it, if there is a request.
pub(super) fn over_tls(tls: Tls, request: Option<StartExchange>) -> StartExchange {
    Arc::new(move || {
        let request = request.as_ref().map(|start| start()).transpose()?;
        Ok(Box::new(OverTls { tls: TlsProbe(tls.start()?), request }))
    })
}

struct OverTls {
    tls: TlsProbe,
    request: Option<Box<dyn Exchange>>,
}

impl Exchange for OverTls {
    fn advance(&mut self, received: Option<&[u8]>) -> Result<ExchangeStage, String> {
        let content = self.tls.receive(received.unwrap_or_default())?;
        if !self.tls.is_ready() {
            return Ok(ExchangeStage::Handshake);
        }
        let Some(request) = &mut self.request else { return Ok(ExchangeStage::Answered) };
        let stage = request.advance(Some(&content))?;
        while let Some(bytes) = request.take_output() {
            self.tls.encrypt(&bytes)?;
        }
        Ok(stage)
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        Some(self.tls.take_output()).filter(|bytes| !bytes.is_empty())
    }
}

/// A request by HTTP/2.
pub(super) fn http2(uri: Uri) -> StartExchange {
    Arc::new(move || {
        let (pipe, end) = duplex(PIPE_BYTES);
        let exchange = Box::pin(get(end, uri.clone()));
        Ok(Box::new(Http2 { pipe, exchange, woken: Arc::default() }))
    })
}

struct Http2 {
    pipe: DuplexStream,
    exchange: Pin<Box<dyn Future<Output = Result<(), String>> + Send>>,
    woken: Arc<Woken>,
}

/// Whether a part of an exchange can go on.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// The window is not renewed: a probe takes at most its initial 65,535 bytes (RFC 9113, section
/// 6.9.2).
async fn get(stream: DuplexStream, uri: Uri) -> Result<(), String> {
    let (mut sender, connection) = connect(&mut Builder::new(), stream).await?;
    let response = async {
        let mut body = receive(&mut sender, &uri).await?;
        while let Some(data) = body.data().await {
            data.map_err(reason)?;
        }
        Ok(())
    };
    tokio::select! {
        done = response => done,
        ended = connection => Err(ended.map_or_else(reason, |()| reason(ENDED))),
    }
}

impl Exchange for Http2 {
    fn advance(&mut self, received: Option<&[u8]>) -> Result<ExchangeStage, String> {
        push(&mut self.pipe, received.unwrap_or_default())?;
        let done = poll_while_woken(&self.woken, |context| self.exchange.as_mut().poll(context));
        match done {
            Poll::Ready(outcome) => outcome.map(|()| ExchangeStage::Answered),
            Poll::Pending => Ok(ExchangeStage::Response),
        }
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        pull(&mut self.pipe)
    }
}

/// Hands received bytes to the state machine at the other end of a pipe.
fn push(pipe: &mut DuplexStream, bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Ok(());
    }
    match Pin::new(pipe).poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
        Poll::Ready(Ok(written)) if written == bytes.len() => Ok(()),
        _ => Err(reason(ENDED)),
    }
}

/// What the state machine at the other end of a pipe sends.
fn pull(pipe: &mut DuplexStream) -> Option<Vec<u8>> {
    let mut bytes = [0; 4096];
    let mut buffer = ReadBuf::new(&mut bytes);
    let _ = Pin::new(pipe).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer);
    (!buffer.filled().is_empty()).then(|| buffer.filled().to_vec())
}

/// Polls until the result is ready, or nothing can go on.
fn poll_while_woken<T>(woken: &Arc<Woken>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    let waker = Waker::from(Arc::clone(woken));
    let mut context = Context::from_waker(&waker);
    loop {
        woken.0.store(false, Relaxed);
        let polled = poll(&mut context);
        if polled.is_ready() || !woken.0.load(Relaxed) {
            return polled;
        }
    }
}

/// HEAD requests of `uri` by HTTP/2 on one connection with TLS.
pub(crate) fn requests(tls: &Tls, uri: Uri) -> StartRequests {
    let tls = tls.with_protocol(ALPN);
    Arc::new(move || {
        let (pipe, end) = duplex(PIPE_BYTES);
        let open = Arc::new(OnceLock::new());
        let sender = Arc::clone(&open);
        let connection = Box::pin(async move {
            let (own, connection) = connect(&mut Builder::new(), end).await?;
            drop(sender.set(own));
            connection.await.map_or_else(|error| Err(reason(error)), |()| Err(reason(ENDED)))
        });
        let (tls, waiting, woken) = (TlsProbe(tls.start()?), Vec::new(), Arc::default());
        Ok(Box::new(Heads { tls, pipe, connection, open, uri: uri.clone(), waiting, woken }))
    })
}

/// A response that is waited for.
type Response = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// HEAD requests on one connection; a response of any status is one.
struct Heads {
    tls: TlsProbe,
    pipe: DuplexStream,
    connection: Response,
    /// Sends requests, once HTTP/2 is open.
    open: Arc<OnceLock<Sender>>,
    uri: Uri,
    waiting: Vec<(u32, Response)>,
    woken: Arc<Woken>,
}

async fn head(mut sender: Sender, uri: Uri) -> Result<(), String> {
    poll_fn(|context| sender.poll_ready(context)).await.map_err(reason)?;
    let request = Request::head(uri).header(USER_AGENT, AGENT).body(()).map_err(reason)?;
    let (response, _) = sender.send_request(request, true).map_err(reason)?;
    response.await.map(drop).map_err(reason)
}

impl Heads {
    /// Goes on as far as possible without more bytes. Returns the numbers of answered requests.
    fn go_on(&mut self) -> Result<Vec<u32>, String> {
        let (connection, waiting) = (&mut self.connection, &mut self.waiting);
        let mut answered = Vec::new();
        let ended = poll_while_woken(&self.woken, |context| {
            waiting.retain_mut(|(number, response)| match response.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(outcome) => {
                    // A failure is that of the connection, or the server refused one request.
                    answered.extend(outcome.is_ok().then_some(*number));
                    false
                }
            });
            connection.as_mut().poll(context)
        });
        match ended {
            Poll::Ready(outcome) => outcome.map(|()| answered),
            Poll::Pending => Ok(answered),
        }
    }
}

impl Requests for Heads {
    fn is_ready(&self) -> bool {
        self.open.get().is_some()
    }
    fn request(&mut self, number: u32) -> Result<(), String> {
        let sender = self.open.get().ok_or_else(|| reason(ENDED))?.clone();
        self.waiting.push((number, Box::pin(head(sender, self.uri.clone()))));
        // No response can have arrived yet.
        self.go_on().map(drop)
    }
    fn advance(&mut self, received: Option<&[u8]>) -> Result<Vec<u32>, String> {
        let content = self.tls.receive(received.unwrap_or_default())?;
        if !self.tls.is_ready() {
            return Ok(Vec::new());
        }
        push(&mut self.pipe, &content)?;
        self.go_on()
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        while let Some(bytes) = pull(&mut self.pipe) {
            self.tls.encrypt(&bytes).ok()?;
        }
        Some(self.tls.take_output()).filter(|bytes| !bytes.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Response;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// How an exchange ends with a server that answers with this status and so many bytes, or
    /// closes the connection.
    fn outcome(answer: Option<(u16, usize)>) -> Result<ExchangeStage, String> {
        let (mut near, far) = duplex(1 << 20);
        let server = async {
            let mut connection = h2::server::handshake(far).await.unwrap();
            let (request, mut respond) = connection.accept().await.unwrap().unwrap();
            assert_eq!(request.uri(), "https://localhost/small?x=1");
            assert!(request.headers()["user-agent"].as_bytes().starts_with(b"fathom/"));
            let Some((status, bytes)) = answer else { return };
            let head = Response::builder().status(status).body(()).unwrap();
            let mut body = respond.send_response(head, false).unwrap();
            body.send_data(vec![7; bytes].into(), true).unwrap();
            assert!(connection.accept().await.is_none());
        };
        let client = async {
            let mut exchange = http2("https://localhost/small?x=1".parse().unwrap())().unwrap();
            let (mut buffer, mut length) = (vec![0; 1 << 16], 0);
            loop {
                match exchange.advance(Some(&buffer[..length])) {
                    Ok(ExchangeStage::Response) => {}
                    ended => return ended,
                }
                while let Some(bytes) = exchange.take_output() {
                    near.write_all(&bytes).await.unwrap();
                }
                length = near.read(&mut buffer).await.unwrap();
                if length == 0 {
                    return Err("closed".to_owned());
                }
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            tokio::select! {
                () = server => Err("closed".to_owned()),
                ended = client => ended,
            }
        })
    }

    #[test]
    fn a_request_by_http2_ends_with_its_response() {
        assert_eq!(outcome(Some((200, 1))), Ok(ExchangeStage::Answered));
        assert_eq!(outcome(Some((200, 65_000))), Ok(ExchangeStage::Answered));
        assert_eq!(outcome(Some((404, 1))), Err("the server responds with status 404".to_owned()));
        assert_eq!(outcome(None), Err("closed".to_owned()));
    }
}

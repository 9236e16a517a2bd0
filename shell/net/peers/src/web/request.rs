//! A request on a new connection with TLS, by HTTP/1.1 or HTTP/2, without I/O.
use super::multiplexed::{connect, reason, receive};
use crate::tls::{Tls, TlsProbe};
use fathom_client::{Encrypted, Exchange, ExchangeStage, StartExchange};
use h2::client::Builder;
use http::Uri;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
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
        let waker = Waker::from(Arc::clone(&self.woken));
        let mut context = Context::from_waker(&waker);
        if let Some(bytes) = received.filter(|bytes| !bytes.is_empty()) {
            match Pin::new(&mut self.pipe).poll_write(&mut context, bytes) {
                Poll::Ready(Ok(written)) if written == bytes.len() => {}
                _ => return Err(reason(ENDED)),
            }
        }
        loop {
            self.woken.0.store(false, Relaxed);
            if let Poll::Ready(outcome) = self.exchange.as_mut().poll(&mut context) {
                return outcome.map(|()| ExchangeStage::Answered);
            }
            if !self.woken.0.load(Relaxed) {
                return Ok(ExchangeStage::Response);
            }
        }
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        let mut bytes = [0; 4096];
        let mut buffer = ReadBuf::new(&mut bytes);
        let mut context = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut self.pipe).poll_read(&mut context, &mut buffer);
        (!buffer.filled().is_empty()).then(|| buffer.filled().to_vec())
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

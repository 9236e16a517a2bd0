//! Downloads over HTTP/2, with probes on the connection that carries the load
//! (draft-ietf-ippm-responsiveness-09, section 4.4).
use crate::tls::{Tls, cause};
use fathom_client::Meter;
use fathom_os::clock::Clock;
use fathom_probe::protocol::AGENT;
use fathom_units::{Duration, Time};
use h2::RecvStream;
use h2::client::{Builder, Connection, SendRequest};
use http::header::USER_AGENT;
use http::{Request, Uri};
use socket2::Socket;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::net::TcpStream as StdStream;
use std::pin::Pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

/// Name of HTTP/2 in TLS (RFC 9113, section 3.2).
pub(crate) const ALPN: &[u8] = b"h2";
/// Largest window (RFC 9113, section 6.9.1): TCP alone must limit a download, also where a queue
/// holds seconds of it.
const WINDOW_BYTES: u32 = (1 << 31) - 1;
/// Interval of the probes on a connection.
pub(super) const PROBE_EVERY: Duration = Duration::from_millis(200);
/// Most probes that wait on a connection. More only fill its queue.
pub(super) const WAITING: usize = 16;

/// What sends requests.
pub(super) type Sender = SendRequest<&'static [u8]>;

/// A download with probes.
pub(crate) struct Download {
    /// A connection without TLS.
    pub(crate) socket: Socket,
    /// TLS that offers [`ALPN`].
    pub(crate) tls: Tls,
    /// Authority of the URLs.
    pub(crate) host: String,
    pub(crate) large: String,
    pub(crate) small: String,
    pub(crate) clock: Clock,
}

impl Download {
    /// Downloads until the connection ends.
    pub(crate) fn run(self, meter: &Meter) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        runtime.map_err(|error| cause(&error))?.block_on(self.transfer(meter))
    }
    async fn transfer(self, meter: &Meter) -> Result<(), String> {
        let io_error = |error: io::Error| cause(&error);
        let (large, small) = (uri(&self.host, &self.large)?, uri(&self.host, &self.small)?);
        let stream = StdStream::from(self.socket);
        stream.set_nonblocking(true).map_err(io_error)?;
        let stream = TcpStream::from_std(stream).map_err(io_error)?;
        let connector = TlsConnector::from(self.tls.config());
        let stream = connector.connect(self.tls.name(), stream).await.map_err(io_error)?;
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOW_BYTES).initial_connection_window_size(WINDOW_BYTES);
        let (sender, connection) = connect(&mut builder, stream).await?;
        tokio::select! {
            ended = connection => match ended {
                Ok(()) => Err("the connection ended during a download".to_owned()),
                Err(error) => Err(reason(error)),
            },
            failed = load(sender.clone(), large, meter) => failed,
            () = probe(sender, small, meter, self.clock) => Ok(()),
        }
    }
}

/// The URL of a path on a host.
pub(super) fn uri(host: &str, path: &str) -> Result<Uri, String> {
    format!("https://{host}{path}").parse().map_err(|error| format!("invalid URL: {error}"))
}

/// Requests the large object again and again. Ends with the first error.
async fn load(mut sender: Sender, uri: Uri, meter: &Meter) -> Result<(), String> {
    loop {
        request(&mut sender, &uri, &mut |bytes| meter.add_received(bytes)).await?;
    }
}

/// Starts HTTP/2 on a stream.
pub(super) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
    builder: &mut Builder,
    stream: S,
) -> Result<(Sender, Connection<S, &'static [u8]>), String> {
    builder.enable_push(false).handshake(stream).await.map_err(reason)
}

/// Requests an object and returns its body.
pub(super) async fn receive(sender: &mut Sender, uri: &Uri) -> Result<RecvStream, String> {
    poll_fn(|context| sender.poll_ready(context)).await.map_err(reason)?;
    let (response, _) = sender
        .send_request(Request::get(uri).header(USER_AGENT, AGENT).body(()).map_err(reason)?, true)
        .map_err(reason)?;
    let response = response.await.map_err(reason)?;
    if !response.status().is_success() {
        return Err(format!("the server responds with status {}", response.status().as_u16()));
    }
    Ok(response.into_body())
}

/// Requests an object and receives it.
async fn request(sender: &mut Sender, uri: &Uri, received: &mut impl FnMut(u64)) -> Result<(), String> {
    let mut body = receive(sender, uri).await?;
    while let Some(data) = body.data().await {
        let length = data.map_err(reason)?.len();
        received(length as u64);
        body.flow_control().release_capacity(length).map_err(reason)?;
    }
    Ok(())
}

/// A probe that waits for its response. Dropped without one, it is recorded as unanswered.
struct Waiting<'a> {
    sent: Time,
    response: Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>,
    is_over: bool,
    meter: &'a Meter,
    clock: Clock,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.meter.add_unanswered(self.sent, self.clock.now().saturating_since(self.sent));
        }
    }
}

/// Sends probes on schedule, whether earlier ones are answered or not.
async fn probe(sender: Sender, uri: Uri, meter: &Meter, clock: Clock) {
    let mut waiting: VecDeque<Waiting<'_>> = VecDeque::new();
    let mut due = Instant::now();
    loop {
        due += std::time::Duration::from_nanos(PROBE_EVERY.as_nanos());
        let timer = tokio::time::sleep_until(due);
        tokio::pin!(timer);
        poll_fn(|context| {
            waiting.retain_mut(|one| match one.response.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(outcome) => {
                    // A failure of the connection is the load's to report.
                    if outcome.is_ok() {
                        meter.add_answered(one.sent, clock.now().saturating_since(one.sent));
                    }
                    one.is_over = true;
                    false
                }
            });
            timer.as_mut().poll(context)
        })
        .await;
        if waiting.len() < WAITING {
            let (mut own, uri) = (sender.clone(), uri.clone());
            let response = Box::pin(async move { request(&mut own, &uri, &mut |_| ()).await });
            waiting.push_back(Waiting { sent: clock.now(), response, is_over: false, meter, clock });
        }
    }
}

pub(super) fn reason(error: impl std::fmt::Display) -> String {
    format!("HTTP/2: {error}")
}

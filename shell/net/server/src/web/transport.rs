//! Connections whose writes are small on slow lines, so that a short response does not wait long
//! behind those of other streams.
use fathom_os::socket::{send_piece, set_unsent_limit};
use socket2::SockRef;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// Smallest and largest piece: a packet, and four of those that Linux sends at once.
const LEAST_BYTES: usize = 1_360;
/// Room for what TLS adds to a piece (RFC 8446 section 5.2: 22 bytes), so that both are one packet.
const RECORD_BYTES: usize = 40;
const MOST_BYTES: usize = 256 * 1024;
/// Time of the line that a piece takes.
const PIECE_S: f64 = 0.001;
/// The rate is measured this often.
const MEASURED_EVERY: Duration = Duration::from_millis(50);

/// Size of the pieces of a connection: what its line carries in a millisecond.
#[derive(Debug)]
pub(super) struct PieceSize(AtomicUsize);

impl Default for PieceSize {
    fn default() -> Self {
        PieceSize(AtomicUsize::new(LEAST_BYTES))
    }
}

impl PieceSize {
    pub(super) fn bytes(&self) -> usize {
        self.0.load(Relaxed)
    }
    fn set(&self, bytes: usize) {
        self.0.store(bytes, Relaxed);
    }
}

/// A connection that is written in such pieces. The kernel does not join them: it would fill
/// a packet of 64 kB before it applies `TCP_NOTSENT_LOWAT`.
pub(super) struct Transport {
    stream: TcpStream,
    /// What was read of it before.
    early: Vec<u8>,
    piece: Arc<PieceSize>,
    since: Instant,
    written: usize,
}

impl Transport {
    pub(super) fn new(stream: TcpStream, early: Vec<u8>, piece: Arc<PieceSize>) -> Self {
        limit_unsent(&stream, LEAST_BYTES);
        Transport { stream, early, piece, since: Instant::now(), written: 0 }
    }
    /// The connection below.
    pub(super) const fn stream(&self) -> &TcpStream {
        &self.stream
    }
    fn count(&mut self, written: usize) {
        self.written += written;
        let elapsed = self.since.elapsed();
        if elapsed < MEASURED_EVERY {
            return;
        }
        let bytes = self.written as f64 / elapsed.as_secs_f64() * PIECE_S;
        let bytes = (bytes as usize).clamp(LEAST_BYTES, MOST_BYTES);
        if bytes != self.piece.bytes() {
            self.piece.set(bytes);
            limit_unsent(&self.stream, bytes);
        }
        (self.since, self.written) = (Instant::now(), 0);
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.early.is_empty() {
            let taken = self.early.len().min(into.remaining());
            into.put_slice(&self.early[..taken]);
            self.early.drain(..taken);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let piece = first(parts, self.piece.bytes() + RECORD_BYTES);
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            let send = || send_piece(&SockRef::from(&self.stream), &piece);
            match self.stream.try_io(Interest::WRITABLE, send) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => {
                    self.count(*sent.as_ref().unwrap_or(&0));
                    return Poll::Ready(sent);
                }
            }
        }
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The kernel takes no more while so many bytes are unsent: as many as a piece, or as on slow lines
/// none.
fn limit_unsent(stream: &TcpStream, piece_bytes: usize) {
    let bytes = if piece_bytes > LEAST_BYTES { piece_bytes as u32 } else { 1 };
    // Without it, short responses only arrive later.
    let _ = set_unsent_limit(&SockRef::from(stream), bytes);
}

/// A TLS connection that takes a piece when the one before has left it.
pub(super) struct Records(pub(super) TlsStream<Transport>);

impl Records {
    /// The connection below.
    pub(super) fn transport(&self) -> &Transport {
        self.0.get_ref().0
    }
}

impl AsyncRead for Records {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Records {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.0.get_ref().1.wants_write() {
            ready!(Pin::new(&mut self.0).poll_flush(context))?;
        }
        let piece = first(parts, self.transport().piece.bytes());
        Pin::new(&mut self.0).poll_write_vectored(context, &piece)
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// The first `length` bytes of these parts.
fn first<'a>(parts: &'a [IoSlice<'_>], mut length: usize) -> Vec<IoSlice<'a>> {
    let mut piece = Vec::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let taken = part.len().min(length);
        if taken == 0 {
            break;
        }
        piece.push(IoSlice::new(&part[..taken]));
        length -= taken;
    }
    piece
}

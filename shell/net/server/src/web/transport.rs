//! Connections whose writes are small on slow lines, so that a short response does not wait long
//! behind those of other streams.
use crate::sync::lock;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::{segment_bytes, send_piece, set_unsent_limit};
use hyper::Version;
use rustls::ProtocolVersion;
use socket2::SockRef;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// Segment size where the system does not report it: that of a path with an MTU of 1,500 bytes,
/// less the headers of a tunnel.
const SEGMENT_BYTES: usize = 1_400;
/// Smallest piece, unless a segment is larger: the default segment (RFC 9293, section 3.7.1). A
/// client may ask for segments that are shorter than the headers.
const LEAST_BYTES: usize = 536;
/// Largest piece: four packets of those that Linux sends at once.
const MOST_BYTES: usize = 256 * 1024;
/// Time of the line that a piece takes.
const PIECE_S: f64 = 0.001;
/// The rate is measured this often.
const MEASURED_EVERY: Duration = Duration::from_millis(50);
/// Largest payload of a record of TLS (RFC 8446, section 5.1) and of a frame of HTTP/2 with the
/// default settings (RFC 9113, section 4.2).
const MAX_PAYLOAD_BYTES: usize = 1 << 14;
/// What a record adds with AES-GCM: header, tag, and the type (RFC 8446, section 5.2) or the
/// explicit nonce (RFC 5288, section 3).
const TLS_1_3_RECORD_BYTES: usize = 5 + 16 + 1;
const TLS_1_2_RECORD_BYTES: usize = 5 + 16 + 8;
/// Header of a frame of HTTP/2 (RFC 9113, section 4.1).
const FRAME_HEADER_BYTES: usize = 9;

/// The pieces of a connection. Their size is what its line carries in a millisecond, in whole
/// segments of TCP, at least one.
#[derive(Default, Debug)]
pub(super) struct Pieces {
    bytes: AtomicUsize,
    /// What TLS adds to each record.
    record_bytes: AtomicUsize,
    /// All that was written has left, and no stream has added a piece since.
    is_idle: AtomicBool,
    /// Requests that have no response yet.
    requests: AtomicUsize,
    /// Streams that wait to add a piece.
    waiting: Mutex<Vec<Waker>>,
}

/// A request that has no response yet, which goes before load.
pub(super) struct Responding(Arc<Pieces>);

impl Responding {
    pub(super) fn new(pieces: &Arc<Pieces>) -> Self {
        pieces.requests.fetch_add(1, AcqRel);
        Responding(Arc::clone(pieces))
    }
}

impl Drop for Responding {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, AcqRel);
        self.0.wake();
    }
}

impl Pieces {
    /// Waits until the connection is idle and has no request. If a stream adds its load after that
    /// only, a response of another stream is at most behind one piece.
    pub(super) fn poll_turn(&self, context: &Context<'_>) -> Poll<()> {
        if self.take_turn() {
            return Poll::Ready(());
        }
        let mut waiting = lock(&self.waiting);
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        drop(waiting);
        // It may have become its turn before it waited.
        if self.take_turn() { Poll::Ready(()) } else { Poll::Pending }
    }
    fn take_turn(&self) -> bool {
        self.requests.load(Acquire) == 0 && self.is_idle.swap(false, AcqRel)
    }
    fn set_idle(&self) {
        self.is_idle.store(true, Release);
        self.wake();
    }
    fn wake(&self) {
        std::mem::take(&mut *lock(&self.waiting)).into_iter().for_each(Waker::wake);
    }
    fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
    fn is_secure(&self) -> bool {
        self.record_bytes.load(Relaxed) > 0
    }
    /// Bytes of HTTP that fit into a piece.
    fn content_bytes(&self) -> usize {
        without_headers(self.bytes(), self.record_bytes.load(Relaxed))
    }
    /// Bytes of a body that fit into a piece.
    pub(super) fn body_bytes(&self, version: Version) -> usize {
        let header = if version == Version::HTTP_2 { FRAME_HEADER_BYTES } else { 0 };
        without_headers(self.content_bytes(), header)
    }
}

/// The whole segments that fit into so many bytes, or into the smallest piece, at least one.
const fn whole_segments(wanted: usize, segment: usize) -> usize {
    let wanted = if wanted < LEAST_BYTES { LEAST_BYTES } else { wanted };
    if wanted < segment { segment } else { wanted - wanted % segment }
}

/// The payload of as many bytes, in units that have a header.
const fn without_headers(bytes: usize, header: usize) -> usize {
    bytes - header * bytes.div_ceil(MAX_PAYLOAD_BYTES + header)
}

/// A connection that is written in such pieces. The kernel does not join them: it would fill
/// a packet of 64 kB before it applies `TCP_NOTSENT_LOWAT`.
pub(super) struct Transport {
    stream: TcpStream,
    /// What was read of it before.
    early: Vec<u8>,
    pieces: Arc<Pieces>,
    segment_bytes: usize,
    since: Instant,
    written: usize,
}

impl Transport {
    pub(super) fn new(stream: TcpStream, early: Vec<u8>, pieces: Arc<Pieces>) -> Self {
        let (segment_bytes, since) = (SEGMENT_BYTES, Instant::now());
        let mut transport = Transport { stream, early, pieces, segment_bytes, since, written: 0 };
        transport.set_piece(0);
        transport
    }
    /// The connection below.
    pub(super) const fn stream(&self) -> &TcpStream {
        &self.stream
    }
    /// Sets the piece to the whole segments of these bytes.
    fn set_piece(&mut self, wanted: usize) {
        // It changes with the MTU of the path. The kernel would wait for the rest of a segment.
        if let Ok(segment @ 1..) = segment_bytes(&SockRef::from(&self.stream)) {
            self.segment_bytes = segment as usize;
        }
        let bytes = whole_segments(wanted, self.segment_bytes);
        if self.pieces.bytes.swap(bytes, Relaxed) == bytes {
            return;
        }
        // On slow lines, the kernel takes no more while anything is unsent.
        let unsent = if wanted > LEAST_BYTES.max(self.segment_bytes) { bytes as u32 } else { 1 };
        // Without it, short responses only arrive later.
        let _ = set_unsent_limit(&SockRef::from(&self.stream), unsent);
    }
    fn count(&mut self, written: usize) {
        self.written += written;
        let elapsed = self.since.elapsed();
        if elapsed < MEASURED_EVERY {
            return;
        }
        let bytes = self.written as f64 / elapsed.as_secs_f64() * PIECE_S;
        self.set_piece(bytes.min(MOST_BYTES as f64) as usize);
        (self.since, self.written) = (Instant::now(), 0);
    }
    /// The part of `parts` to send at once, and whether it is whole segments and more follows.
    fn cut<'a>(&self, parts: &'a [IoSlice<'_>]) -> (Vec<IoSlice<'a>>, bool) {
        let available: usize = parts.iter().map(|part| part.len()).sum();
        let length = available.min(self.pieces.bytes());
        let whole = length - length % self.segment_bytes;
        if whole == 0 { (first(parts, length), false) } else { (first(parts, whole), true) }
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
        let (piece, more_follows) = self.cut(parts);
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            let send = || send_piece(&SockRef::from(&self.stream), &piece, more_follows);
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
    /// Waits until the kernel takes more. HTTP/2 chooses its next frame after that, so a response
    /// that comes meanwhile waits behind no frame of another stream.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            match self.stream.try_io(Interest::WRITABLE, || takes_more(&self.stream)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => {
                    if !self.pieces.is_secure() {
                        self.pieces.set_idle();
                    }
                    return Poll::Ready(done);
                }
            }
        }
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Fails with `WouldBlock` while the kernel takes no more.
fn takes_more(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let mut waiting = [PollFd::writable(socket.as_fd())];
    poll::wait(&mut waiting, Some(fathom_units::Duration::ZERO))?;
    if waiting[0].is_ready() { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
}

/// A TLS connection that takes a piece when the one before has left it.
pub(super) struct Records(TlsStream<Transport>);

impl Records {
    pub(super) fn new(stream: TlsStream<Transport>) -> Self {
        let (transport, session) = stream.get_ref();
        let bytes = if session.protocol_version() == Some(ProtocolVersion::TLSv1_2) {
            TLS_1_2_RECORD_BYTES
        } else {
            TLS_1_3_RECORD_BYTES
        };
        transport.pieces.record_bytes.store(bytes, Relaxed);
        Records(stream)
    }
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
        let piece = first(parts, self.transport().pieces.content_bytes());
        Pin::new(&mut self.0).poll_write_vectored(context, &piece)
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.0).poll_flush(context));
        self.transport().pieces.set_idle();
        Poll::Ready(flushed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_whole_segments_and_has_room_for_a_body() {
        assert_eq!(
            [0, 1_447, 2_895, 2_896].map(|wanted| whole_segments(wanted, 1_448)),
            [1_448, 1_448, 1_448, 2_896]
        );
        for segment in 1..70_000 {
            for (wanted, record) in
                [(0, TLS_1_2_RECORD_BYTES), (100_000, TLS_1_3_RECORD_BYTES), (MOST_BYTES, 0)]
            {
                let pieces = Pieces::default();
                pieces.bytes.store(whole_segments(wanted, segment), Relaxed);
                pieces.record_bytes.store(record, Relaxed);
                assert_eq!(pieces.bytes() % segment, 0);
                let body = pieces.body_bytes(Version::HTTP_2);
                assert!(body > 200 && body < pieces.bytes(), "{segment} {wanted} {record}");
            }
        }
        // Both kinds of headers: of two records, and of two frames within them.
        let pieces = Pieces::default();
        pieces.bytes.store(20_000, Relaxed);
        pieces.record_bytes.store(TLS_1_3_RECORD_BYTES, Relaxed);
        assert_eq!(pieces.body_bytes(Version::HTTP_11), 20_000 - 44);
        assert_eq!(pieces.body_bytes(Version::HTTP_2), 20_000 - 44 - 18);
    }
}

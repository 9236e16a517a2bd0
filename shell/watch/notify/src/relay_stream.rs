//! A connection to a relay before it becomes TLS.
use lettre::transport::smtp::client::AsyncTokioStream;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Type of a handshake record, the first byte of a client's TLS (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;

/// A TCP connection that is read one byte at a time until this side starts TLS.
///
/// The SMTP client reads ahead. Plain text that an attacker inserted after the reply to STARTTLS
/// would then be mistaken for replies over TLS (RFC 3207 section 6). Read byte by byte, it reaches
/// the TLS handshake, which fails.
#[derive(Debug)]
pub(crate) struct RelayStream {
    stream: TcpStream,
    is_tls: bool,
}

impl RelayStream {
    /// Must be called in a runtime.
    pub(crate) fn new(stream: std::net::TcpStream) -> io::Result<RelayStream> {
        stream.set_nonblocking(true)?;
        Ok(RelayStream { stream: TcpStream::from_std(stream)?, is_tls: false })
    }
}

impl AsyncRead for RelayStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_tls {
            return Pin::new(&mut self.stream).poll_read(context, into);
        }
        let mut byte = [0];
        let mut one = ReadBuf::new(&mut byte);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut one))?;
        into.put_slice(one.filled());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for RelayStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // No SMTP command starts with this byte.
        self.is_tls |= bytes.first() == Some(&TLS_HANDSHAKE);
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl AsyncTokioStream for RelayStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

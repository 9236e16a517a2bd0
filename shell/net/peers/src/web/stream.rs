//! A connection, encrypted or not.
use crate::tls::Tls;
use fathom_client::Limits;
use rustls::{ClientConnection, StreamOwned};
use socket2::Socket;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

/// A blocking connection.
pub(crate) enum Stream {
    Plain(Arc<Socket>),
    Encrypted(Box<StreamOwned<ClientConnection, Shared>>),
}

/// A socket that another thread may shut down.
pub(crate) struct Shared(Arc<Socket>);

impl Stream {
    pub(crate) fn new(socket: Arc<Socket>, tls: Option<&Tls>) -> Result<Stream, String> {
        Ok(match tls {
            None => Stream::Plain(socket),
            Some(tls) => Stream::Encrypted(Box::new(StreamOwned::new(tls.start()?, Shared(socket)))),
        })
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => (&**socket).read(buffer),
            // Many servers close without a TLS alert; HTTP knows whether something is missing.
            Stream::Encrypted(stream) => stream.read(buffer).or_else(|error| match error.kind() {
                ErrorKind::UnexpectedEof => Ok(0),
                _ => Err(error),
            }),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => (&**socket).write(bytes),
            Stream::Encrypted(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) => Ok(()),
            Stream::Encrypted(stream) => stream.flush(),
        }
    }
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that waits no longer than its limits allow.
pub(crate) struct LimitedStream<'a> {
    socket: Socket,
    address: SocketAddr,
    limits: &'a Limits<'a>,
}

impl<'a> LimitedStream<'a> {
    pub(crate) fn new(socket: Socket, address: SocketAddr, limits: &'a Limits<'a>) -> Self {
        LimitedStream { socket, address, limits }
    }
}

impl Read for LimitedStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.limits.readable(&self.socket, self.address, "response");
        ready.map_err(|error| io::Error::other(error.to_string()))?;
        (&self.socket).read(buffer)
    }
}

impl Write for LimitedStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.socket).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

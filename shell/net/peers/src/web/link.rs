//! A connection, encrypted or not.
use crate::tls::Tls;
use fathom_client::Limits;
use rustls::{ClientConnection, StreamOwned};
use socket2::Socket;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

/// A blocking connection.
pub(crate) enum Link {
    Plain(Arc<Socket>),
    Encrypted(Box<StreamOwned<ClientConnection, Shared>>),
}

/// A socket that another thread may shut down.
pub(crate) struct Shared(Arc<Socket>);

impl Link {
    pub(crate) fn new(socket: Arc<Socket>, tls: Option<&Tls>) -> Result<Link, String> {
        Ok(match tls {
            None => Link::Plain(socket),
            Some(tls) => Link::Encrypted(Box::new(StreamOwned::new(tls.start()?, Shared(socket)))),
        })
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Link::Plain(socket) => (&**socket).read(buffer),
            // Many servers close without a TLS alert; HTTP knows whether something is missing.
            Link::Encrypted(stream) => stream.read(buffer).or_else(|error| match error.kind() {
                ErrorKind::UnexpectedEof => Ok(0),
                _ => Err(error),
            }),
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Link::Plain(socket) => (&**socket).write(bytes),
            Link::Encrypted(stream) => stream.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Link::Plain(_) => Ok(()),
            Link::Encrypted(stream) => stream.flush(),
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
pub(crate) struct Patient<'a> {
    socket: Socket,
    address: SocketAddr,
    limits: &'a Limits<'a>,
}

impl<'a> Patient<'a> {
    pub(crate) fn new(socket: Socket, address: SocketAddr, limits: &'a Limits<'a>) -> Self {
        Patient { socket, address, limits }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.limits.readable(&self.socket, self.address, "response");
        ready.map_err(|error| io::Error::other(error.to_string()))?;
        (&self.socket).read(buffer)
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.socket).write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

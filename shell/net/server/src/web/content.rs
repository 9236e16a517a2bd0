//! Bodies of responses: text, or load.
use super::Connection;
use super::client::Transfer;
use super::place::Running;
use fathom_pages::Flow;
use hyper::Version;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The body of a response.
pub(super) enum Content {
    Text(Option<Bytes>),
    Load(Load),
}

/// Load for a client.
pub(super) struct Load {
    pub(super) connection: Arc<Connection>,
    pub(super) version: Version,
    /// `None` if it is so small that it does not count.
    pub(super) transfer: Option<Transfer>,
    /// Of the test of a page, with which it ends.
    pub(super) flow: Option<Flow>,
    pub(super) _running: Running,
    pub(super) left_bytes: u64,
    pub(super) offset: usize,
}

impl Load {
    /// Only HTTP/2 has other streams on the connection.
    fn poll_turn(&self, context: &Context<'_>) -> Poll<()> {
        if self.version == Version::HTTP_2 && self.transfer.is_some() {
            self.connection.pieces.poll_turn(context)
        } else {
            Poll::Ready(())
        }
    }
    fn next(&mut self) -> Option<Result<Bytes, io::Error>> {
        let load = &self.connection.common.load;
        let most = self.connection.pieces.body_bytes(self.version);
        let left = usize::try_from(self.left_bytes).unwrap_or(most);
        let length = most.min(load.len() - self.offset).min(left);
        if length == 0 {
            return None;
        }
        self.connection.progress();
        if self.flow.as_ref().is_some_and(|flow| !flow.may_go_on()) {
            return Some(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if self.transfer.as_ref().is_some_and(|transfer| !transfer.count(length)) {
            return Some(Err(io::ErrorKind::QuotaExceeded.into()));
        }
        let piece = load.slice(self.offset..self.offset + length);
        self.offset = (self.offset + length) % load.len();
        self.left_bytes -= length as u64;
        Some(Ok(piece))
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let next = match self.get_mut() {
            Content::Text(text) => text.take().map(Ok),
            Content::Load(load) => {
                ready!(load.poll_turn(context));
                load.next()
            }
        };
        Poll::Ready(next.map(|piece| piece.map(Frame::data)))
    }
    fn is_end_stream(&self) -> bool {
        match self {
            Content::Text(text) => text.is_none(),
            Content::Load(load) => load.left_bytes == 0,
        }
    }
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Content::Text(text) => text.as_ref().map_or(0, |text| text.len() as u64),
            Content::Load(load) => load.left_bytes,
        })
    }
}

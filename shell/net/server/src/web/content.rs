//! Bodies of responses: text, or load.
use super::Connection;
use super::client::Transfer;
use super::place::Running;
use fathom_pages::Flow;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Header of a frame of HTTP/2 (RFC 9113 section 4.1): it is in the same piece.
const FRAME_HEADER_BYTES: usize = 9;

/// The body of a response.
pub(super) enum Content {
    Text(Option<Bytes>),
    Load(Load),
}

/// Load for a client.
pub(super) struct Load {
    pub(super) connection: Arc<Connection>,
    /// `None` if it is so small that it does not count.
    pub(super) transfer: Option<Transfer>,
    /// Of the test of a page, with which it ends.
    pub(super) flow: Option<Flow>,
    pub(super) _running: Running,
    pub(super) left_bytes: u64,
    pub(super) offset: usize,
}

impl Load {
    fn next(&mut self) -> Option<Result<Bytes, io::Error>> {
        let load = &self.connection.common.load;
        let most = self.connection.piece.bytes() - FRAME_HEADER_BYTES;
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
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let next = match self.get_mut() {
            Content::Text(text) => text.take().map(Ok),
            Content::Load(load) => load.next(),
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

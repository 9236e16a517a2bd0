//! A transfer of load by a page.
use crate::Test;
use fathom_load::Sender;
use fathom_os::fd::AsFd;
use fathom_os::tcp_info::tcp_info;
use fathom_units::Direction;
use socket2::Socket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A transfer of load, until it is dropped.
#[derive(Debug)]
pub struct Flow {
    test: Arc<Test>,
    state: Arc<FlowState>,
    /// The step of the test in which it may go on.
    step: u32,
}

/// What is known of a transfer.
#[derive(Debug)]
pub(crate) struct FlowState {
    pub(crate) number: u32,
    pub(crate) direction: Direction,
    /// Payload that has arrived at the server.
    pub(crate) received: AtomicU64,
    /// The connection of a download; `None` if another transfer shares it.
    socket: Option<Socket>,
    /// What had been acknowledged on it before.
    before: u64,
}

impl Flow {
    pub(crate) const fn new(test: Arc<Test>, state: Arc<FlowState>, step: u32) -> Self {
        Flow { test, state, step }
    }
    /// Whether its phase still lasts.
    #[must_use]
    pub fn may_go_on(&self) -> bool {
        self.test.step() == self.step
    }
    /// Counts payload of an upload.
    pub fn add_received(&self, bytes: u64) {
        self.state.received.fetch_add(bytes, Relaxed);
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.test.close_flow(&self.state);
    }
}

impl FlowState {
    pub(crate) fn new(number: u32, direction: Direction, socket: Option<Socket>) -> Self {
        let info = socket.as_ref().and_then(|socket| tcp_info(socket.as_fd()).ok());
        let before = info.and_then(|info| info.bytes_acked).unwrap_or(0);
        FlowState { number, direction, received: AtomicU64::new(0), socket, before }
    }
    /// The state of the sender of a download.
    pub(crate) fn sender(&self) -> Option<Sender> {
        let info = tcp_info(self.socket.as_ref()?.as_fd()).ok()?;
        let acknowledged = info.bytes_acked.unwrap_or(0).saturating_sub(self.before);
        Some(Sender {
            rtt_us: info.rtt_us,
            cwnd_bytes: info.cwnd_bytes,
            retransmits: info.retransmits,
            delivered_bytes: acknowledged.saturating_add(info.bytes_sacked),
            receiver_limited_us: info.receiver_limited_us,
            unsent_bytes: info.unsent_bytes,
        })
    }
    /// Congestion control of the sender.
    pub(crate) fn congestion_control(&self) -> Option<String> {
        fathom_os::socket::congestion_control(self.socket.as_ref()?).ok()
    }
}

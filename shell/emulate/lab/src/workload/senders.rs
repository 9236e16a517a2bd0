//! Sampled TCP_INFO of the load's senders, as in tests and in the simulator.
use crate::workload::life::lock;
use fathom_os::tcp_info::tcp_info;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};
use socket2::Socket;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, Weak};

/// Maximum number of senders with their own series.
const MOST: usize = 64;
const METRICS: [Metric; 3] = [Metric::FlowRtt, Metric::FlowCwnd, Metric::FlowRetransmits];

struct Sender {
    socket: Weak<Socket>,
    series: [Series; 3],
}

/// In the order in which they were opened.
#[derive(Default)]
pub(crate) struct Senders(Mutex<Vec<Sender>>);

impl Senders {
    pub(crate) fn add(&self, socket: &Arc<Socket>, way: Direction) {
        let mut all = lock(&self.0);
        if all.len() < MOST {
            // Flows count from 1, as in tests.
            let flow = Some(all.len() as u32 + 1);
            let key = |metric| SeriesKey { flow, ..SeriesKey::directed(metric, way) };
            let series = METRICS.map(|metric| Series::new(key(metric)));
            all.push(Sender { socket: Arc::downgrade(socket), series });
        }
    }
    /// Samples the open senders.
    pub(crate) fn sample(&self, now: Time) {
        for sender in lock(&self.0).iter_mut() {
            let info = sender.socket.upgrade().and_then(|socket| tcp_info(socket.as_fd()).ok());
            // A connection that is not established has no round-trip time.
            let Some(info) = info.filter(|info| info.rtt_us > 0) else { continue };
            let values = [f64::from(info.rtt_us) / 1e6, info.cwnd_bytes as f64, info.retransmits as f64];
            for (series, value) in sender.series.iter_mut().zip(values) {
                series.push(Observation { at: now, value: Value::Observed(value) });
            }
        }
    }
    pub(crate) fn take_series(&self) -> Vec<Series> {
        let all = std::mem::take(&mut *lock(&self.0));
        all.into_iter().flat_map(|sender| sender.series).filter(|series| !series.values.is_empty()).collect()
    }
}

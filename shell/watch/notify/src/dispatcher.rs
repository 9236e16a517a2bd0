//! The dispatcher: transitions in, delivery reports out.
use crate::notice::Notice;
use crate::outbox::{MAX_WAITING, Outbox};
use crate::transport::Transport;
use crate::worker::{Report, Shared, Worker, now};
use fathom_watch_alert::{Receiver, Transition};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Reports, Sender, channel};
use std::time::{Duration, Instant};

/// Maximum wait for deliveries at shutdown; what is undelivered is kept.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(3);

/// Delivers to all receivers.
#[derive(Debug)]
pub struct Dispatcher {
    dir: Option<PathBuf>,
    queues: Vec<ReceiverQueue>,
    reports: Sender<Report>,
    outcomes: Reports<Report>,
}

#[derive(Debug)]
struct ReceiverQueue {
    receiver: Receiver,
    is_reminded: bool,
    shared: Arc<Shared>,
}

impl Dispatcher {
    /// Starts delivering what waits in the outboxes of `dir`, and new notifications.
    #[must_use]
    pub fn start(receivers: &[Receiver], dir: Option<&Path>) -> Dispatcher {
        let (reports, outcomes) = channel();
        let mut dispatcher =
            Dispatcher { dir: dir.map(Path::to_owned), queues: Vec::new(), reports, outcomes };
        receivers.iter().for_each(|receiver| dispatcher.open(receiver));
        dispatcher
    }
    fn open(&mut self, receiver: &Receiver) {
        let shared = Shared::new(Outbox::open(self.dir.as_deref(), &receiver.name));
        let transport = Transport::new(receiver);
        let is_reminded = transport.is_reminded();
        let worker = Worker::new(transport, Arc::clone(&shared), self.reports.clone());
        std::thread::spawn(move || worker.run());
        self.queues.push(ReceiverQueue { receiver: receiver.clone(), is_reminded, shared });
    }
    /// Replaces the receivers. Unchanged ones continue; notifications for the others stay in their
    /// outboxes.
    pub fn replan(&mut self, receivers: &[Receiver]) {
        let (stay, gone): (Vec<ReceiverQueue>, Vec<ReceiverQueue>) = std::mem::take(&mut self.queues)
            .into_iter()
            .partition(|queue| receivers.contains(&queue.receiver));
        end(&gone);
        self.queues = stay;
        for receiver in receivers {
            if !self.queues.iter().any(|queue| queue.receiver == *receiver) {
                self.open(receiver);
            }
        }
    }
    /// Queues a notification for the receivers of a transition. Never blocks: a full queue drops
    /// its oldest entry and reports it.
    pub fn notify(&self, transition: &Transition) {
        let notice = Notice::from(transition);
        for queue in self.queues.iter().filter(|queue| transition.to.contains(&queue.receiver.name)) {
            self.push(queue, notice.clone());
        }
    }
    /// Reminds receivers that need it of alerts that were raised before the start.
    pub fn remind(&self, standing: &[Transition]) {
        for transition in standing {
            let meant =
                |queue: &&ReceiverQueue| queue.is_reminded && transition.to.contains(&queue.receiver.name);
            self.queues.iter().filter(meant).for_each(|queue| self.push(queue, Notice::from(transition)));
        }
    }
    fn push(&self, queue: &ReceiverQueue, notice: Notice) {
        if !queue.shared.push(notice) {
            let (name, way) = (&queue.receiver.name, queue.receiver.route.name());
            let text = format!(
                "receiver {name} ({way}): queue full ({MAX_WAITING} notifications); dropped the oldest"
            );
            let _ = self.reports.send(Report { at: now(), text, is_trouble: true });
        }
    }
    /// Reports since the last call.
    pub fn reports(&self) -> Vec<Report> {
        self.outcomes.try_iter().collect()
    }
    /// Stops. What is not delivered within a few seconds stays in the outboxes.
    #[must_use]
    pub fn stop(self) -> Vec<Report> {
        end(&self.queues);
        self.outcomes.try_iter().collect()
    }
}

fn end(queues: &[ReceiverQueue]) {
    queues.iter().for_each(|queue| queue.shared.end());
    let until = Instant::now() + SHUTDOWN_LIMIT;
    queues.iter().for_each(|queue| queue.shared.wait(until));
}

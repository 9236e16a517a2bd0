//! Where transitions go in, and reports of what became of them come out.
use crate::deliver::Courier;
use crate::notice::Notice;
use crate::outbox::{MOST_WAITING, Outbox};
use crate::worker::{Shared, Worker, now};
use fathom_units::WallTime;
use fathom_watch_alert::{Receiver, Transition};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Reports, Sender, channel};
use std::time::{Duration, Instant};

/// How long an end waits for receivers; what they did not take is kept.
const FAREWELL: Duration = Duration::from_secs(3);

/// What happened to a delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// When.
    pub at: WallTime,
    /// In words.
    pub text: String,
    /// It is something to look after.
    pub is_trouble: bool,
}

/// All receivers.
#[derive(Debug)]
pub struct Desk {
    dir: Option<PathBuf>,
    posts: Vec<Post>,
    reports: Sender<Report>,
    told: Reports<Report>,
}

#[derive(Debug)]
struct Post {
    receiver: Receiver,
    is_reminded: bool,
    shared: Arc<Shared>,
}

impl Desk {
    /// Begins to deliver what waits in the outboxes of `dir`, and what comes.
    #[must_use]
    pub fn start(receivers: &[Receiver], dir: Option<&Path>) -> Desk {
        let (reports, told) = channel();
        let mut desk = Desk { dir: dir.map(Path::to_owned), posts: Vec::new(), reports, told };
        receivers.iter().for_each(|receiver| desk.open(receiver));
        desk
    }
    fn open(&mut self, receiver: &Receiver) {
        let shared = Shared::new(Outbox::open(self.dir.as_deref(), &receiver.name));
        let courier = Courier::new(receiver);
        let is_reminded = courier.is_reminded();
        let worker = Worker::new(courier, Arc::clone(&shared), self.reports.clone());
        std::thread::spawn(move || worker.run());
        self.posts.push(Post { receiver: receiver.clone(), is_reminded, shared });
    }
    /// Takes other receivers. Those of which nothing is different go on; what waits for the others stays in its outbox.
    pub fn replan(&mut self, receivers: &[Receiver]) {
        let (stay, gone): (Vec<Post>, Vec<Post>) =
            std::mem::take(&mut self.posts).into_iter().partition(|post| receivers.contains(&post.receiver));
        end(&gone);
        self.posts = stay;
        for receiver in receivers {
            if !self.posts.iter().any(|post| post.receiver == *receiver) {
                self.open(receiver);
            }
        }
    }
    /// Has it told to those it is for. Nothing waits: a queue that is full loses its oldest, and says so.
    pub fn tell(&self, transition: &Transition) {
        let notice = Notice::from(transition);
        for post in self.posts.iter().filter(|post| transition.to.contains(&post.receiver.name)) {
            self.push(post, notice.clone());
        }
    }
    /// What was raised before the start and still is: for those who must be reminded of it.
    pub fn remind(&self, standing: &[Transition]) {
        for transition in standing {
            let meant = |post: &&Post| post.is_reminded && transition.to.contains(&post.receiver.name);
            self.posts.iter().filter(meant).for_each(|post| self.push(post, Notice::from(transition)));
        }
    }
    fn push(&self, post: &Post, notice: Notice) {
        if !post.shared.push(notice) {
            let (name, way) = (&post.receiver.name, post.receiver.route.name());
            let text = format!(
                "receiver {name} ({way}): {MOST_WAITING} notices wait for it, the oldest was dropped"
            );
            let _ = self.reports.send(Report { at: now(), text, is_trouble: true });
        }
    }
    /// What happened since this was last asked.
    pub fn reports(&self) -> Vec<Report> {
        self.told.try_iter().collect()
    }
    /// Ends. What was not delivered within some seconds stays in the outboxes.
    #[must_use]
    pub fn stop(self) -> Vec<Report> {
        end(&self.posts);
        self.told.try_iter().collect()
    }
}

fn end(posts: &[Post]) {
    posts.iter().for_each(|post| post.shared.end());
    let until = Instant::now() + FAREWELL;
    posts.iter().for_each(|post| post.shared.wait(until));
}

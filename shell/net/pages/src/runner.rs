//! The thread that drives the channels of all pages.
use crate::channel::{Channel, ChannelOutput, Identity};
use crate::offer::{MAX_OFFER_BYTES, reachable};
use crate::results::{Judge, Judged, Outcome, site_policy};
use crate::test::lock;
use crate::{Begin, HAS_SITE, Test, TestId};
use fathom_browser::{Settings, Transport};
use fathom_os::clock::Clock;
use fathom_os::datagram::send_from;
use fathom_os::fd::AsFd;
use fathom_os::sched::raise_priority;
use fathom_units::{Bytes, Duration, Time};
use socket2::Socket;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Results that are kept. With its report, one has about 1 MB.
const MAX_TESTS: usize = 100;
/// Results are kept for a day.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);
/// Devices that are listed.
const MAX_DEVICES: usize = 50;
/// Datagrams that wait for the thread. More are dropped, as in a full socket buffer.
const INBOX: usize = 1024;
/// A page whose channel has not opened after this time has another way, or is gone.
const OPEN_WITHIN: Duration = Duration::from_secs(20);
/// The last message is repeated, because it may be lost.
const LAST_MESSAGES: u32 = 10;
const LAST_EVERY: Duration = Duration::from_millis(100);
/// Interval of checks for tests that never start.
const EXPIRE_EVERY: Duration = Duration::from_secs(1);
/// Interval of checks whether the server stops.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Why a page gets no test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PagesError {
    /// What is wrong with its request.
    Offer(String),
    /// The server cannot make one now.
    Host(String),
}

impl fmt::Display for PagesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PagesError::Offer(why) => write!(f, "invalid offer: {why}"),
            PagesError::Host(why) => f.write_str(why),
        }
    }
}
impl std::error::Error for PagesError {}

/// All tests of pages.
#[derive(Debug)]
pub struct Pages {
    clock: Clock,
    port: u16,
    patience: Duration,
    max_bytes: Bytes,
    version: String,
    identity: Option<Identity>,
    judge: Arc<dyn Judge>,
    tests: Mutex<Kept>,
    outbox: SyncSender<Input>,
}

#[derive(Default, Debug)]
struct Kept {
    by_id: HashMap<TestId, Arc<Test>>,
    /// The oldest first.
    order: std::collections::VecDeque<TestId>,
}

impl Kept {
    /// Forgets tests that have not started in time, so that requests alone push out no results.
    fn forget_unstarted(&mut self, now: Time) {
        self.by_id.retain(|_, test| !test.has_expired(now, OPEN_WITHIN));
        let by_id = &self.by_id;
        self.order.retain(|id| by_id.contains_key(id));
    }
}

/// What the thread receives.
enum Input {
    Begin(Arc<Test>, Box<Channel>),
    Datagram { bytes: Vec<u8>, from: SocketAddr, to: Option<SocketAddr>, at: Time },
}

/// Receives for [`Pages::run`].
pub struct Inbox(Receiver<Input>);

impl Pages {
    /// Tests on the UDP port `port`, of which each moves at most `max_bytes`.
    #[must_use]
    pub fn new(
        clock: Clock,
        port: u16,
        (max_bytes, patience): (Bytes, Duration),
        judge: Arc<dyn Judge>,
        version: &str,
    ) -> (Self, Inbox) {
        let (outbox, inbox) = sync_channel(INBOX);
        let (tests, identity, version) = (Mutex::default(), Identity::new(), version.to_owned());
        (Pages { clock, port, patience, max_bytes, version, identity, judge, tests, outbox }, Inbox(inbox))
    }
    /// Creates a test; returns it with the answer to its offer, if it made one.
    ///
    /// # Errors
    /// Why there is none.
    pub fn begin(&self, begin: Begin<'_>) -> Result<(Arc<Test>, Option<String>), PagesError> {
        let id = TestId::new().map_err(|error| PagesError::Host(error.to_string()))?;
        let max_bytes = begin.max_bytes.map_or(self.max_bytes, |most| most.min(self.max_bytes));
        let settings = Settings { max_bytes, patience: self.patience };
        let (offer, host, local) = (begin.offer, begin.host, begin.local);
        if offer.len() > MAX_OFFER_BYTES {
            let length = offer.len();
            return Err(PagesError::Offer(format!("{length} bytes (at most {MAX_OFFER_BYTES})")));
        }
        let answered = match (&self.identity, offer) {
            // Without an answer, the page uses a WebSocket.
            (_, "") | (None, _) => None,
            (Some(identity), _) => {
                let reachable = reachable(local, host, self.port);
                let answered = Channel::answer(identity, offer, &reachable, Instant::now());
                Some(answered.map_err(PagesError::Offer)?)
            }
        };
        let test = Arc::new(Test::new(id, begin, settings, &self.version, self.clock.now()));
        self.keep(Arc::clone(&test));
        let answer = answered.map(|(channel, answer)| {
            // If the thread is behind by so much, the page finds another way.
            let _ = self.outbox.try_send(Input::Begin(Arc::clone(&test), Box::new(channel)));
            answer
        });
        Ok((test, answer))
    }
    fn keep(&self, test: Arc<Test>) {
        let mut kept = lock(&self.tests);
        kept.order.push_back(test.id());
        kept.by_id.insert(test.id(), test);
        let now = self.clock.now();
        let is_old = |all: &Kept| {
            let oldest = all.order.front().and_then(|id| all.by_id.get(id));
            oldest.is_some_and(|oldest| now.saturating_since(oldest.created()) > KEPT_FOR)
        };
        while kept.order.len() > MAX_TESTS || is_old(&kept) {
            let oldest = kept.order.pop_front();
            oldest.and_then(|id| kept.by_id.remove(&id));
        }
    }
    /// A test.
    #[must_use]
    pub fn test(&self, id: TestId) -> Option<Arc<Test>> {
        lock(&self.tests).by_id.get(&id).cloned()
    }
    /// Keeps the result of a test, and shows it to everybody with this name.
    pub fn publish(&self, test: &Test, name: &str) {
        if let Some(run) = test.run().filter(|_| test.publish(name)) {
            self.judge.keep(test.id(), run);
        }
    }
    /// What a browser allows the pages of `ui/src/site`.
    #[must_use]
    pub fn site_policy(&self) -> String {
        site_policy(self.judge.scripts())
    }
    /// As JSON: `keeps`, whether results are kept for longer; `has_site`, whether there are pages
    /// that analyze captures and simulate lines; and `devices`, those that tested in the last day
    /// and whose users agreed that everybody sees it: `name` and `result`, the latest first.
    #[must_use]
    pub fn devices(&self) -> String {
        let now = self.clock.now();
        let tests: Vec<Arc<Test>> = {
            let kept = lock(&self.tests);
            kept.order.iter().rev().filter_map(|id| kept.by_id.get(id).cloned()).collect()
        };
        let is_recent = |test: &&Arc<Test>| now.saturating_since(test.created()) < KEPT_FOR;
        let shown = tests.iter().filter(is_recent).filter_map(|test| {
            let name = serde_json::to_string(&test.name()?).ok()?;
            let result = &self.judged(test)?.brief;
            Some(format!("{{\"name\":{name},\"result\":{result}}}"))
        });
        let shown = shown.take(MAX_DEVICES).collect::<Vec<_>>().join(",");
        let (keeps, has_site) = (self.judge.keeps(), HAS_SITE);
        format!("{{\"keeps\":{keeps},\"has_site\":{has_site},\"devices\":[{shown}]}}")
    }
    /// What is known of a test, which may have been kept by an earlier server. `None` if nothing.
    #[must_use]
    pub fn outcome(&self, id: TestId) -> Option<Outcome> {
        match self.test(id) {
            None => Some(Outcome::Over(Box::new(self.judge.judge(&self.judge.kept(id)?)))),
            Some(test) => Some(match self.judged(&test) {
                None => Outcome::Running,
                Some(judged) => Outcome::Over(Box::new(judged.clone())),
            }),
        }
    }
    /// What the run of a test shows, when it has ended.
    fn judged<'a>(&self, test: &'a Test) -> Option<&'a Judged> {
        test.judged(self.judge.as_ref())
    }
    /// Takes a datagram that arrived on the UDP port, if it may be of a page (RFC 7983: STUN and
    /// DTLS); returns whether it was taken.
    pub fn take(&self, bytes: &[u8], from: SocketAddr, to: Option<SocketAddr>, at: Time) -> bool {
        let is_of_pages = matches!(bytes.first(), Some(0..=3 | 20..=63));
        if is_of_pages {
            let _ = self.outbox.try_send(Input::Datagram { bytes: bytes.to_vec(), from, to, at });
        }
        is_of_pages
    }
    /// Drives the channels until the server stops. Datagrams leave through one of `sockets`.
    pub fn run(&self, inbox: &Inbox, sockets: &[Socket], has_stopped: &dyn Fn() -> bool) {
        // Without the privilege, probes leave slightly later; their times are recorded.
        let _ = raise_priority();
        let mut runner = Runner { clock: self.clock, sockets, links: Vec::new(), of_address: HashMap::new() };
        let mut look = Time::ZERO;
        while !has_stopped() {
            let now = self.clock.now();
            if now >= look {
                look = now + EXPIRE_EVERY;
                lock(&self.tests).forget_unstarted(now);
            }
            let wait = runner.wait(now, Instant::now());
            match inbox.0.recv_timeout(std::time::Duration::from_nanos(wait.as_nanos())) {
                Ok(Input::Begin(test, channel)) => runner.begin(test, *channel),
                Ok(Input::Datagram { bytes, from, to, at }) => runner.take(&bytes, (from, to), at),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            runner.step();
        }
    }
}

struct Runner<'a> {
    clock: Clock,
    sockets: &'a [Socket],
    links: Vec<Link>,
    /// Which link a page at this address has.
    of_address: HashMap<SocketAddr, TestId>,
}

/// A page and its channel.
struct Link {
    test: Arc<Test>,
    channel: Channel,
    since: Time,
    /// The address of the server that the page uses.
    source: Option<SocketAddr>,
    wake: Instant,
    due: Time,
    /// Number of the probe that has not left.
    waiting: Option<u32>,
    last_messages: u32,
}

impl Runner<'_> {
    fn begin(&mut self, test: Arc<Test>, channel: Channel) {
        let (since, wake) = (self.clock.now(), Instant::now());
        self.links.push(Link {
            test,
            channel,
            since,
            source: None,
            wake,
            due: Time::MAX,
            waiting: None,
            last_messages: 0,
        });
    }
    fn wait(&self, now: Time, instant: Instant) -> Duration {
        let of_channels = self.links.iter().map(|link| link.wake.saturating_duration_since(instant));
        let of_channels = of_channels.min().map_or(LOOK_EVERY, |d| Duration::from_secs_f64(d.as_secs_f64()));
        let of_tests = self.links.iter().map(|link| link.due.saturating_since(now)).min();
        LOOK_EVERY.min(of_channels).min(of_tests.unwrap_or(LOOK_EVERY))
    }
    fn take(&mut self, bytes: &[u8], (from, to): (SocketAddr, Option<SocketAddr>), at: Time) {
        let instant = Instant::now();
        let known = self.of_address.get(&from).copied();
        let link = match known {
            Some(id) => self.links.iter_mut().find(|link| link.test.id() == id),
            None => self.links.iter_mut().find(|link| link.channel.accepts(bytes, from, instant)),
        };
        let Some(link) = link else { return };
        if known.is_none() {
            self.of_address.insert(from, link.test.id());
        }
        link.source = to.or(link.source);
        let output = link.channel.take(bytes, from, instant);
        for message in &output.messages {
            link.test.take(message, at);
        }
        link.send(output, (self.clock, self.sockets));
    }
    /// Does what is due, and removes links that have ended.
    fn step(&mut self) {
        let (instant, now) = (Instant::now(), self.clock.now());
        for link in &mut self.links {
            if instant >= link.wake {
                let output = link.channel.tick(instant);
                link.send(output, (self.clock, self.sockets));
            }
            link.advance(now, (self.clock, self.sockets));
        }
        let before = self.links.len();
        self.links.retain(|link| !link.has_ended(now));
        if self.links.len() < before {
            let open: Vec<TestId> = self.links.iter().map(|link| link.test.id()).collect();
            self.of_address.retain(|_, id| open.contains(id));
        }
    }
}

impl Link {
    fn send(&mut self, output: ChannelOutput, (clock, sockets): (Clock, &[Socket])) {
        self.wake = output.wake.unwrap_or(self.wake);
        if let Some(sequence) = self.waiting.filter(|_| output.has_message_left) {
            self.test.departed(sequence, clock.now());
            self.waiting = None;
        }
        for (bytes, to) in output.datagrams {
            let is_same = |socket: &&Socket| {
                let local = socket.local_addr().ok().and_then(|local| local.as_socket());
                local.is_some_and(|local| local.is_ipv4() == to.is_ipv4())
            };
            let Some(socket) = sockets.iter().find(is_same) else { continue };
            // What cannot be sent is lost, and sent again if it matters.
            let _ = match self.source.filter(|source| source.is_ipv4() == to.is_ipv4()) {
                Some(source) => send_from(socket.as_fd(), &bytes, source, to, 0),
                None => socket.send_to(&bytes, &to.into()),
            };
        }
    }
    /// Sends the probe that is due.
    fn advance(&mut self, now: Time, out: (Clock, &[Socket])) {
        if self.channel.is_open() && self.due == Time::MAX && !self.test.open(Transport::DataChannel, now) {
            self.last_messages = LAST_MESSAGES;
        }
        if !self.channel.is_open() || (self.due != Time::MAX && now < self.due) {
            return;
        }
        let Some(wake) = self.test.advance(now) else { return self.announce_end(now, out) };
        self.due = wake;
        if self.channel.is_ready() {
            if let Some((sequence, message)) = self.test.probe(now) {
                self.waiting = Some(sequence);
                let output = self.channel.write(&message);
                self.send(output, out);
            }
        } else {
            self.test.withhold(now);
        }
        self.due = self.test.advance(now).unwrap_or(now);
    }
    /// Says that the test is over.
    fn announce_end(&mut self, now: Time, out: (Clock, &[Socket])) {
        self.due = now + LAST_EVERY;
        self.last_messages += 1;
        if let Some(message) = self.test.last_message().filter(|_| self.channel.is_ready()) {
            let output = self.channel.write(&message);
            self.send(output, out);
        }
    }
    fn has_ended(&self, now: Time) -> bool {
        if self.last_messages >= LAST_MESSAGES {
            return true;
        }
        let is_late = !self.channel.is_open() && now.saturating_since(self.since) > OPEN_WITHIN;
        let is_gone = self.channel.has_ended();
        if is_gone {
            self.test.leave(now);
        }
        is_late || is_gone
    }
}

//! A test of a page: what the probes, the load and the requests of the page share.
use crate::flow::{Flow, FlowState};
use crate::results::{Judge, Judged};
use fathom_browser::{About, BrowserTest, ECHO_BYTES, Echo, PROBE_BYTES, Settings, Transport};
use fathom_load::Sender;
use fathom_os::clock::wall_now;
use fathom_run::{Interruption, Run};
use fathom_units::{Bytes, Direction, Duration, Time};
use socket2::Socket;
use std::any::Any;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Interval of byte counts, and of the states of senders.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// Longest name of a device, in characters.
const MAX_NAME: usize = 40;

/// Identifies a test. Anyone who knows it may read its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TestId(u128);

impl TestId {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        Ok(TestId(u128::from_be_bytes(id)))
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for TestId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let is_hex = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u128::from_str_radix(text, 16).ok().filter(|_| is_hex).map(TestId).ok_or(())
    }
}

/// What a page asks for.
pub struct Begin<'a> {
    /// Its offer of a data channel (SDP), or nothing if it has none.
    pub offer: &'a str,
    /// The server, as the page calls it: a name or an address, with a port.
    pub host: &'a str,
    /// The browser, as it names itself.
    pub browser: &'a str,
    /// Its address.
    pub client: IpAddr,
    /// The address of the server to which it has connected.
    pub local: SocketAddr,
    /// Most bytes of load, if the user limits them.
    pub max_bytes: Option<Bytes>,
    /// Is dropped at the end of the test.
    pub hold: Box<dyn Any + Send>,
}

/// A test of a page.
pub struct Test {
    pub(crate) id: TestId,
    pub(crate) client: IpAddr,
    settings: Settings,
    created: Time,
    about: Mutex<About>,
    machine: Mutex<Option<BrowserTest>>,
    flows: Mutex<Vec<Arc<FlowState>>>,
    /// Grows whenever a phase starts or ends.
    step: AtomicU32,
    sampled: AtomicU64,
    hold: Mutex<Option<Box<dyn Any + Send>>>,
    /// The message that the test is over.
    last_message: OnceLock<[u8; PROBE_BYTES]>,
    run: OnceLock<Run>,
    judged: OnceLock<Judged>,
    /// Name of the device, if everybody may see the result.
    name: Mutex<Option<String>>,
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Test").field("id", &self.id).field("client", &self.client).finish_non_exhaustive()
    }
}

impl Test {
    pub(crate) fn new(id: TestId, begin: Begin<'_>, settings: Settings, version: &str, now: Time) -> Test {
        let about = About {
            server: begin.host.into(),
            seen_as: begin.client.to_string(),
            browser: begin.browser.chars().filter(|c| is_shown(*c)).take(256).collect(),
            version: version.into(),
            ..About::default()
        };
        Test {
            id,
            client: begin.client,
            settings,
            created: now,
            about: Mutex::new(about),
            machine: Mutex::default(),
            flows: Mutex::default(),
            step: AtomicU32::new(0),
            sampled: AtomicU64::new(0),
            hold: Mutex::new(Some(begin.hold)),
            last_message: OnceLock::new(),
            run: OnceLock::new(),
            judged: OnceLock::new(),
            name: Mutex::default(),
        }
    }
    /// Its ID.
    #[must_use]
    pub const fn id(&self) -> TestId {
        self.id
    }
    /// Starts the test, when its probes can travel; false if it has started already.
    pub fn open(&self, transport: Transport, now: Time) -> bool {
        let mut machine = lock(&self.machine);
        if machine.is_some() || self.run.get().is_some() {
            return false;
        }
        lock(&self.about).started = wall_now().to_string();
        *machine = Some(BrowserTest::new(self.settings, transport, now));
        true
    }
    /// What happens at `now`; returns when to call again, or `None` if the test is over.
    pub fn advance(&self, now: Time) -> Option<Time> {
        let mut guard = lock(&self.machine);
        let machine = guard.as_mut()?;
        if now.as_nanos() >= self.sampled.load(Relaxed) {
            self.sampled.store((now + SAMPLE_EVERY).as_nanos(), Relaxed);
            self.sample(machine, now);
        }
        let before = machine.stage();
        machine.poll(now);
        if machine.stage() != before {
            self.step.fetch_add(1, Relaxed);
        }
        if machine.is_over() {
            self.finish(&mut guard, now);
            return None;
        }
        Some(machine.wake())
    }
    fn finish(&self, machine: &mut Option<BrowserTest>, now: Time) {
        let Some(machine) = machine.take() else { return };
        let _ = self.last_message.set(machine.last_message(now).encode());
        let _ = self.run.set(machine.into_run(lock(&self.about).clone(), now));
        *lock(&self.hold) = None;
    }
    fn sample(&self, machine: &mut BrowserTest, now: Time) {
        let flows = lock(&self.flows).clone();
        let of = |direction| flows.iter().filter(move |flow| flow.direction == direction);
        let uploads: Vec<_> = of(Direction::Up).map(|f| (f.number, f.received.load(Relaxed))).collect();
        if !uploads.is_empty() {
            machine.count_uploads(uploads.into_iter(), now);
        }
        let senders: Vec<(u32, Sender)> =
            of(Direction::Down).filter_map(|f| Some((f.number, f.sender()?))).collect();
        let used = of(Direction::Down).find_map(|f| f.congestion_control()).unwrap_or_default();
        machine.take_senders(&senders, &used, now);
    }
    /// The probe that is due, with its number.
    pub fn probe(&self, now: Time) -> Option<(u32, [u8; PROBE_BYTES])> {
        let probe = lock(&self.machine).as_mut()?.probe(now)?;
        Some((probe.sequence, probe.encode()))
    }
    /// The message that the test is over, when it is.
    #[must_use]
    pub fn last_message(&self) -> Option<[u8; PROBE_BYTES]> {
        self.last_message.get().copied()
    }
    /// Records when a probe left.
    pub fn departed(&self, sequence: u32, at: Time) {
        if let Some(machine) = lock(&self.machine).as_mut() {
            machine.departed(sequence, at);
        }
    }
    /// Records that the probe that is due was not sent, because earlier ones wait in the channel.
    pub fn withhold(&self, now: Time) {
        if let Some(machine) = lock(&self.machine).as_mut() {
            machine.withhold(now);
        }
    }
    /// Takes an answer of the page that arrived at `at`. Other messages are ignored.
    pub fn take(&self, message: &[u8; ECHO_BYTES], at: Time) {
        if let (Some(echo), Some(machine)) = (Echo::decode(message), lock(&self.machine).as_mut()) {
            machine.take_echo(&echo, at);
        }
    }
    /// Ends the test early because the page left, if it has started and is not over.
    pub fn leave(&self, now: Time) {
        let mut guard = lock(&self.machine);
        let Some(machine) = guard.as_mut() else { return };
        machine.interrupt(Interruption::Stopped, now);
        self.step.fetch_add(1, Relaxed);
        self.finish(&mut guard, now);
    }
    /// Whether it has not started `within` this time.
    pub(crate) fn has_expired(&self, now: Time, within: Duration) -> bool {
        let is_late = now.saturating_since(self.created) > within;
        is_late && lock(&self.machine).is_none() && self.run.get().is_none()
    }
    /// Whether it has ended, so that it has a run.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        self.run.get()
    }
    /// What its run shows, when it has ended.
    pub fn judged(&self, judge: &dyn Judge) -> Option<&Judged> {
        let run = self.run.get()?;
        Some(self.judged.get_or_init(|| judge.judge(run)))
    }
    /// Shows the result to everybody, with a name of the device; returns whether it was hidden.
    pub(crate) fn publish(&self, name: &str) -> bool {
        let name: String = name.trim().chars().filter(|c| is_shown(*c)).take(MAX_NAME).collect();
        lock(&self.name).replace(name).is_none()
    }
    /// The name, if everybody may see the result.
    pub(crate) fn name(&self) -> Option<String> {
        lock(&self.name).clone()
    }
    /// When the page asked for it.
    pub(crate) const fn created(&self) -> Time {
        self.created
    }
    pub(crate) fn step(&self) -> u32 {
        self.step.load(Relaxed)
    }
    /// Opens a transfer; `None` if the current phase has none in this direction. `socket` is that
    /// of the connection.
    pub fn open_flow(self: &Arc<Self>, direction: Direction, socket: Option<Socket>) -> Option<Flow> {
        let mut guard = lock(&self.machine);
        let number = guard.as_mut()?.open_flow(direction)?;
        let state = Arc::new(FlowState::new(number, direction, socket));
        lock(&self.flows).push(Arc::clone(&state));
        Some(Flow::new(Arc::clone(self), state, self.step()))
    }
    pub(crate) fn close_flow(&self, state: &Arc<FlowState>) {
        lock(&self.flows).retain(|flow| !Arc::ptr_eq(flow, state));
    }
}

/// Whether a character neither controls nor reorders others.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A panic of another thread leaves numbers at most.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_32_digits() {
        let id = TestId(0xab);
        assert_eq!(id.to_string(), "000000000000000000000000000000ab");
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in ["", "ab", "+00000000000000000000000000000ab", "0000000000000000000000000000000g"] {
            assert_eq!(wrong.parse::<TestId>(), Err(()), "{wrong}");
        }
    }
}

//! A server of ours: its sessions end after a time, and the next one begins before that.
use super::asked::Asked;
use super::{RETRY_AFTER, Reflection};
use crate::control::Control;
use crate::resolve::{Limits, resolve};
use crate::{TestConfig, TestError};
use fathom_os::clock::Clock;
use fathom_units::{Duration, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// The share of a session's time after which the next one is opened.
const RENEW_AT: f64 = 0.9;
/// No server is asked for sessions more often than this.
const PAUSE: Duration = Duration::from_secs(1);
/// What the server tells of load flows, of which there are none, is asked for as seldom as it can be.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// An open session.
struct Session {
    asked: Asked,
    renew_at: Time,
    /// The server closed it.
    gone: Arc<AtomicBool>,
    /// Ends the thread that reads what it says.
    finish: Arc<AtomicBool>,
    _control: Control,
}

type Opened = Result<Session, TestError>;

/// The server, with the session in use and the next one.
pub(super) struct Server {
    config: TestConfig,
    session: Option<Session>,
    opening: Option<Receiver<Opened>>,
    retry_at: Time,
    due: Time,
    number: u16,
    problem: Option<String>,
}

impl Server {
    pub(super) fn open(config: &TestConfig, stop: &AtomicBool) -> Result<Server, TestError> {
        let config = TestConfig { tcp_info_every: REPORT_EVERY, ..config.clone() };
        let session = open(&config, stop)?;
        Ok(Server {
            config,
            session: Some(session),
            opening: None,
            retry_at: Time::ZERO,
            due: Time::ZERO,
            number: 0,
            problem: None,
        })
    }
    pub(super) fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.session.iter().map(|session| &session.asked)
    }
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref().filter(|_| self.session.is_none())
    }
    /// Asks if it is time, keeps a session open, and says when to come again.
    pub(super) fn ask(&mut self, now: Time, clock: Clock, every: Duration) -> Time {
        self.tend(now);
        // It may have become busier since the last question.
        self.due = self.due.min(now + every);
        if now >= self.due {
            self.due = now + every;
            let failed = self.session.as_mut().and_then(|session| session.asked.ask(clock).err());
            if let Some(words) = failed {
                self.lose(words);
            }
        }
        self.due
    }
    pub(super) fn take(&mut self, clock: Clock, found: &mut Vec<Reflection>) {
        let host = self.number;
        if let Some(session) = &mut self.session {
            session.asked.take(clock, |delay| found.push(Reflection { host, delay }));
        }
    }

    fn tend(&mut self, now: Time) {
        if self.session.as_ref().is_some_and(|session| session.gone.load(Ordering::Relaxed)) {
            self.lose("it closed the session".to_owned());
        }
        match self.opening.as_ref().map(Receiver::try_recv) {
            Some(Ok(opened)) => self.opened(opened, now),
            Some(Err(TryRecvError::Disconnected)) => self.opening = None,
            Some(Err(TryRecvError::Empty)) => {}
            None => {
                let is_wanted = self.session.as_ref().is_none_or(|session| now >= session.renew_at);
                if is_wanted && now >= self.retry_at {
                    self.begin(now);
                }
            }
        }
    }
    /// Opens a session in a thread: a dead server or name server holds nothing up.
    fn begin(&mut self, now: Time) {
        self.retry_at = now + RETRY_AFTER;
        let (tell, told) = channel();
        let config = self.config.clone();
        // Nobody waits for it any more if that fails.
        std::thread::spawn(move || drop(tell.send(open(&config, &AtomicBool::new(false)))));
        self.opening = Some(told);
    }
    fn opened(&mut self, opened: Opened, now: Time) {
        self.opening = None;
        match opened {
            Ok(session) => {
                if self.session.is_none() {
                    // It may have been started again, and its clock with it.
                    self.number = (self.number + 1) % super::FIRST_ECHO;
                }
                self.session = Some(session);
                self.retry_at = now + PAUSE;
            }
            Err(error) => {
                self.problem = Some(error.to_string());
                self.retry_at = now + RETRY_AFTER;
            }
        }
    }
    fn lose(&mut self, words: String) {
        self.session = None;
        self.problem = Some(words);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.finish.store(true, Ordering::Relaxed);
    }
}

fn open(config: &TestConfig, stop: &AtomicBool) -> Opened {
    let addresses = resolve(&config.server, config.family)?;
    let limits = Limits { stop, clock: config.clock, patience: config.patience };
    let mut control = Control::open(config, &addresses, &limits)?;
    let asked = Asked::by_udp(control.address, control.hello.session)
        .map_err(|words| TestError::Host(format!("UDP socket: {words}")))?;
    let (gone, finish) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let is_gone = Arc::clone(&gone);
    // What it says does not matter; that it is read does, or the server takes this end for dead.
    let _ = control.listen(Arc::clone(&finish), move |said| {
        if said.is_err() {
            is_gone.store(true, Ordering::Relaxed);
        }
    });
    let time = Duration::from_secs(control.hello.limits.seconds).as_secs_f64() * RENEW_AT;
    let renew_at = config.clock.now() + Duration::from_secs_f64(time);
    Ok(Session { asked, renew_at, gone, finish, _control: control })
}

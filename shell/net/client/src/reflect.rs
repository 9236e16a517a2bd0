//! Hosts that are asked, again and again and for as long as somebody wants to know, how long packets take now.
//!
//! A departure is when a packet left this host's queue and an arrival when it came to this host, both by the kernel: what is told is the
//! delay beyond our own queue.
mod asked;
mod server;

use crate::TestError;
use crate::resolve::LOOK_EVERY;
use asked::Asked;
use fathom_os::clock::{Clock, wall_now};
use fathom_os::poll::{self, PollFd};
use fathom_units::{Duration, Time};
use server::Server;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

/// A server is asked so often under load, and when nothing is sent.
const SERVER_EVERY: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];
/// Others are asked less, as they are somebody else's: cake-autorate's interval, and one that is still within what counts as an answer.
const ECHO_EVERY: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(500)];
/// A host that could not be asked is tried again after this.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Questions to a host's clock without an answer, until it is asked by echo too.
const LATE_QUESTIONS: u32 = 4;
/// And until a clock that never answered is asked no more.
const VAIN_QUESTIONS: u32 = 10;
/// Clocks are asked if so many answer, or all.
const ENOUGH_CLOCKS: usize = 3;
/// Hosts that are asked by ICMP have numbers from here on, servers those below: a server that comes back has a new one, as its clock
/// began anew.
const FIRST_ECHO: u16 = 0x8000;

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reflection {
    /// Whose: the same number is the same host, by the same clock.
    pub host: u16,
    /// What it told.
    pub delay: ReflectedDelay,
}

/// What an answer tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReflectedDelay {
    /// Up and down in ns, by two clocks whose offset is not known: only changes count.
    OneWay([i64; 2]),
    /// Both ways together.
    RoundTrip(Duration),
}

/// Who is asked.
#[derive(Clone, Debug)]
pub struct ReflectConfig {
    /// A server of ours, with its token and family; phases and probes do not matter.
    pub server: Option<crate::TestConfig>,
    /// Any hosts that answer ICMP timestamps or echo.
    pub hosts: Vec<IpAddr>,
    /// Times are on it.
    pub clock: Clock,
}

/// All that are asked.
pub struct Reflectors {
    clock: Clock,
    server: Option<Server>,
    echoes: Vec<Echo>,
}

/// A host that is asked by ICMP: by its clock, which tells each way, or else by echo.
struct Echo {
    host: IpAddr,
    number: u16,
    asked: Option<Asked>,
    timed: Option<Timed>,
    due: Time,
}

/// A host's clock.
struct Timed {
    asked: Asked,
    has_answered: bool,
    /// Questions since the last answer.
    silent: u32,
}

impl Reflectors {
    /// Opens a session with the server, and a socket for each host.
    ///
    /// # Errors
    /// If the server gives no session now, or ICMP is not permitted.
    pub fn open(config: &ReflectConfig, stop: &AtomicBool) -> Result<Reflectors, TestError> {
        let server = config.server.as_ref().map(|one| Server::open(one, stop)).transpose()?;
        let now = config.clock.now();
        let mut echoes = Vec::new();
        for (number, host) in (FIRST_ECHO..).zip(&config.hosts) {
            let asked = Asked::by_echo(*host, token(number));
            let asked = asked.map_err(|words| {
                TestError::Host(format!("reflector {host}: {words}\n  try: a host that answers ping"))
            })?;
            // Not all at once.
            let wait = ECHO_EVERY[0] * u64::from(number - FIRST_ECHO) / config.hosts.len() as u64;
            let timed = Timed::open(*host, number, config.clock);
            echoes.push(Echo { host: *host, number, asked: Some(asked), timed, due: now + wait });
        }
        Ok(Reflectors { clock: config.clock, server, echoes })
    }
    /// Asks, and takes answers, until a time; seldom if the line is quiet.
    pub fn gather(&mut self, until: Time, is_quiet: bool) -> Vec<Reflection> {
        let mut found = Vec::new();
        loop {
            let now = self.clock.now();
            let next = self.ask(now, usize::from(is_quiet));
            let wait = next.min(until).saturating_since(now).min(LOOK_EVERY);
            let ready = {
                let mut fds: Vec<PollFd<'_>> = self.sockets().collect();
                // A wait that failed was a short one.
                poll::wait(&mut fds, Some(wait)).unwrap_or(0)
            };
            if ready > 0 {
                self.take(&mut found);
            }
            if self.clock.now() >= until {
                return found;
            }
        }
    }
    /// Why the server is not asked now, if it is not.
    pub fn problem(&self) -> Option<&str> {
        self.server.as_ref().and_then(Server::problem)
    }

    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        let echoes = self.echoes.iter().flat_map(Echo::sockets);
        self.server.iter().flat_map(Server::interests).chain(echoes.map(Asked::interest))
    }
    /// Asks whoever it is time for, and says when the next one is to be asked.
    fn ask(&mut self, now: Time, pace: usize) -> Time {
        let mut next = now + LOOK_EVERY;
        if let Some(server) = &mut self.server {
            next = next.min(server.ask(now, self.clock, SERVER_EVERY[pace]));
        }
        for echo in &mut self.echoes {
            echo.ask(now, self.clock, ECHO_EVERY[pace]);
            next = next.min(echo.due);
        }
        self.leave_few_clocks();
        next
    }
    /// What a clock says goes before round trips: one or two of them alone could not be outvoted.
    fn leave_few_clocks(&mut self) {
        let clocks = self.echoes.iter().filter(|echo| echo.timed.is_some()).count();
        if clocks < ENOUGH_CLOCKS.min(self.echoes.len()) {
            self.echoes.iter_mut().for_each(|echo| echo.timed = None);
        }
    }
    fn take(&mut self, found: &mut Vec<Reflection>) {
        let clock = self.clock;
        if let Some(server) = &mut self.server {
            server.take(clock, found);
        }
        for Echo { number, asked, timed, .. } in &mut self.echoes {
            let mut tell = |delay| found.push(Reflection { host: *number, delay });
            if let Some(asked) = asked {
                asked.take(clock, &mut tell);
            }
            if let Some(timed) = timed {
                timed.take(clock, &mut tell);
            }
        }
    }
}

impl Echo {
    fn sockets(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().chain(self.timed.as_ref().map(|timed| &timed.asked))
    }
    fn ask(&mut self, now: Time, clock: Clock, every: Duration) {
        if now < self.due {
            return;
        }
        self.due = now + every;
        if self.timed.as_mut().is_some_and(|timed| timed.ask(clock)) {
            return;
        }
        if self.timed.as_ref().is_some_and(Timed::is_in_vain) {
            self.timed = None;
        }
        let sent = match &mut self.asked {
            Some(asked) => asked.ask(clock),
            None => Asked::by_echo(self.host, token(self.number)).map(|asked| self.asked = Some(asked)),
        };
        if sent.is_err() {
            self.asked = None;
            self.due = now + RETRY_AFTER;
        }
    }
}

impl Timed {
    /// Nothing where there is no such question: in IPv6, and without CAP_NET_RAW.
    fn open(host: IpAddr, number: u16, clock: Clock) -> Option<Timed> {
        let IpAddr::V4(host) = host else { return None };
        let asked = Asked::by_day_clock(host, token(number) as u16, clock).ok()?;
        Some(Timed { asked, has_answered: false, silent: 0 })
    }
    /// True if that is enough: the clock is known to answer, and did lately.
    fn ask(&mut self, clock: Clock) -> bool {
        // One that is not sent is not answered either.
        let _ = self.asked.ask(clock);
        self.silent += 1;
        self.has_answered && self.silent <= LATE_QUESTIONS
    }
    fn take(&mut self, clock: Clock, tell: &mut impl FnMut(ReflectedDelay)) {
        let Timed { asked, has_answered, silent } = self;
        asked.take(clock, |delay| {
            (*has_answered, *silent) = (true, 0);
            tell(delay);
        });
    }
    const fn is_in_vain(&self) -> bool {
        !self.has_answered && self.silent >= VAIN_QUESTIONS
    }
}

/// A number that other programs, and an earlier socket of this one, do not have.
fn token(number: u16) -> u64 {
    wall_now().0 ^ (u64::from(std::process::id()) << 40) ^ u64::from(number)
}

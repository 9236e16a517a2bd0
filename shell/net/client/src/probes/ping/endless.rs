//! A pinger without an end: it uses new addresses, opens sockets again that no longer work, and
//! forgets old probes.
use super::{Refused, Running, session_id};
use crate::ping::{Located, MonitorConfig};
use crate::probes::channel::Target;
use crate::probes::icmp::IcmpProber;
use crate::probes::{ProbeKind, ProbeMachine};
use fathom_probe::{Pace, ProbeSeries, Schedule};
use fathom_run::Metric;
use fathom_units::{Duration, Time};
use std::net::SocketAddr;
use std::sync::mpsc::Receiver;

/// Time between two looks at the targets.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time until a socket that cannot send is opened again.
const REOPENED_AFTER: Duration = Duration::from_secs(10);

/// The addresses of the targets.
pub(super) struct Endless {
    config: MonitorConfig,
    /// New addresses.
    located: Receiver<Located>,
    hosts: Vec<Host>,
    looked: Time,
}

#[derive(Clone, Copy)]
struct Host {
    address: Option<SocketAddr>,
    /// When its socket was opened, or could not be.
    opened: Time,
}

impl Endless {
    pub(super) fn new(config: MonitorConfig, located: Receiver<Located>) -> Self {
        let host = Host { address: None, opened: Time::ZERO };
        Endless { config, located, hosts: vec![host; config.targets as usize], looked: Time::ZERO }
    }
    /// Senders for targets without an address.
    pub(super) fn machines(&self) -> impl Iterator<Item = Box<dyn ProbeMachine>> + use<> {
        (0..self.config.targets).map(|_| Refused::machine(Metric::IcmpRtt, "no address".to_owned()))
    }
    /// The schedule of a watch.
    pub(super) fn schedule(&self, start: Time) -> Schedule {
        let interval = self.config.interval;
        let mut schedule = Schedule::new(self.config.seed);
        let pace = Pace { interval, probes: 1, gap: interval };
        (0..self.config.targets).for_each(|target| schedule.add(target, &pace, start));
        schedule
    }
    pub(super) fn look_after(&mut self, running: &mut [Running], now: Time) {
        for Located { target, address } in self.located.try_iter() {
            if let Some((one, host)) = running.get_mut(target).zip(self.hosts.get_mut(target)) {
                *host = Host { address: address.as_ref().ok().copied(), opened: now };
                *one = open(address);
            }
        }
        if now.saturating_since(self.looked) < LOOK_EVERY {
            return;
        }
        self.looked = now;
        let before = now.saturating_sub(self.config.remembered);
        for (one, host) in running.iter_mut().zip(&mut self.hosts) {
            if let Some(address) = host.address.filter(|_| host.is_stuck(one, before, now)) {
                host.opened = now;
                *one = open(Ok(address));
            }
            one.machine.series().iter_mut().for_each(|series| series.forget_before(before));
            drop(one.machine.take_waits());
        }
    }
}

impl Host {
    /// Whether the socket of a target may be what prevents replies. It has the source address of
    /// the time when it was opened, and a router gets another one from its provider now and then.
    fn is_stuck(&self, one: &mut Running, before: Time, now: Time) -> bool {
        let oldest = one.machine.series().first().and_then(ProbeSeries::oldest_outstanding);
        let is_unanswered = oldest.is_some_and(|sent| sent < before && sent > one.answered);
        is_unanswered || one.is_failing && now.saturating_since(self.opened) >= REOPENED_AFTER
    }
}

/// The sender of ICMP probes to an address.
fn open(address: Result<SocketAddr, String>) -> Running {
    let opened = address.and_then(|address| {
        IcmpProber::open(ProbeKind::Icmp, Target { address, dscp: 0 }, session_id()?)?.with_errors()
    });
    Running::new(match opened {
        Ok(machine) => Box::new(machine),
        Err(reason) => Refused::machine(Metric::IcmpRtt, reason),
    })
}

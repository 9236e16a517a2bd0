//! The thread that emulates the line.
use crate::address;
use crate::batch::Batch;
use crate::capture::{Recorder, Seen};
use crate::network::system;
use crate::router::Routers;
use crate::slice::{BLOCK_BYTES, Buffer, Pool, Slice};
use crate::truth::{Truth, totals};
use crate::{Addresses, LabError, LabReport, Strays};
use fathom_link::Line;
use fathom_os::clock::Clock;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::{Priority, drop_realtime_priority, raise_priority};
use fathom_os::tun::Tun;
use fathom_run::Note;
use fathom_scenario::LinePlan;
use fathom_stats::DelayHistogram;
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Typical wake-up delay: the kernel wakes a thread 20 to 60 us after its deadline. A wait ends
/// this much earlier, and the thread spins for the rest.
const WAKE_UP: Duration = Duration::from_micros(60);
/// Maximum share of time spent spinning, as 1/n. More would take CPU time from the endpoints.
const SPIN_SHARE: u64 = 20;
/// Maximum spinning time that can accumulate.
const SPIN_SAVED: Duration = Duration::from_millis(5);
/// Packets read from one side before the other side and the line get their turn.
const READ_AT_ONCE: usize = 16;
/// Longest wait, so that a stop request is noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// Rates up to this are paced: a packet of 1500 bytes takes 40 us, about as long as a wake-up.
const PACED_UP_TO: Rate = Rate::from_bits_per_second(300_000_000);

/// Controls of a running line.
#[derive(Default, Debug)]
pub(crate) struct Control {
    pub(crate) stop: AtomicBool,
    pub(crate) down: AtomicBool,
}

/// One end of a line.
pub(crate) struct LineEnd {
    pub(crate) tun: Tun,
    pub(crate) addresses: Addresses,
}

/// Parameters of the thread.
pub(crate) struct Setup {
    pub(crate) plan: LinePlan,
    pub(crate) seed: u64,
    pub(crate) clock: Clock,
    pub(crate) sample_interval: Duration,
    /// The sending side per direction: the client sends up, the server down.
    pub(crate) ends: PerDirection<LineEnd>,
    pub(crate) control: Arc<Control>,
    pub(crate) recorder: Option<Recorder>,
}

struct Engine {
    setup: Setup,
    line: Line<Slice>,
    routers: Routers,
    truth: Truth,
    pool: Pool,
    block: Vec<u8>,
    /// Packets that left the line.
    out: PerDirection<Batch>,
    lateness: DelayHistogram,
    strays: Strays,
    spin: SpinBudget,
    diligence: Diligence,
}

/// Runs the line until it is stopped.
pub(crate) fn run(setup: Setup) -> Result<LabReport, LabError> {
    // Some sandboxes forbid this. Then waits end up to 50 us late, which spinning compensates.
    let _ = poll::set_precise_timers();
    let mut engine = Engine::new(setup);
    while !engine.setup.control.stop.load(Ordering::Relaxed) {
        if !engine.turn()? {
            engine.wait()?;
        }
    }
    engine.report()
}

/// Rate of the faster direction, each limited by its slowest link; `None` if nothing limits it.
fn fastest(plan: &LinePlan) -> Option<Rate> {
    let up = plan.hops.iter().filter_map(|hop| hop.up.nominal_rate()).min();
    let down = plan.hops.iter().filter_map(|hop| hop.down.nominal_rate()).min();
    up.zip(down).map(|(up, down)| up.max(down))
}

fn burst_note(plan: &LinePlan) -> Option<Note> {
    let paced_bits_per_second = PACED_UP_TO.as_bits_per_second();
    let is_fast = fastest(plan).is_none_or(|rate| rate > PACED_UP_TO);
    is_fast.then_some(Note::LineBursts { paced_bits_per_second })
}

fn priority_note(given: Priority) -> Option<Note> {
    (given != Priority::RealTime).then(|| Note::LinePriority { priority: given.to_string() })
}

impl Engine {
    fn new(mut setup: Setup) -> Self {
        let pool = Pool::default();
        let hops = setup.plan.hops.len();
        let now = setup.clock.now();
        Engine {
            line: Line::new(&setup.plan.hops, setup.seed),
            routers: Routers::new(
                (0..hops).map(address::router).collect(),
                pool.clone(),
                setup.recorder.take(),
            ),
            truth: Truth::new(&setup.plan, setup.sample_interval, now),
            block: vec![0; BLOCK_BYTES],
            pool,
            out: Default::default(),
            lateness: DelayHistogram::default(),
            strays: Strays::default(),
            spin: SpinBudget { left: Duration::ZERO, since: now },
            diligence: Diligence::start(now),
            setup,
        }
    }

    /// Reads packets and writes those that are due. Returns whether any were read.
    fn turn(&mut self) -> Result<bool, LabError> {
        let came_up = self.take_in(Direction::Up)?;
        let came_down = self.take_in(Direction::Down)?;
        let now = self.setup.clock.now();
        while let Some((direction, packet, due)) = self.line.poll(now, &mut self.routers) {
            self.routers.see_exit(direction, &packet, due);
            self.out[direction].push(&packet, due);
        }
        self.truth.sample(&self.line, &mut self.routers, now);
        self.diligence.review(now);
        self.hand_on();
        Ok(came_up || came_down)
    }

    /// Reads from the side where `direction` starts.
    fn take_in(&mut self, direction: Direction) -> Result<bool, LabError> {
        for count in 0..READ_AT_ONCE {
            let read = self.setup.ends[direction].tun.read(&mut self.block);
            let Some(length) = read.map_err(system("read from the TUN interface"))? else {
                return Ok(count > 0);
            };
            self.enter(direction, length);
        }
        Ok(true)
    }

    /// Puts the packet in the first `length` bytes read onto the line.
    fn enter(&mut self, direction: Direction, length: usize) {
        let now = self.setup.clock.now();
        let Ok(buffer) = Buffer::read(&mut self.block, length, &self.pool) else {
            self.strays.malformed_packets += 1;
            return;
        };
        let other = self.setup.ends[direction.reverse()].addresses;
        if !is_for(other, buffer.destination()) {
            // Not addressed to the other side, such as neighbor discovery.
            return;
        }
        if let Some(recorder) = &mut self.routers.recorder {
            recorder.enters(direction, &buffer, now);
        }
        if self.setup.control.down.load(Ordering::Relaxed) {
            self.strays.while_down_packets += 1;
        } else {
            Slice::all(&buffer).for_each(|slice| self.line.enter(direction, slice, now));
        }
    }

    /// Writes released packets to the receiving side.
    fn hand_on(&mut self) {
        let down = self.setup.control.down.load(Ordering::Relaxed);
        for (direction, batch) in self.out.iter_mut() {
            if down {
                self.strays.while_down_packets += batch.discard();
                continue;
            }
            let to = &self.setup.ends[direction.reverse()].tun;
            let recorder = &mut self.routers.recorder;
            let watch = |seen: &Seen<'_>, now| {
                recorder.iter_mut().for_each(|recorder| recorder.leaves(direction, seen, now))
            };
            self.strays.refused_packets += batch.write(to, self.setup.clock, &mut self.lateness, watch);
        }
    }

    /// Waits for the next packet or the next scheduled event.
    fn wait(&mut self) -> Result<(), LabError> {
        let now = self.setup.clock.now();
        let to_sample = self.truth.next().saturating_since(now).min(LONGEST_WAIT);
        let Some(due) = self.line.next_exit() else { return self.sleep(to_sample).map(|_| ()) };
        let may_spin = self.spin.has(WAKE_UP, now);
        let margin = if may_spin { WAKE_UP } else { Duration::ZERO };
        let timeout = due.saturating_since(now).saturating_sub(margin).min(to_sample);
        let input = timeout > Duration::ZERO && self.sleep(timeout)?;
        if may_spin && !input { self.spin_until(due) } else { Ok(()) }
    }
    /// Sleeps up to `timeout`; returns whether a packet arrived.
    fn sleep(&mut self, timeout: Duration) -> Result<bool, LabError> {
        let begin = self.setup.clock.now();
        let input = self.poll(timeout)?;
        self.diligence.slept += self.setup.clock.now() - begin;
        Ok(input)
    }
    fn poll(&self, timeout: Duration) -> Result<bool, LabError> {
        let ends = &self.setup.ends;
        let mut fds = [&ends.up, &ends.down].map(|end| PollFd::readable(end.tun.as_fd()));
        poll::wait(&mut fds, Some(timeout)).map(|ready| ready > 0).map_err(system("wait for packets"))
    }
    /// If `due` is near, spins until then or until a packet arrives.
    fn spin_until(&mut self, due: Time) -> Result<(), LabError> {
        let begin = self.setup.clock.now();
        let mut now = begin;
        while now < due && due - now <= WAKE_UP && !self.poll(Duration::ZERO)? {
            now = self.setup.clock.now();
        }
        self.spin.spend(now - begin);
        Ok(())
    }

    fn report(mut self) -> Result<LabReport, LabError> {
        let mut notes = self.strays.notes();
        notes.extend(burst_note(&self.setup.plan));
        notes.extend(priority_note(self.diligence.priority));
        let capture = self.routers.recorder.take().map(Recorder::finish).transpose()?;
        Ok(LabReport {
            queues: totals(&self.setup.plan, &self.line),
            series: self.truth.into_series(),
            line_lateness: self.lateness,
            capture,
            strays: self.strays,
            notes,
        })
    }
}

impl Strays {
    fn notes(&self) -> Vec<Note> {
        let all = [
            Note::MalformedPackets { packets: self.malformed_packets },
            Note::RefusedPackets { packets: self.refused_packets },
            Note::LostWhileDown { packets: self.while_down_packets },
        ];
        let counts = [self.malformed_packets, self.refused_packets, self.while_down_packets];
        all.into_iter().zip(counts).filter(|(_, count)| *count > 0).map(|(note, _)| note).collect()
    }
}

fn is_for(side: Addresses, destination: Option<IpAddr>) -> bool {
    match destination {
        Some(IpAddr::V4(v4)) => v4 == side.v4,
        Some(IpAddr::V6(v6)) => Some(v6) == side.v6,
        None => false,
    }
}

/// Limits the time spent spinning.
#[derive(Clone, Copy, Debug)]
struct SpinBudget {
    left: Duration,
    since: Time,
}

impl SpinBudget {
    /// Whether `wanted` can be spent.
    fn has(&mut self, wanted: Duration, now: Time) -> bool {
        let earned = now.saturating_since(self.since) / SPIN_SHARE;
        self.left = (self.left + earned).min(SPIN_SAVED);
        self.since = now;
        self.left >= wanted
    }
    fn spend(&mut self, spun: Duration) {
        self.left = self.left.saturating_sub(spun);
    }
}

/// Keeps real-time priority while the thread sleeps enough. Otherwise the kernel would stop it for
/// 50 ms of each second (`kernel.sched_rt_runtime_us`), and programs on the same CPU would starve.
#[derive(Clone, Copy, Debug)]
struct Diligence {
    /// The priority obtained at the start.
    priority: Priority,
    is_raised: bool,
    since: Time,
    slept: Duration,
}

impl Diligence {
    /// Interval between reviews; short compared with the second over which the kernel counts.
    const INTERVAL: Duration = Duration::from_millis(100);

    fn start(now: Time) -> Self {
        Diligence { priority: raise_priority(), is_raised: true, since: now, slept: Duration::ZERO }
    }
    fn review(&mut self, now: Time) {
        let passed = now.saturating_since(self.since);
        if passed < Self::INTERVAL {
            return;
        }
        let rested = self.slept.as_secs_f64() / passed.as_secs_f64();
        (self.since, self.slept) = (now, Duration::ZERO);
        if self.priority == Priority::RealTime {
            self.follow(rested);
        }
    }
    /// Hysteresis: the two bounds differ so that the priority does not change at each review.
    fn follow(&mut self, rested: f64) {
        if self.is_raised && rested < 0.5 {
            self.is_raised = drop_realtime_priority().is_err();
        } else if !self.is_raised && rested > 0.75 {
            self.is_raised = raise_priority() == Priority::RealTime;
        }
    }
}

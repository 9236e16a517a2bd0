//! Waits for the departure of packets that follow each other more closely than timers are exact.
use crate::clock::Clock;
use fathom_units::{Duration, Time};

/// A thread that sleeps wakes up to this much late, on a busy host more. Timers of Windows and
/// macOS have milliseconds.
const SPIN: Duration = Duration::from_micros(if cfg!(target_os = "linux") { 60 } else { 2_000 });
/// Packets sent without a pause, before the caller must look whether it should stop.
const IN_A_ROW: u32 = 64;

/// Decides when to sleep and when to spin until a departure.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    clock: Clock,
    in_a_row: u32,
}

impl Pacer {
    /// A pacer with this clock.
    #[must_use]
    pub const fn new(clock: Clock) -> Self {
        Pacer { clock, in_a_row: 0 }
    }
    /// How long to wait for other events before the packet that departs at `due`; `None` if there
    /// is no time, and such events can wait.
    pub fn next_wait(&mut self, due: Time) -> Option<Duration> {
        let left = due.saturating_since(self.clock.now()).saturating_sub(SPIN);
        self.in_a_row = if left > Duration::ZERO { 0 } else { self.in_a_row + 1 };
        (left > Duration::ZERO || self.in_a_row.is_multiple_of(IN_A_ROW)).then_some(left)
    }
    /// Waits without sleeping, and returns the time then.
    #[must_use]
    pub fn spin_until(self, due: Time) -> Time {
        loop {
            let now = self.clock.now();
            if now >= due {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

//! How late this program wakes, as a series of its own: a busy host must not look like a bloated line.
use crate::told::{Place, Teller};
use fathom_os::clock::wall_now;
use fathom_units::{Duration, Time};
use fathom_watch_samples::Outcome;

const TELL_EVERY: Duration = Duration::from_secs(1);

/// The largest lateness of each second.
#[derive(Debug)]
pub(crate) struct Pulse {
    place: Place,
    told: Time,
    largest: Option<Duration>,
}

impl Pulse {
    pub(crate) const fn new(place: Place) -> Self {
        Pulse { place, told: Time::ZERO, largest: None }
    }
    /// Notes a wake-up that came so late.
    pub(crate) fn beat(&mut self, late: Duration) {
        self.largest = Some(self.largest.unwrap_or_default().max(late));
    }
    pub(crate) fn tell(&mut self, now: Time, teller: &mut Teller) {
        if now.saturating_since(self.told) < TELL_EVERY {
            return;
        }
        self.told = now;
        if let Some(late) = self.largest.take() {
            teller.sample(self.place, wall_now(), Outcome::Answered(late));
        }
    }
}

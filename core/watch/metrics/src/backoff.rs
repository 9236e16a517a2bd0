//! Pauses between the attempts to send a request.
use fathom_units::{Duration, Rng};

/// The first pause after a failure; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The pauses of one sender. They are spread by a fifth, so that many senders do not return at the
/// same time.
#[derive(Clone, Debug)]
pub struct Backoff {
    next: Duration,
    rng: Rng,
}

impl Backoff {
    /// The pauses after a success.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Backoff { next: FIRST_PAUSE, rng: Rng::new(seed) }
    }
    /// The pause after a failure: `asked` by the receiver, or our own.
    pub fn pause(&mut self, asked: Option<Duration>) -> Duration {
        let share = 0.8 + 0.4 * self.rng.next_f64();
        let spread = Duration::from_secs_f64(self.next.as_secs_f64() * share);
        self.next = (self.next * 2).min(MAX_PAUSE);
        asked.unwrap_or(spread)
    }
    /// Starts again with short pauses.
    pub const fn reset(&mut self) {
        self.next = FIRST_PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let mut backoff = Backoff::new(1);
        for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = backoff.pause(None).as_secs_f64() / f64::from(expected);
            assert!((0.8..=1.2).contains(&pause), "{pause} of {expected} s");
        }
        assert_eq!(backoff.pause(Some(Duration::from_secs(7))), Duration::from_secs(7));
        backoff.reset();
        assert!(backoff.pause(None) <= Duration::from_millis(1_200));
    }
}

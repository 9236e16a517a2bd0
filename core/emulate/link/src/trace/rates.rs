//! Piecewise constant rates.
use super::parse::TraceError;
use alloc::sync::Arc;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate, Time};

/// An amount sent, in units of 1 bit/s times 1 ns: an integer, so nothing is lost to rounding.
pub(crate) type Volume = u128;

pub(crate) fn volume(len: Bytes) -> Volume {
    u128::from(len.get()) * 8_000_000_000
}

/// Rates with start times. They repeat after a period, or the last rate holds.
#[derive(Clone, PartialEq, Debug)]
pub struct RateTrace {
    pieces: Vec<Piece>,
    /// Length in nanoseconds, and the amount sent in it.
    period: Option<(u64, Volume)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Piece {
    /// Nanoseconds from the start of the period.
    start: u64,
    /// In bit/s.
    rate: u64,
    /// Amount sent in the period before this piece.
    before: Volume,
}

impl RateTrace {
    /// Creates a trace from times, the first at zero, and rates. The last lasts until `period`.
    ///
    /// # Errors
    /// Returns what is wrong at which step, counted from 1: no steps, times that do not increase,
    /// or a link that stops sending forever.
    pub fn new(steps: &[(Duration, Rate)], period: Option<Duration>) -> Result<Self, TraceError> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(steps.len());
        for (at, (start, rate)) in steps.iter().enumerate() {
            let start = start.as_nanos();
            let before = match pieces.last() {
                None if start > 0 => return Err(TraceError::new(at + 1, "the first time must be 0s")),
                Some(last) if last.start >= start => {
                    return Err(TraceError::new(at + 1, "times must increase"));
                }
                None => 0,
                Some(last) => last.until(start),
            };
            pieces.push(Piece { start, rate: rate.as_bits_per_second(), before });
        }
        let Some(last) = pieces.last() else { return Err(TraceError::new(1, "the trace has no rate")) };
        if period.is_some_and(|length| length.as_nanos() <= last.start) {
            return Err(TraceError::new(steps.len() + 1, "the time of \"loop\" must be after the last rate"));
        }
        let period = period.map(Duration::as_nanos).map(|length| (length, last.until(length)));
        match period {
            Some((_, 0)) => Err(TraceError::new(steps.len() + 1, "every rate is 0")),
            None if last.rate == 0 => {
                Err(TraceError::new(steps.len(), "the last rate is 0 (add a rate above 0, or \"TIME loop\")"))
            }
            _ => Ok(RateTrace { pieces, period }),
        }
    }

    /// The mean over a period, or the last rate.
    pub(crate) fn nominal_rate(&self) -> Rate {
        let mean = |(length, all): (u64, Volume)| u64::try_from(all / u128::from(length)).unwrap_or(u64::MAX);
        let held = self.pieces.last().map_or(0, |piece| piece.rate);
        Rate::from_bits_per_second(self.period.map_or(held, mean))
    }

    /// The amount that can have been sent by `time`.
    pub(crate) fn by(&self, time: Time) -> Volume {
        let (rounds, within) = self.round(time.as_nanos());
        u128::from(rounds) * self.in_a_period() + self.piece(within).until(within)
    }

    /// When `sent` has been sent, rounded down to 1 ns.
    pub(crate) fn when(&self, sent: Volume) -> Time {
        if sent == 0 {
            return Time::ZERO;
        }
        // The last bit of a period is sent within it, not at the start of the next.
        let (rounds, within) = match self.period {
            Some((_, all)) => ((sent - 1) / all, (sent - 1) % all + 1),
            None => (0, sent),
        };
        let piece = &self.pieces[self.pieces.partition_point(|piece| piece.before < within) - 1];
        let in_piece = (within - piece.before) / u128::from(piece.rate.max(1));
        let length = self.period.map_or(0, |(length, _)| length);
        let nanos = rounds * u128::from(length) + u128::from(piece.start) + in_piece;
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The first time from `time` on with a rate above zero.
    pub(crate) fn passing(&self, time: Time) -> Time {
        let (rounds, within) = self.round(time.as_nanos());
        if self.piece(within).rate > 0 {
            return time;
        }
        let later = self.pieces.iter().find(|piece| piece.start > within && piece.rate > 0);
        let first = self.pieces.iter().find(|piece| piece.rate > 0);
        let length = self.period.map_or(0, |(length, _)| length);
        let (rounds, piece) = later.map_or((rounds + 1, first), |later| (rounds, Some(later)));
        let nanos = u128::from(rounds) * u128::from(length) + u128::from(piece.map_or(0, |p| p.start));
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Completed periods, and nanoseconds since the last one.
    fn round(&self, nanos: u64) -> (u64, u64) {
        self.period.map_or((0, nanos), |(length, _)| (nanos / length, nanos % length))
    }
    fn in_a_period(&self) -> Volume {
        self.period.map_or(0, |(_, all)| all)
    }
    /// The piece that contains `within`.
    fn piece(&self, within: u64) -> &Piece {
        &self.pieces[self.pieces.partition_point(|piece| piece.start <= within) - 1]
    }
}

impl Piece {
    /// The amount sent by `within`, which lies in this piece.
    fn until(&self, within: u64) -> Volume {
        self.before + u128::from(self.rate) * u128::from(within - self.start)
    }
}

/// A transmitter that follows a [`RateTrace`]. Back-to-back packets keep the exact rate.
pub(crate) struct Rates {
    trace: Arc<RateTrace>,
    free_at: Time,
    /// The amount at `free_at`, without rounding.
    sent: Volume,
}

impl Rates {
    pub(crate) const fn new(trace: Arc<RateTrace>) -> Self {
        Rates { trace, free_at: Time::ZERO, sent: 0 }
    }
    /// During an outage packets wait in the queue.
    pub(crate) fn ready(&self, now: Time) -> Time {
        self.trace.passing(now)
    }
    pub(crate) fn send(&mut self, len: Bytes, start: Time) -> Time {
        if start > self.free_at {
            self.sent = self.trace.by(start);
        }
        self.sent += volume(len);
        self.free_at = self.trace.when(self.sent).max(start);
        self.free_at
    }
}

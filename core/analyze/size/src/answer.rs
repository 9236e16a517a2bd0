//! Calculates the unknown quantity from the others.
use crate::{Framing, Question, SizeError};
use fathom_units::{Bytes, Duration, Rate};

/// The calculated quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// Delay of the full buffer.
    Delay,
    /// Size of the buffer.
    Buffer,
    /// Rate of the link.
    Rate,
    /// Round-trip time of the path for which the buffer is sized correctly.
    RoundTrip,
    /// Number of flows for which the buffer is sized correctly.
    Flows,
}

/// Buffer requirement of TCP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Needs {
    /// Round-trip time of the path without queues.
    pub round_trip: Duration,
    /// Bandwidth-delay product: the requirement of one flow, and the data in flight on the path.
    pub bdp: Bytes,
    /// Number of flows that share the link.
    pub flows: f64,
}

/// Growth of an overloaded queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Growth {
    /// Excess of the arrival rate over the link rate, relative to the link rate. Equals the growth
    /// of the delay in seconds per second.
    pub overload: f64,
    /// Growth in bytes per second.
    pub bytes_per_second: f64,
    /// Time until the buffer is full and drops packets.
    pub fill: Duration,
}

/// All quantities of a queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The calculated quantity.
    pub found: Unknown,
    /// Size of the buffer.
    pub buffer: Bytes,
    /// Capacity in full-size packets, including a fraction.
    pub packets: f64,
    /// Rate of the link that drains the buffer.
    pub rate: Rate,
    /// Delay of the full buffer.
    pub delay: Duration,
    /// Serialization time of one packet.
    pub serialization: Duration,
    /// Requirement of TCP, if flows or a round-trip time were given.
    pub needs: Option<Needs>,
    /// Growth of the queue, if an overload was given.
    pub growth: Option<Growth>,
    /// Packet sizes.
    pub framing: Framing,
}

/// Buffer, rate and delay, with the requirement of TCP.
struct Queue {
    found: Unknown,
    buffer: Bytes,
    rate: Rate,
    needs: Option<Needs>,
}

const LONGEST: SizeError = SizeError::Range("the delay", "above 584 years");
const LARGEST: SizeError = SizeError::Range("the buffer", "above 16 EiB");
const FASTEST: SizeError = SizeError::Range("the rate", "above 18 Ebit/s");

impl Question {
    /// Calculates the answer.
    ///
    /// # Errors
    /// If too few or too many quantities are given, one is zero, or the result exceeds 64 bits.
    pub fn answer(&self) -> Result<Answer, SizeError> {
        self.check()?;
        let queue = self.queue()?;
        let delay = self.framing.delay(queue.buffer, queue.rate).ok_or(LONGEST)?;
        if queue.buffer == Bytes(0) {
            return Err(SizeError::Range("the buffer", "below one byte and hold nothing"));
        }
        Ok(Answer {
            found: queue.found,
            buffer: queue.buffer,
            packets: queue.buffer.0 as f64 / self.framing.packet.0 as f64,
            rate: queue.rate,
            delay,
            serialization: self.framing.delay(self.framing.packet, queue.rate).ok_or(LONGEST)?,
            needs: queue.needs,
            growth: self.growth(queue.rate, delay)?,
            framing: self.framing,
        })
    }

    fn queue(&self) -> Result<Queue, SizeError> {
        let (buffer, delay) = (self.bytes()?, self.delay.or_else(|| self.delay_by_filling()));
        match (buffer, self.rate, delay, self.flows) {
            (Some(_), Some(_), Some(_), Some(_)) => Err(SizeError::TooMany),
            (Some(_), Some(_), Some(_), None) if self.is_filled() => Err(SizeError::TooMany),
            (Some(buffer), Some(rate), Some(round_trip), None) => self.flows_of(buffer, rate, round_trip),
            (Some(buffer), Some(rate), None, Some(flows)) => self.round_trip_of(buffer, rate, flows),
            (None, Some(rate), Some(round_trip), Some(flows)) => self.buffer_for(rate, round_trip, flows),
            (Some(buffer), None, Some(round_trip), Some(flows)) => self.rate_for(buffer, round_trip, flows),
            (Some(buffer), Some(rate), None, None) => {
                Ok(Queue { found: Unknown::Delay, buffer, rate, needs: None })
            }
            (None, Some(rate), Some(delay), None) => {
                let held = self.framing.buffer(delay, rate).ok_or(LARGEST)?;
                Ok(Queue { found: Unknown::Buffer, buffer: held, rate, needs: None })
            }
            (Some(buffer), None, Some(delay), None) => {
                let needed = self.rate_of(buffer, delay)?;
                Ok(Queue { found: Unknown::Rate, buffer, rate: needed, needs: None })
            }
            (Some(_), None, None, _) => Err(SizeError::TooFew("only a buffer")),
            (None, Some(_), None, _) => Err(SizeError::TooFew("only a rate")),
            (None, None, Some(_), _) => Err(SizeError::TooFew("only a delay")),
            (None, None, None, _) => Err(SizeError::TooFew("none")),
        }
    }

    /// Whether the fill time and the overload are given, which together determine the delay.
    fn is_filled(&self) -> bool {
        self.fill.is_some() && (self.overload.is_some() || self.arriving.is_some())
    }

    /// Rejects a rate below 1 bit/s, which would send nothing.
    fn rate_of(&self, buffer: Bytes, delay: Duration) -> Result<Rate, SizeError> {
        let rate = self.framing.rate(buffer, delay).ok_or(FASTEST)?;
        let nothing = SizeError::Range("the rate", "below 1 bit/s and send nothing");
        if rate.as_bits_per_second() == 0 { Err(nothing) } else { Ok(rate) }
    }

    fn bdp(&self, rate: Rate, round_trip: Duration) -> Result<Bytes, SizeError> {
        self.framing.buffer(round_trip, rate).ok_or(LARGEST)
    }

    fn buffer_for(&self, rate: Rate, round_trip: Duration, flows: u64) -> Result<Queue, SizeError> {
        let bdp = self.bdp(rate, round_trip)?;
        let buffer = Bytes(libm::round(bdp.0 as f64 / libm::sqrt(flows as f64)) as u64);
        let needs = Some(Needs { round_trip, bdp, flows: flows as f64 });
        Ok(Queue { found: Unknown::Buffer, buffer, rate, needs })
    }

    fn round_trip_of(&self, buffer: Bytes, rate: Rate, flows: u64) -> Result<Queue, SizeError> {
        let bdp = times_root(buffer, flows).ok_or(LARGEST)?;
        let round_trip = self.framing.delay(bdp, rate).ok_or(LONGEST)?;
        let needs = Some(Needs { round_trip, bdp, flows: flows as f64 });
        Ok(Queue { found: Unknown::RoundTrip, buffer, rate, needs })
    }

    fn rate_for(&self, buffer: Bytes, round_trip: Duration, flows: u64) -> Result<Queue, SizeError> {
        let bdp = times_root(buffer, flows).ok_or(LARGEST)?;
        let rate = self.rate_of(bdp, round_trip)?;
        let needs = Some(Needs { round_trip, bdp, flows: flows as f64 });
        Ok(Queue { found: Unknown::Rate, buffer, rate, needs })
    }

    /// The result is below one if the buffer is larger than one flow needs.
    fn flows_of(&self, buffer: Bytes, rate: Rate, round_trip: Duration) -> Result<Queue, SizeError> {
        let bdp = self.bdp(rate, round_trip)?;
        let ratio = bdp.0 as f64 / buffer.0 as f64;
        let needs = Some(Needs { round_trip, bdp, flows: ratio * ratio });
        Ok(Queue { found: Unknown::Flows, buffer, rate, needs })
    }

    /// Delay that the overload builds up during the fill time.
    fn delay_by_filling(&self) -> Option<Duration> {
        let share = self.overload.or_else(|| self.share(self.rate?))?;
        Some(Duration::from_secs_f64(share * self.fill?.as_secs_f64()))
    }

    fn share(&self, rate: Rate) -> Option<f64> {
        let of_rate = |arriving: Rate| {
            let excess = arriving.as_bits_per_second().saturating_sub(rate.as_bits_per_second());
            excess as f64 / rate.as_bits_per_second() as f64
        };
        self.overload.or_else(|| self.arriving.map(of_rate))
    }

    fn growth(&self, rate: Rate, delay: Duration) -> Result<Option<Growth>, SizeError> {
        if let Some(arriving) = self.arriving.filter(|arriving| *arriving <= rate) {
            return Err(SizeError::NoOverload(arriving, rate));
        }
        let by_time = || self.fill.map(|fill| delay.as_secs_f64() / fill.as_secs_f64());
        let Some(overload) = self.share(rate).or_else(by_time) else { return Ok(None) };
        let seconds = delay.as_secs_f64() / overload;
        if seconds >= Duration::MAX.as_secs_f64() {
            return Err(SizeError::Range("the time to fill", "above 584 years"));
        }
        let packet_share = self.framing.packet.0 as f64 / self.framing.on_line().0 as f64;
        Ok(Some(Growth {
            overload,
            bytes_per_second: overload * rate.as_bits_per_second() as f64 / 8.0 * packet_share,
            fill: Duration::from_secs_f64(seconds),
        }))
    }
}

fn times_root(buffer: Bytes, flows: u64) -> Option<Bytes> {
    let bytes = libm::round(buffer.0 as f64 * libm::sqrt(flows as f64));
    // Below 2^64, so the cast does not saturate.
    (bytes < 18e18).then_some(Bytes(bytes as u64))
}

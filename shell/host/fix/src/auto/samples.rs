//! Converts reflector replies and the time to inputs of the controller.
use fathom_reflectors::{ReflectedDelay, Reflection};
use fathom_shape::autorate::{Delay, DelaySample, HourOfWeek};
use fathom_shaper::Framing;
use fathom_units::WallTime;

/// Bytes beyond IP that the kernel counts per packet.
const ETHERNET_HEADER_BYTES: i64 = 14;
/// 1970 began on a Thursday.
const HOURS_FROM_MONDAY: i64 = 72;
const HOURS_OF_A_WEEK: i64 = 168;

/// Bytes that the framing adds to each packet.
pub(super) fn added_bytes(framing: Framing) -> i64 {
    framing.overhead.map_or(0, |bytes| i64::from(bytes) - ETHERNET_HEADER_BYTES)
}

/// Converts replies to delay samples.
pub(super) fn samples(answers: &[Reflection]) -> Vec<DelaySample> {
    let delay = |answer| match answer {
        ReflectedDelay::OneWay(delay) => Delay::OneWay(delay),
        ReflectedDelay::RoundTrip(time) => Delay::RoundTrip(time),
    };
    answers.iter().map(|one| DelaySample { reflector: one.host, delay: delay(one.delay) }).collect()
}

/// The hour of the week in a time zone that is `offset_s` ahead of UTC.
pub(super) fn hour_of_week(at: WallTime, offset_s: i64) -> HourOfWeek {
    let seconds = i64::try_from(at.0 / 1_000_000_000).unwrap_or_default().saturating_add(offset_s);
    let hours = (seconds.div_euclid(3600) + HOURS_FROM_MONDAY).rem_euclid(HOURS_OF_A_WEEK);
    HourOfWeek::new(hours.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::{Duration, PerDirection};

    #[test]
    fn overhead_is_beyond_what_the_kernel_counts() {
        let of = |overhead| Framing { overhead, ..Framing::default() };
        assert_eq!(added_bytes(of(None)), 0);
        assert_eq!(added_bytes(of(Some(38))), 24);
        assert_eq!(added_bytes(of(Some(0))), -14);
    }

    #[test]
    fn hours_begin_on_monday_where_the_household_is() {
        // Seconds since 1970, UTC offset, hour of the week; 2026-11-22 is a Sunday.
        let table = [
            (0, 0, 72),
            (1795391999, 0, 167),
            (1795392000, 0, 0),
            (1795392000, -3600, 167),
            (1795388400, 3600, 0),
        ];
        for (seconds, offset, hour) in table {
            let hour_there = hour_of_week(WallTime(seconds * 1_000_000_000), offset);
            assert_eq!(hour_there.get(), hour, "{seconds} {offset}");
        }
    }

    #[test]
    fn answers_keep_their_hosts_and_their_order() {
        let answers = [
            Reflection { host: 0, delay: ReflectedDelay::OneWay(PerDirection { up: -5, down: 9 }) },
            Reflection { host: 7, delay: ReflectedDelay::RoundTrip(Duration::from_millis(3)) },
        ];
        let delays = samples(&answers);
        assert_eq!(delays[0].delay, Delay::OneWay(PerDirection { up: -5, down: 9 }));
        assert_eq!(delays[1].reflector, 7);
    }
}

//! Arithmetic of both versions of BBR. Rates are in packets per microsecond, scaled by 2^24, gains
//! in 256ths.
use fathom_units::Duration;

pub(crate) const SHIFT: u32 = 24;
const ONE: u64 = 1 << SHIFT;
/// A gain of 1.
pub(crate) const UNIT: u64 = 256;
/// Pace 1 % below the model, so that no queue persists.
const PACING_PERCENT: u64 = 99;
/// RTT assumed for the first pacing rate.
pub(crate) const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// A super-packet has about 1 ms of the pacing rate,
const BURST_SHIFT: u32 = 10;
/// at most this many bytes: 64 KiB minus headers.
const MAX_BURST: u64 = 65_536 - 1 - 320;
/// Window before the first RTT, RFC 6928.
pub(crate) const INITIAL_CWND: u32 = 10;

/// `packets` in `time`.
pub(crate) fn packet_rate(packets: u64, time: Duration) -> u64 {
    (packets << SHIFT) / microseconds(time)
}

/// True if [`packet_rate`] is at least `rate`.
pub(crate) fn is_at_least(packets: u64, time: Duration, rate: u64) -> bool {
    packets << SHIFT >= rate.saturating_mul(microseconds(time))
}

/// Microseconds, at least one.
fn microseconds(time: Duration) -> u64 {
    (time.as_nanos() / 1_000).max(1)
}

/// Packets that `rate` delivers in `time`, rounded down.
pub(crate) fn packets_in(rate: u64, time: Duration) -> u64 {
    rate.saturating_mul(time.as_nanos() / 1_000) >> SHIFT
}

/// `gain` times `rate` in bytes per second.
pub(crate) fn bytes_per_second(rate: u64, mss: u64, gain: u64) -> u64 {
    let scaled = u128::from(rate) * u128::from(mss * gain * 1_000_000 / UNIT);
    u64::try_from(scaled >> SHIFT).unwrap_or(u64::MAX)
}

/// Pacing rate in bytes per second at `gain` times `rate`.
pub(crate) fn pacing(rate: u64, mss: u64, gain: u64) -> u64 {
    bytes_per_second(rate, mss, gain) / 100 * PACING_PERCENT
}

/// Packets per burst of this pacing rate, in bytes per second.
pub(crate) fn burst(pacing: u64, mss: u64) -> u32 {
    (pacing >> BURST_SHIFT).min(MAX_BURST) as u32 / mss as u32
}

/// `gain` times the rate-delay product, in packets, rounded up; the initial window before an RTT.
pub(crate) fn rate_delay_product(rate: u64, min_rtt: Option<Duration>, gain: u64) -> u32 {
    let Some(min_rtt) = min_rtt else { return INITIAL_CWND };
    let scaled = rate.saturating_mul(min_rtt.as_nanos() / 1_000).saturating_mul(gain) / UNIT;
    u32::try_from(scaled.saturating_add(ONE - 1) >> SHIFT).unwrap_or(u32::MAX)
}

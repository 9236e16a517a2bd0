//! Time that a flow needs after a loss until its window is as large as before.

/// Multiplicative decrease factor of CUBIC (RFC 9438, section 4.6).
pub const CUBIC_BETA: f64 = 0.7;
/// C of CUBIC's window growth, in packets per second cubed (RFC 9438, section 5).
const CUBIC_C: f64 = 0.4;
/// Growth of CUBIC's Reno-friendly window, in packets per round trip (RFC 9438, section 4.3).
const CUBIC_RENO_INCREASE: f64 = 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA);
/// Multiplicative decrease factor of Reno (RFC 5681, section 3.1).
const RENO_BETA: f64 = 0.5;

/// Recovery time of Reno in seconds, from a loss at `window` packets, with round trips of
/// `round_trip_s`: the window grows by one packet per round trip.
pub fn reno_recovery_s(window: f64, round_trip_s: f64) -> f64 {
    (1.0 - RENO_BETA) * window * round_trip_s
}

/// Recovery time of CUBIC in seconds: the shorter one of its cubic and its Reno-friendly window.
pub fn cubic_recovery_s(window: f64, round_trip_s: f64) -> f64 {
    let lost = (1.0 - CUBIC_BETA) * window;
    libm::cbrt(lost / CUBIC_C).min(lost / CUBIC_RENO_INCREASE * round_trip_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_by_hand() {
        assert_eq!(reno_recovery_s(100.0, 0.02), 1.0);
        // A short path grows like Reno: 0.3 * 100 packets at 0.9 / 1.7 packets per 2 ms.
        assert!((cubic_recovery_s(100.0, 0.002) - 0.1133).abs() < 1e-4);
        // A long one along the cubic function: cbrt(0.3 * 10667 / 0.4) = 20 s.
        assert!((cubic_recovery_s(10_666.7, 0.2) - 20.0).abs() < 1e-3);
    }
}

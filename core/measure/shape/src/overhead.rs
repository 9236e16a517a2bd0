//! Computes the packet overhead of the line beyond IP from loads with two packet sizes.
//!
//! A line with rate `c` carries `c / (l + o)` packets with `l` bytes of IP per second. Two sizes
//! give two equations, and `o` is `(n1 l1 - n2 l2) / (n2 - n1)` at any rate. An error of 1 % in one
//! of the two counts changes it by about three bytes.

/// A load of packets of one size that filled the line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sized {
    /// Size of each IP packet in bytes.
    pub ip_bytes: f64,
    /// Packets per second.
    pub packets_per_second: f64,
}

/// Maximum plausible overhead in bytes: PPPoE over LLC on ATM with Ethernet has 48; plus tunnels.
const MOST: f64 = 64.0;
/// Negative error that still counts as zero overhead, bytes.
const LEAST: f64 = -6.0;

/// Overhead beyond IP in bytes, from a load of small packets and one of large ones; `None` if they
/// do not fit a line limited by bytes, because something else such as a CPU limited the small
/// packets.
pub fn overhead_bytes(small: Sized, large: Sized) -> Option<f64> {
    let more = small.packets_per_second - large.packets_per_second;
    if more <= 0.0 || small.ip_bytes >= large.ip_bytes {
        return None;
    }
    let bytes = |load: Sized| load.ip_bytes * load.packets_per_second;
    let overhead = (bytes(large) - bytes(small)) / more;
    (LEAST..=MOST).contains(&overhead).then(|| overhead.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(rate_bytes: f64, overhead: f64, ip_bytes: f64) -> Sized {
        Sized { ip_bytes, packets_per_second: rate_bytes / (ip_bytes + overhead) }
    }

    #[test]
    fn any_overhead_at_any_rate() {
        for rate in [12_500.0, 1.25e6, 1.25e8] {
            for overhead in [0.0, 8.0, 18.0, 22.0, 30.0, 38.0, 44.0] {
                let found = overhead_bytes(on(rate, overhead, 292.0), on(rate, overhead, 1400.0)).unwrap();
                assert!((found - overhead).abs() < 1e-6, "{found} for {overhead} at {rate}");
            }
        }
    }

    #[test]
    fn one_percent_of_error_is_some_three_bytes() {
        let (mut small, large) = (on(1.25e6, 38.0, 292.0), on(1.25e6, 38.0, 1400.0));
        small.packets_per_second *= 0.99;
        let found = overhead_bytes(small, large).unwrap();
        assert!((found - 38.0).abs() < 5.0, "{found}");
    }

    #[test]
    fn a_cpu_limit_is_not_mistaken_for_overhead() {
        let large = on(1.25e8, 38.0, 1400.0);
        assert_eq!(overhead_bytes(Sized { ip_bytes: 292.0, packets_per_second: 100_000.0 }, large), None);
        assert_eq!(overhead_bytes(large, large), None);
    }
}
